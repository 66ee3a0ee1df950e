//! Runs many random cases: `THALWEG_CASES` sets their number, `THALWEG_SEED` the seed.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

/// The number of cases of a whole test file if the environment sets none.
const CASES: u64 = 1_500;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: not a number")))
}

/// `percent` per cent of the cases of a test file.
pub fn count(percent: u64) -> u64 {
    (setting("THALWEG_CASES").unwrap_or(CASES) * percent).div_ceil(100)
}

/// Runs `check` on `percent` per cent of the cases. If a case fails, panics with the seed and the smallest
/// failing case found.
pub fn for_each<S: Strategy>(percent: u64, cases: S, check: impl Fn(S::Value) -> TestCaseResult) {
    let count = count(percent);
    let seed = setting("THALWEG_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("THALWEG_SEED={seed}, {count} cases");
    let config = Config {
        cases: u32::try_from(count).expect("the number of cases fits into 32 bits"),
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    if let Err(error) = runner.run(&cases, check) {
        panic!("THALWEG_SEED={seed}: {error}");
    }
}
