//! Promise 1, the same answer: random graphs, run in random ways, give at every sink exactly what a
//! sequential interpreter with unbounded channels gives.
//!
//! Graphs have fan-out and fan-in, static and dynamic rates, windows, framing functions, feedback
//! and early ends; ways to run them are every policy, 1 to 16 threads, tiny and default channels,
//! with yields and slow nodes. Whatever a run does, no item is lost or dropped twice.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test random_graphs
//! THALWEG_SEED=17 cargo test -p thalweg --test random_graphs       # what a failure prints
//! ```

mod support;

use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use support::case::{Case, Fate, case, run};
use support::item::{Counted, Item};
use support::reference::reference;
use support::watchdog::watch;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: not a number")))
}

/// A runner by the environment: seed and number of cases, of which `share` percent are its own.
fn runner(share: u64) -> (TestRunner, u64) {
    let cases = setting("THALWEG_CASES").unwrap_or(6000) * share / 100;
    let seed = setting("THALWEG_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let config = Config {
        cases: cases.max(1) as u32,
        failure_persistence: None,
        max_shrink_iters: 2000,
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    (TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)), seed)
}

fn check<T: Item>(case: &Case) -> Result<(), TestCaseError> {
    let Some(expected) = reference(&case.spec) else { return Ok(()) };
    let outcome = watch(format!("{case:#?}"), || run::<T>(case, Fate::default(), &case.way.options()));
    if let Err(error) = &outcome.end {
        return Err(TestCaseError::fail(format!("the run failed: {error}")));
    }
    for (sink, (got, expected)) in outcome.got.iter().zip(&expected).enumerate() {
        if got != expected {
            let same = got.iter().zip(expected).take_while(|(a, b)| a == b).count();
            return Err(TestCaseError::fail(format!(
                "sink {sink}: {} items of {}, the first {same} of them right",
                got.len(),
                expected.len()
            )));
        }
    }
    if outcome.lost != 0 {
        return Err(TestCaseError::fail(format!("{} items were not dropped exactly once", outcome.lost)));
    }
    Ok(())
}

fn all<T: Item>(share: u64) {
    let (mut runner, seed) = runner(share);
    println!("THALWEG_SEED={seed}, {} cases", runner.config().cases);
    if let Err(error) = runner.run(&case(), |case| check::<T>(&case)) {
        panic!("THALWEG_SEED={seed}: {error}");
    }
}

#[test]
fn numbers_come_out_as_the_reference_says() {
    all::<u64>(60);
}

#[test]
fn boxes_come_out_as_the_reference_says_and_are_dropped_once() {
    all::<Counted>(40);
}
