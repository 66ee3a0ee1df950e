//! Random networks of processes obey Kahn's theorem at any channel capacity: a run has the result of a
//! reference executor with unbounded channels or, if the reference waits for ever, ends in a deadlock between
//! exactly the processes of one of the reference's cycles.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test random_processes
//! ```

use crate::support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::collections::BTreeSet;
use support::network::{Expected, Message, Net, RunEnd, expected, net, run};
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::{Error, Options};

/// Any policy, 1 to 16 threads or one for each process, small channels.
fn options() -> impl Strategy<Value = Options> {
    let names: Vec<&str> = thalweg::embed::policy::registry::names().collect();
    let threads = prop_oneof![4 => 1..4usize, 1 => Just(16usize)];
    (prop::sample::select(names), threads, prop::sample::select(vec![1, 2, 3, 64]), any::<u64>(), 0..10u8)
        .prop_map(|(policy, threads, capacity, seed, own)| {
            let options = Options::new().policy(policy).threads(threads).capacity(capacity).seed(seed);
            if own == 0 { options.thread_per_node() } else { options }
        })
}

fn check<M: Message>(net: &Net, options: &Options, expected: &Expected) -> Result<usize, TestCaseError> {
    let (end, got) = watch(format!("{options:?} {net:#?}"), || run::<M>(net, options));
    for (process, (got, state)) in got.iter().zip(&expected.states).enumerate() {
        prop_assert!(
            got.is_none() || got == state,
            "process {} ended with {:?}, not {:?}",
            process,
            got,
            state
        );
    }
    match (end, &expected.end) {
        (Ok(report), RunEnd::Completes(states)) => {
            for (got, state) in got.iter().zip(states).filter(|(_, state)| state.is_some()) {
                prop_assert_eq!(got, state);
            }
            Ok(report.growths().len())
        }
        (Err(Error::Deadlock(deadlock)), RunEnd::Deadlocks(cycles)) => {
            let named: BTreeSet<usize> =
                deadlock.waits().iter().map(|wait| wait.node().parse().unwrap()).collect();
            prop_assert!(cycles.contains(&named), "{:?} is not one of {:?}", named, cycles);
            prop_assert_eq!(deadlock.over_budget(), None);
            Ok(0)
        }
        (end, expected) => Err(TestCaseError::fail(format!("expected {expected:?}, got {end:?}"))),
    }
}

#[test]
fn networks_agree_with_the_reference() {
    let (ended, deadlocked, grown) = (Cell::new(0u32), Cell::new(0u32), Cell::new(0u32));
    for_each(60, (net(), options()), |(net, options)| {
        let expected = expected(&net);
        let count = if matches!(expected.end, RunEnd::Completes(_)) { &ended } else { &deadlocked };
        count.set(count.get() + 1);
        let growths = check::<u64>(&net, &options, &expected)?;
        grown.set(grown.get() + u32::from(growths > 0));
        Ok(())
    });
    // The generator must produce enough cases of each kind, or the test covers less than it claims.
    let all = ended.get() + deadlocked.get();
    let shares = [ended.get() * 5 > all, deadlocked.get() * 20 > all, grown.get() * 50 > all];
    assert!(
        all < 500 || shares == [true; 3],
        "{} ended, {} deadlocked, {} grew",
        ended.get(),
        deadlocked.get(),
        grown.get()
    );
}

/// Under `auto` workers carry messages that own memory on.
#[test]
fn networks_of_boxes_agree_with_the_reference() {
    let options = (options(), prop::bool::ANY).prop_map(|(options, automatic)| match automatic {
        true => options.policy("auto"),
        false => options,
    });
    for_each(40, (net(), options), |(net, options)| {
        check::<Box<u64>>(&net, &options, &expected(&net)).map(drop)
    });
}
