//! Runs of random graphs that end early: no run hangs, and no result is silently wrong.
//!
//! A firing panics or fails, the test cancels or drains the run, a deadline passes, a sink or the reader leaves.
//! Every run ends (a watchdog checks it) with an error that states the cause and the node; the items that each sink
//! received are a prefix of the reference's; every item is dropped exactly once.
//!
//! After a drain the result is complete: it is the reference's result for sources that end where these did. After a
//! sink or the reader has left, the other sinks receive all of their items.

mod support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::time::Duration;
use support::build::name;
use support::case::{Case, Disturbance, Leave, Outcome, case, run};
use support::inject::{Fault, INJECTED, Kind, silence};
use support::item::Counted;
use support::reference::reference;
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::{Error, Handle, Options};

/// Runs a case with a disturbance and checks that every item was dropped exactly once.
fn run_disturbed(case: &Case, disturbance: Disturbance, options: &Options) -> Result<Outcome, TestCaseError> {
    let outcome = watch(format!("{disturbance:?} {case:#?}"), || run::<Counted>(case, disturbance, options));
    prop_assert_eq!(outcome.lost, 0, "items that were not dropped exactly once");
    Ok(outcome)
}

/// Every sink received a prefix of the expected items.
fn is_prefix(outcome: &Outcome, expected: &[Vec<u64>]) -> Result<(), TestCaseError> {
    for (sink, (got, expected)) in outcome.got.iter().zip(expected).enumerate() {
        prop_assert!(expected.starts_with(got), "sink {}: {} items, not a prefix", sink, got.len());
    }
    Ok(())
}

/// The run succeeded and every sink received all items; or the graph needed more than its byte budget.
fn is_complete(outcome: &Outcome, expected: &[Vec<u64>]) -> Result<(), TestCaseError> {
    if outcome.is_over_budget() {
        return is_prefix(outcome, expected);
    }
    prop_assert!(outcome.end.is_ok(), "the run failed: {:?}", outcome.end);
    prop_assert!(outcome.got == expected, "the result differs from the reference");
    Ok(())
}

fn fault() -> impl Strategy<Value = (usize, u64, Kind)> {
    (any::<u8>(), 0..60u64, prop_oneof![Just(Kind::Panic), Just(Kind::Err)])
        .prop_map(|(node, after, kind)| (usize::from(node), after, kind))
}

/// The error is the injected one and names its node.
fn names(error: &Error, fault: Fault) -> bool {
    let (node, text) = match error {
        Error::Panic { node, message } => (node, message.clone()),
        Error::Node { node, cause } => (node, cause.to_string()),
        _ => return false,
    };
    let name = name(fault.node);
    text.starts_with(INJECTED) && (*node == name || node.starts_with(&format!("{name}.")))
}

#[test]
fn a_failing_firing_stops_the_run_and_is_named() {
    for_each(25, (case(), fault()), |(case, (node, after, kind))| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        let fault = Fault { node: node % case.spec.nodes(), after, kind };
        let disturbance = Disturbance { fault: Some(fault), ..Disturbance::default() };
        let outcome = run_disturbed(&case, disturbance, &case.config.options())?;
        if !outcome.failed {
            return is_complete(&outcome, &expected);
        }
        match &outcome.end {
            Err(_) if outcome.is_over_budget() => {}
            Err(error) => prop_assert!(names(error, fault), "not the injected fault: {error}"),
            Ok(_) => prop_assert!(false, "a firing failed and the run did not"),
        }
        is_prefix(&outcome, &expected)
    });
}

/// A random delay of up to a millisecond: most runs take longer.
fn moment(seed: u64) -> Duration {
    Duration::from_micros(seed >> 32 & 1023)
}

fn cancel(handle: Handle, seed: u64) {
    std::thread::sleep(moment(seed));
    handle.cancel();
}

#[test]
fn a_cancelled_run_ends_with_a_prefix() {
    for_each(15, case(), |case| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        let disturbance = Disturbance { interfere: Some(cancel), ..Disturbance::default() };
        let outcome = run_disturbed(&case, disturbance, &case.config.options())?;
        match &outcome.end {
            Ok(_) => is_complete(&outcome, &expected),
            Err(Error::Cancelled) => is_prefix(&outcome, &expected),
            Err(_) if outcome.is_over_budget() => is_prefix(&outcome, &expected),
            Err(error) => Err(TestCaseError::fail(format!("not a cancel: {error}"))),
        }
    });
}

#[test]
fn a_deadline_ends_the_run_with_a_prefix() {
    for_each(15, case(), |case| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        let options = case.config.options().deadline(moment(case.config.seed));
        let outcome = run_disturbed(&case, Disturbance::default(), &options)?;
        match &outcome.end {
            Ok(_) => is_complete(&outcome, &expected),
            Err(Error::Deadline(_)) => is_prefix(&outcome, &expected),
            Err(_) if outcome.is_over_budget() => is_prefix(&outcome, &expected),
            Err(error) => Err(TestCaseError::fail(format!("not the deadline: {error}"))),
        }
    });
}

fn drain(handle: Handle, seed: u64) {
    std::thread::sleep(moment(seed));
    handle.drain();
}

#[test]
fn a_drained_run_finishes_the_items_of_its_sources() {
    for_each(15, case(), |case| {
        if reference(&case.spec).is_none() {
            return Ok(());
        }
        let disturbance = Disturbance { interfere: Some(drain), ..Disturbance::default() };
        let outcome = run_disturbed(&case, disturbance, &case.config.options())?;
        let mut drained = case.spec.clone();
        drained.sources.iter_mut().zip(outcome.pushed).for_each(|(source, pushed)| source.items = pushed);
        let expected = reference(&drained).expect("fewer items than without the drain");
        is_complete(&outcome, &expected)
    });
}

/// A sink, and the number of items after which it leaves.
fn departure() -> impl Strategy<Value = (usize, usize)> {
    (any::<u8>(), 1..60usize).prop_map(|(sink, after)| (usize::from(sink), after))
}

#[test]
fn a_sink_that_leaves_does_not_affect_the_others() {
    for_each(15, (case(), departure()), |(mut case, (sink, after))| {
        let Some(mut expected) = reference(&case.spec) else { return Ok(()) };
        case.config.outlet = false;
        let sink = sink % expected.len();
        expected[sink].truncate(after);
        let disturbance = Disturbance { break_after: Some((sink, after)), ..Disturbance::default() };
        is_complete(&run_disturbed(&case, disturbance, &case.config.options())?, &expected)
    });
}

#[test]
fn an_item_whose_drop_panics_fails_the_run_and_every_item_is_dropped_once() {
    silence();
    for_each(15, (case(), departure(), any::<bool>(), 0..200u32), |(mut case, leaves, departs, drops)| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        case.config.outlet = false;
        let break_after = departs.then_some((leaves.0 % expected.len(), leaves.1));
        let disturbance = Disturbance { break_after, fuse: Some(drops), ..Disturbance::default() };
        let outcome = run_disturbed(&case, disturbance, &case.config.options())?;
        match &outcome.end {
            Ok(_) => {}
            Err(Error::Panic { message, .. }) if message.starts_with(INJECTED) => {}
            Err(_) if outcome.is_over_budget() => {}
            Err(error) => prop_assert!(false, "not the injected panic: {error}"),
        }
        is_prefix(&outcome, &expected)
    });
}

#[test]
fn a_dropped_outlet_cancels_the_run() {
    for_each(15, (case(), 0..40usize), |(mut case, items)| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        case.config.outlet = true;
        let disturbance = Disturbance { leave: Some(Leave::Drop(items)), ..Disturbance::default() };
        is_prefix(&run_disturbed(&case, disturbance, &case.config.options())?, &expected)
    });
}

#[test]
fn a_reader_that_leaves_does_not_affect_the_sinks() {
    for_each(15, (case(), 0..40usize), |(mut case, items)| {
        let Some(mut expected) = reference(&case.spec) else { return Ok(()) };
        case.config.outlet = true;
        expected.last_mut().expect("a graph has an open stream").truncate(items);
        let disturbance = Disturbance { leave: Some(Leave::Finish(items)), ..Disturbance::default() };
        is_complete(&run_disturbed(&case, disturbance, &case.config.options())?, &expected)
    });
}
