//! Random networks of processes do what Kahn's theorem says, however small their channels: the
//! same result as a reference executor with channels of no bounds, or, where that waits for ever,
//! a deadlock between exactly the processes of one of its circles.
//!
//! ```text
//! THALWEG_CASES=100000 cargo test -p thalweg --release --test random_processes
//! ```

mod support;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::Cell;
use std::collections::BTreeSet;
use support::network::{Expected, Fate, Net, expected, net, run};
use support::runner::for_each;
use support::watchdog::watch;
use thalweg::{Error, Options};

/// Ways to run: policies, 1 to 16 threads and one for each process, tiny channels.
fn way() -> impl Strategy<Value = Options> {
    let names: Vec<&str> = thalweg::policy::registry::names().collect();
    let threads = prop_oneof![4 => 1..4usize, 1 => Just(16usize)];
    (prop::sample::select(names), threads, prop::sample::select(vec![1, 2, 3, 64]), any::<u64>(), 0..10u8)
        .prop_map(|(policy, threads, capacity, seed, own)| {
            let options = Options::new().policy(policy).threads(threads).capacity(capacity).seed(seed);
            if own == 0 { options.one_to_one() } else { options }
        })
}

fn check(net: &Net, options: &Options, expected: &Expected) -> Result<usize, TestCaseError> {
    let (end, got) = watch(format!("{options:?} {net:#?}"), || run(net, options));
    for (process, (got, state)) in got.iter().zip(&expected.states).enumerate() {
        prop_assert!(
            got.is_none() || got == state,
            "process {} ended with {:?}, not {:?}",
            process,
            got,
            state
        );
    }
    match (end, &expected.fate) {
        (Ok(report), Fate::Ends(states)) => {
            for (got, state) in got.iter().zip(states).filter(|(_, state)| state.is_some()) {
                prop_assert_eq!(got, state);
            }
            Ok(report.growths.len())
        }
        (Err(Error::Deadlock(deadlock)), Fate::Waits(circles)) => {
            let named: BTreeSet<usize> =
                deadlock.waits.iter().map(|wait| wait.node.parse().unwrap()).collect();
            prop_assert!(circles.contains(&named), "{:?} is none of {:?}", named, circles);
            prop_assert_eq!(deadlock.over_budget, None);
            Ok(0)
        }
        (end, expected) => Err(TestCaseError::fail(format!("{end:?} where {expected:?} was to come"))),
    }
}

#[test]
fn networks_do_what_the_reference_does() {
    let (ended, waited, grown) = (Cell::new(0u32), Cell::new(0u32), Cell::new(0u32));
    for_each(60, (net(), way()), |(net, options)| {
        let expected = expected(&net);
        let count = if matches!(expected.fate, Fate::Ends(_)) { &ended } else { &waited };
        count.set(count.get() + 1);
        let growths = check(&net, &options, &expected)?;
        grown.set(grown.get() + u32::from(growths > 0));
        Ok(())
    });
    // The cases are of all kinds, or the test says less than it seems to.
    let all = ended.get() + waited.get();
    let shares = [ended.get() * 5 > all, waited.get() * 20 > all, grown.get() * 50 > all];
    assert!(
        all < 500 || shares == [true; 3],
        "{} ended, {} waited, {} grew",
        ended.get(),
        waited.get(),
        grown.get()
    );
}
