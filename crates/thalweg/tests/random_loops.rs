//! Random work-lists: whether a loop without an input from outside ends or is a deadlock, what it has computed and what is
//! left over is the same as in a sequential interpreter, at any capacity, thread count and policy. This runs 30,000 loops, and
//! 10,000 with a merge or an unordered node:
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test all random_loops
//! ```

use crate::support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use support::loops::{Ended, Loop, Stage, any_loop, build, loop_of, reference};
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::{Error, Graph, Options, Report};

/// Any policy, 1, 2, 4 or 8 threads, at times a thread for each node, or firings that wait for their tickets.
fn options() -> impl Strategy<Value = Options> {
    let names: Vec<&str> = thalweg::embed::policy::registry::names().collect();
    let threads = prop::sample::select(vec![1usize, 2, 4, 8]);
    let run = prop_oneof![3 => Just(None), 1 => (1..=3usize).prop_map(Some)];
    (prop::sample::select(names), threads, any::<u64>(), run, 0..20u8).prop_map(
        |(policy, threads, seed, run, own)| {
            let options = Options::new().policy(policy).threads(threads).seed(seed);
            let options = run.into_iter().fold(options, Options::claim_length);
            match own {
                0 => options.thread_per_node(),
                1..7 => options.wait_for_tickets(),
                _ => options,
            }
        },
    )
}

/// Items left over on the channels of the user: tokens of `in_flight` are none.
fn left_over(report: &Report) -> u64 {
    let name = |channel| report.graph().channel_name(channel);
    let ids = report.graph().channel_ids().zip(report.channels());
    ids.filter(|(id, _)| !name(*id).starts_with("in_flight.entry.tokens"))
        .map(|(_, data)| data.leftover())
        .sum()
}

/// Runs the loop, and compares the end of the run with the reference.
fn check(case: &Loop, options: &Options, expected: &Ended) -> Result<(), TestCaseError> {
    let graph = Graph::new();
    let all = build(&graph, case).collect();
    let run = watch(format!("{case:#?} {options:#?}"), || graph.run_with(options));
    match (run.map_err(Error::from), expected) {
        (Ok(run), Ended::Well { done, left }) => {
            let counted = left_over(run.report());
            let is_exact = counted == *left || (counted < *left && case.may_end_firings());
            prop_assert!(is_exact, "{} instead of {} left over, {:?}", counted, left, options);
            prop_assert_eq!(&run.take(all).unwrap(), done, "{:?}", options);
        }
        (Err(Error::Deadlock(deadlock)), Ended::Stuck) => {
            prop_assert!(deadlock.remains().is_some() && deadlock.over_budget().is_none(), "{}", deadlock);
        }
        (Ok(_), Ended::Stuck) => return Err(TestCaseError::fail(format!("it ended: {options:?}"))),
        (Err(error), _) => return Err(TestCaseError::fail(format!("{error}: {options:?}"))),
    }
    Ok(())
}

#[test]
fn work_lists_agree_with_the_reference() {
    let ends = [const { Cell::new(0u64) }; 2];
    for_each(30, (any_loop(), options(), options()), |(case, one, other)| {
        let Some(expected) = reference(&case) else { return Ok(()) };
        let end = &ends[usize::from(expected == Ended::Stuck)];
        end.set(end.get() + 1);
        check(&case, &one.capacity(1), &expected)?;
        check(&case, &other.capacity(1000), &expected)
    });
    let [well, stuck] = ends.map(Cell::into_inner);
    println!("{well} ended, {stuck} deadlocks");
    assert!(well > 0 && stuck > 0, "{well} ended, {stuck} deadlocks");
}

/// With a merge and unordered nodes inside, the loop ends if the last stage, which pops pairs, has received an even number.
#[test]
fn the_verdict_on_a_loop_with_a_merge_follows_from_what_was_received() {
    let stages = prop::collection::vec(Stage::any_of_one(), 0..4);
    let cases = (stages, prop::collection::vec(any::<(u64, bool)>(), 0..5), options(), any::<bool>());
    for_each(10, cases, |(stages, seeds, options, is_small)| {
        let options = options.capacity(if is_small { 1 } else { 1000 });
        let (graph, sent) = (Graph::new(), Arc::new(AtomicU64::new(0)));
        let all = loop_of(&graph, &stages, seeds.iter().copied(), sent.clone()).collect();
        let run = watch(format!("{stages:?}, {options:?}"), || graph.run_with(&options));
        let is_even = sent.load(Ordering::Relaxed).is_multiple_of(2);
        match run.map_err(Error::from) {
            Ok(run) => {
                prop_assert!(is_even, "an item was left: {:?}", options);
                prop_assert_eq!(run.take(all).unwrap().len() as u64, sent.load(Ordering::Relaxed));
            }
            Err(Error::Deadlock(deadlock)) => {
                prop_assert!(!is_even && deadlock.remains().is_some(), "{} {:?}", deadlock, options);
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        Ok(())
    });
}
