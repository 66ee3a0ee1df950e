//! The failure of a run ([`Signals`]) that another thread causes: the caller of the run, which has seen the stop, finds it.

use super::check;
use crate::error::Error;
use crate::net::Signals;
use loom::thread;
use std::sync::Arc;

/// A handle cancels the run while the caller looks whether it is over.
///
/// Mutation that fails: `record` that stops the run before it takes the lock.
#[test]
fn loom_a_run_that_was_cancelled_has_a_failure() {
    check(|| {
        let signals = Arc::new(Signals::new((1, 1), 2));
        let handle = signals.clone();
        let cancels = thread::spawn(move || handle.fail(Error::Cancelled));
        if signals.stopped() {
            assert!(matches!(signals.take_failure(), Some(Error::Cancelled)));
        }
        cancels.join().unwrap();
    });
}
