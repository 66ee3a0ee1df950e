//! The same answer: random graphs, run in random ways, give at every sink exactly what a
//! sequential interpreter with unbounded channels gives.
//!
//! Graphs have fan-out and fan-in, static and dynamic rates, windows, framing functions, feedback
//! and early ends; ways to run them are every policy, 1 to 16 threads, tiny and default channels,
//! with yields and slow nodes. Some runs have a byte budget; one that it is too small for says so,
//! after the beginning of the right result. Whatever a run does, no item is lost or dropped twice.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test random_graphs
//! THALWEG_SEED=17 cargo test -p thalweg --test random_graphs       # what a failure prints
//! ```

mod support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use support::case::{Case, Fate, case, run};
use support::item::{Counted, Item};
use support::reference::reference;
use support::runner::for_each;
use support::watchdog::watch;

fn check<T: Item>(case: Case) -> Result<(), TestCaseError> {
    let Some(expected) = reference(&case.spec) else { return Ok(()) };
    let outcome = watch(format!("{case:#?}"), || run::<T>(&case, Fate::default(), &case.way.options()));
    match &outcome.end {
        // More room than there was: what came is right as far as it goes.
        Err(_) if outcome.is_over_budget() => {}
        Err(error) => return Err(TestCaseError::fail(format!("the run failed: {error}"))),
        Ok(_) => {
            prop_assert!(outcome.got.iter().map(Vec::len).eq(expected.iter().map(Vec::len)), "cut short")
        }
    }
    for (sink, (got, expected)) in outcome.got.iter().zip(&expected).enumerate() {
        let same = got.iter().zip(expected).take_while(|(a, b)| a == b).count();
        prop_assert_eq!(same, got.len(), "sink {}: items right, of {} that came", sink, got.len());
    }
    if outcome.lost != 0 {
        return Err(TestCaseError::fail(format!("{} items were not dropped exactly once", outcome.lost)));
    }
    Ok(())
}

#[test]
fn numbers_come_out_as_the_reference_says() {
    for_each(60, case(), check::<u64>);
}

#[test]
fn boxes_come_out_as_the_reference_says_and_are_dropped_once() {
    for_each(40, case(), check::<Counted>);
}
