//! Many random programs, each from a seed.

use crate::case::{Came, Case};
use thalweg_lang_testgen::shrink::smallest;
use thalweg_lang_testgen::{Choices, Options, generate};

/// The number of programs where the environment sets none: each takes seconds of the C compiler.
const CASES: u64 = 20;

/// The number of programs from which on the share that native code refuses is checked. With fewer, all may be
/// refused by chance.
const MANY: u64 = 50;

/// The number of failures after which the search ends.
const ENOUGH: usize = 5;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// Checks `percent` of the cases, and fails with the seed and the smallest program found where one does.
pub fn for_each(percent: u64, options: &Options) {
    let count = (setting("THALWEG_CASES").unwrap_or(CASES) * percent).div_ceil(100);
    let first = setting("THALWEG_SEED").unwrap_or_else(|| u64::from(std::process::id()) << 32);
    println!("THALWEG_SEED={first}, {count} cases");
    let (mut native, mut failures) = (0, Vec::new());
    for seed in first..first + count {
        if setting("THALWEG_TRACE").is_some() {
            eprintln!("THALWEG_SEED={seed} {options:?}");
        }
        match check(seed, options) {
            Ok(Came::Native) => native += 1,
            Ok(Came::Refused) => {}
            Err(why) => {
                eprintln!("{why}");
                failures.push(why);
            }
        }
        if failures.len() >= ENOUGH {
            break;
        }
    }
    println!("{native} of {count} were native");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    let must_be_native = if count >= MANY && !options.dynamic { count * 8 / 10 } else { 0 };
    assert!(native >= must_be_native, "{native} of {count} were native");
}

/// Checks a case; on failure returns the reason with the smallest program that fails.
fn check(seed: u64, options: &Options) -> Result<Came, String> {
    let mut choices = Choices::seeded(seed);
    let program = generate(&mut choices, options);
    Case::new(seed).check(&program).map_err(|(first, level)| {
        eprintln!("THALWEG_SEED={seed} {options:?}\n{first}\nfails; shrinking");
        let case = Case::new(seed).only(level);
        let small = smallest(choices.taken(), options, &|program| case.check(program).is_err());
        let why = case.check(&small).err().map_or_else(|| format!("not always: {first}"), |(why, _)| why);
        format!("THALWEG_SEED={seed} {options:?}\n{case:?}: {why}\nof the program\n{small}")
    })
}
