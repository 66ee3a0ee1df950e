//! The same result in every run: random graphs with random options produce, at every sink, exactly the items of a
//! sequential interpreter with unbounded channels.
//!
//! Graphs have every operator whose result the data alone determine, fan-out and fan-in, static and dynamic rates, windows,
//! framing functions, feedback and early ends. (`merge` and unordered nodes are in `random_loops`, processes in
//! `random_processes`.) In a third of the graphs, the items of a sink are grouped by key too, and the groups are those of the
//! sequential interpreter. Runs use every policy, 1 to 16 threads, tiny and default channels, yields and slow nodes. In a third
//! of the runs firings wait for their tickets. Some runs have a byte budget; if it is too small, the run fails with that cause,
//! after a prefix of the right result. In every run, no item is lost or dropped twice.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test random_graphs
//! THALWEG_SEED=17 cargo test -p thalweg --test random_graphs       # what a failure prints
//! ```

use crate::support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::fs;
use std::path::Path;
use support::case::{Case, Disturbance, case, run};
use support::item::{Counted, Item};
use support::reference::reference;
use support::runner::for_each;
use support::spec::groups;
use support::watchdog::watch;

fn check<T: Item>(case: Case) -> Result<(), TestCaseError> {
    let Some(expected) = reference(&case.spec) else { return Ok(()) };
    let outcome =
        watch(format!("{case:#?}"), || run::<T>(&case, Disturbance::default(), &case.config.options()));
    match &outcome.end {
        // The budget was too small: the items so far are checked below.
        Err(_) if outcome.is_over_budget() => {}
        Err(error) => return Err(TestCaseError::fail(format!("the run failed: {error}"))),
        Ok(_) => {
            prop_assert!(
                outcome.got.iter().map(Vec::len).eq(expected.iter().map(Vec::len)),
                "items are missing"
            )
        }
    }
    for (sink, (got, expected)) in outcome.got.iter().zip(&expected).enumerate() {
        let same = got.iter().zip(expected).take_while(|(a, b)| a == b).count();
        prop_assert_eq!(same, got.len(), "sink {}: correct items, of {} received", sink, got.len());
    }
    if let (Some(got), Some(keys)) = (&outcome.groups, case.spec.keys) {
        prop_assert_eq!(got, &groups(&expected[0], keys), "the groups of the first sink");
    }
    if outcome.lost != 0 {
        return Err(TestCaseError::fail(format!("{} items were not dropped exactly once", outcome.lost)));
    }
    Ok(())
}

#[test]
fn numbers_agree_with_the_reference() {
    for_each(60, case(), check::<u64>);
}

#[test]
fn boxes_agree_with_the_reference_and_are_dropped_once() {
    for_each(40, case(), check::<Counted>);
}

/// The public methods of the files of operators, but not those of their tests.
fn operators() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/build/operators");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let texts = files.filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap());
    let names = |text: String| {
        let methods = text.split("    pub fn ").skip(1);
        let names = methods.map(|rest| rest.split(['(', '<']).next().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    texts.flat_map(names).collect()
}

/// A new operator needs a step in the random graphs. This finds names of methods only, and cannot tell `map` of a stream from
/// `map` of an iterator.
#[test]
fn every_operator_occurs_in_random_graphs() {
    let graphs = concat!(include_str!("support/build.rs"), include_str!("support/case.rs"));
    let operators = operators();
    assert!(operators.len() >= 30 && operators.iter().any(|name| name == "par_fork_join"), "{operators:?}");
    for name in operators {
        assert!(graphs.contains(&format!(".{name}(")), "no random graph has `{name}`");
    }
}
