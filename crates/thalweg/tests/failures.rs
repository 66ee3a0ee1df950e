//! Never hangs and never silently wrong: random graphs that are ended before their time.
//!
//! A firing panics or fails, somebody cancels or drains, a deadline passes, the reader leaves.
//! Every run ends (a watchdog sees to it), says why and names the node at fault; what the sinks
//! had received is the beginning of what the reference gives; every item is dropped exactly once.
//!
//! After a drain the result is more than a beginning: it is all of what the reference gives for
//! sources that end where these did. After a reader has left in peace, the others get everything.

mod support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::time::Duration;
use support::build::name;
use support::case::{Case, Fate, Leave, Outcome, case, run};
use support::inject::{Fault, Kind, PLANTED, silence};
use support::item::Counted;
use support::reference::reference;
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::{Error, Handle, Options};

/// Runs a case to its fate.
fn play(case: &Case, fate: Fate, options: &Options) -> Result<Outcome, TestCaseError> {
    let outcome = watch(format!("{fate:?} {case:#?}"), || run::<Counted>(case, fate, options));
    prop_assert_eq!(outcome.lost, 0, "items that were not dropped exactly once");
    Ok(outcome)
}

/// Every sink got the beginning of what it should get.
fn is_prefix(outcome: &Outcome, expected: &[Vec<u64>]) -> Result<(), TestCaseError> {
    for (sink, (got, expected)) in outcome.got.iter().zip(expected).enumerate() {
        prop_assert!(expected.starts_with(got), "sink {}: {} items, not a prefix", sink, got.len());
    }
    Ok(())
}

/// The run ended well, and every sink got all; or the graph needed more than its byte budget.
fn is_complete(outcome: &Outcome, expected: &[Vec<u64>]) -> Result<(), TestCaseError> {
    if outcome.is_over_budget() {
        return is_prefix(outcome, expected);
    }
    prop_assert!(outcome.end.is_ok(), "the run failed: {:?}", outcome.end);
    prop_assert!(outcome.got == expected, "not what the reference gives");
    Ok(())
}

fn fault() -> impl Strategy<Value = (usize, u64, Kind)> {
    (any::<u8>(), 0..60u64, prop_oneof![Just(Kind::Panic), Just(Kind::Err)])
        .prop_map(|(node, after, kind)| (usize::from(node), after, kind))
}

/// The error is the planted one, of the node it was planted in.
fn names(error: &Error, fault: Fault) -> bool {
    let (node, text) = match error {
        Error::Panic { node, message } => (node, message.clone()),
        Error::Node { node, cause } => (node, cause.to_string()),
        _ => return false,
    };
    let name = name(fault.node);
    text.starts_with(PLANTED) && (*node == name || node.starts_with(&format!("{name}.")))
}

#[test]
fn a_failing_firing_stops_the_run_and_is_named() {
    for_each(25, (case(), fault()), |(case, (node, after, kind))| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        let fault = Fault { node: node % case.spec.nodes(), after, kind };
        let fate = Fate { fault: Some(fault), ..Fate::default() };
        let outcome = play(&case, fate, &case.way.options())?;
        if !outcome.failed {
            return is_complete(&outcome, &expected);
        }
        match &outcome.end {
            Err(_) if outcome.is_over_budget() => {}
            Err(error) => prop_assert!(names(error, fault), "not the planted fault: {error}"),
            Ok(_) => prop_assert!(false, "a firing failed and the run did not"),
        }
        is_prefix(&outcome, &expected)
    });
}

/// Some moment of a run of a millisecond, mostly.
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
        let fate = Fate { meddle: Some(cancel), ..Fate::default() };
        let outcome = play(&case, fate, &case.way.options())?;
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
        let options = case.way.options().deadline(moment(case.way.seed));
        let outcome = play(&case, Fate::default(), &options)?;
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
fn a_drained_run_finishes_what_its_sources_gave() {
    for_each(15, case(), |case| {
        if reference(&case.spec).is_none() {
            return Ok(());
        }
        let fate = Fate { meddle: Some(drain), ..Fate::default() };
        let outcome = play(&case, fate, &case.way.options())?;
        let mut drained = case.spec.clone();
        drained.sources.iter_mut().zip(outcome.given).for_each(|(source, given)| source.items = given);
        let expected = reference(&drained).expect("no more than without the drain");
        is_complete(&outcome, &expected)
    });
}

/// A sink, and the items after which it leaves.
fn departure() -> impl Strategy<Value = (usize, usize)> {
    (any::<u8>(), 1..60usize).prop_map(|(sink, after)| (usize::from(sink), after))
}

#[test]
fn a_sink_that_leaves_takes_nothing_from_the_others() {
    for_each(15, (case(), departure()), |(mut case, (sink, after))| {
        let Some(mut expected) = reference(&case.spec) else { return Ok(()) };
        case.way.outlet = false;
        let sink = sink % expected.len();
        expected[sink].truncate(after);
        let fate = Fate { depart: Some((sink, after)), ..Fate::default() };
        is_complete(&play(&case, fate, &case.way.options())?, &expected)
    });
}

#[test]
fn an_item_whose_drop_panics_fails_the_run_and_every_item_is_dropped_once() {
    silence();
    for_each(15, (case(), departure(), any::<bool>(), 0..200u32), |(mut case, leaves, departs, drops)| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        case.way.outlet = false;
        let depart = departs.then_some((leaves.0 % expected.len(), leaves.1));
        let fate = Fate { depart, fuse: Some(drops), ..Fate::default() };
        let outcome = play(&case, fate, &case.way.options())?;
        match &outcome.end {
            Ok(_) => {}
            Err(Error::Panic { message, .. }) if message.starts_with(PLANTED) => {}
            Err(_) if outcome.is_over_budget() => {}
            Err(error) => prop_assert!(false, "not the planted panic: {error}"),
        }
        is_prefix(&outcome, &expected)
    });
}

#[test]
fn a_dropped_outlet_cancels_the_run() {
    for_each(15, (case(), 0..40usize), |(mut case, items)| {
        let Some(expected) = reference(&case.spec) else { return Ok(()) };
        case.way.outlet = true;
        let fate = Fate { leave: Some(Leave::Drop(items)), ..Fate::default() };
        is_prefix(&play(&case, fate, &case.way.options())?, &expected)
    });
}

#[test]
fn a_reader_that_leaves_takes_nothing_from_the_others() {
    for_each(15, (case(), 0..40usize), |(mut case, items)| {
        let Some(mut expected) = reference(&case.spec) else { return Ok(()) };
        case.way.outlet = true;
        expected.last_mut().expect("a graph has an open stream").truncate(items);
        let fate = Fate { leave: Some(Leave::Finish(items)), ..Fate::default() };
        is_complete(&play(&case, fate, &case.way.options())?, &expected)
    });
}
