//! Many programs, each from a seed.

use thalweg_lang::generate::shrink::smallest;
use thalweg_lang::generate::{Choices, Options, Program, generate};

/// Programs of a whole test file where the environment does not say.
const CASES: u64 = 1000;

/// What is found: what is wrong.
pub type Finding = Result<(), String>;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: not a number")))
}

/// Seeds of `percent` of the cases.
pub fn seeds(percent: u64) -> impl Iterator<Item = u64> {
    let count = (setting("THALWEG_CASES").unwrap_or(CASES) * percent).div_ceil(100);
    let first = setting("THALWEG_SEED").unwrap_or_else(|| u64::from(std::process::id()) << 32);
    println!("THALWEG_SEED={first}, {count} cases");
    first..first + count
}

/// Checks `percent` of the cases; panics with the seed and the smallest program found where one fails.
/// `check` gets the program and a number to derive choices of its own from.
pub fn for_each(percent: u64, options: &Options, check: impl Fn(&Program, u64) -> Finding) {
    for seed in seeds(percent) {
        let mut choices = Choices::seeded(seed);
        let program = generate(&mut choices, options);
        if let Err(first) = check(&program, seed) {
            let small = smallest(choices.taken(), options, &|program| check(program, seed).is_err());
            let why = check(&small, seed).err().unwrap_or_else(|| format!("not always: {first}"));
            panic!("THALWEG_SEED={seed}: {why}\nof the program\n{small}");
        }
    }
}

/// Reports where two runs differ.
pub fn equal(what: &str, found: &crate::run::Run, wanted: &crate::run::Run) -> Finding {
    if found == wanted {
        return Ok(());
    }
    let (found, wanted) = (format!("{found:#?}"), format!("{wanted:#?}"));
    let lines = wanted.lines().zip(found.lines()).find(|(wanted, found)| wanted != found);
    Err(format!("{what} differs: {lines:?}"))
}
