//! Runs a check on many random programs, each from a seed.

use thalweg_lang_testgen::shrink::smallest;
use thalweg_lang_testgen::{Choices, Options, Program, generate};

/// The default of `THALWEG_CASES`.
const CASES: u64 = 1000;

/// The result of a check, with a description of the failure.
pub type Finding = Result<(), String>;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: not a number")))
}

/// Seeds for `percent` of the cases.
pub fn seeds(percent: u64) -> impl Iterator<Item = u64> {
    let count = (setting("THALWEG_CASES").unwrap_or(CASES) * percent).div_ceil(100);
    let first = setting("THALWEG_SEED").unwrap_or_else(|| u64::from(std::process::id()) << 32);
    println!("THALWEG_SEED={first}, {count} cases");
    first..first + count
}

/// Checks `percent` of the cases; on a failure, panics with the seed and the smallest failing program found.
/// `check` receives the program and a seed for its own choices.
pub fn for_each(percent: u64, options: &Options, check: impl Fn(&Program, u64) -> Finding) {
    for seed in seeds(percent) {
        let mut choices = Choices::seeded(seed);
        let program = generate(&mut choices, options);
        if let Err(first) = check(&program, seed) {
            let small = smallest(choices.taken(), options, &|program| check(program, seed).is_err());
            let why = check(&small, seed).err().unwrap_or_else(|| format!("not reproducible: {first}"));
            panic!("THALWEG_SEED={seed}: {why}\nof the program\n{small}");
        }
    }
}

/// Fails with the first line in which two runs differ.
pub fn equal(what: &str, found: &crate::run::Run, expected: &crate::run::Run) -> Finding {
    if found == expected {
        return Ok(());
    }
    let (found, expected) = (format!("{found:#?}"), format!("{expected:#?}"));
    let lines = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    Err(format!("{what} differs: {lines:?}"))
}
