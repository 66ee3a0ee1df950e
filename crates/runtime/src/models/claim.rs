//! [`Claim`]: it has one holder at a time, and each holder sees the writes of the holders before it.

use super::check;
use crate::node::claim::Claim;
use loom::thread;
use std::sync::Arc;

/// Three threads try to claim a value, two of them twice. The value is a loom cell, so the model fails if two threads
/// hold it at once, or if a holder does not see its predecessor's write; it also fails if an addition is lost.
///
/// Mutations that fail: `Relaxed` in place of `Acquire` in `try_claim` or `with`, of `Release` in the drop of
/// the guard or in `act`, and a load and a store in place of either `compare_exchange`.
#[test]
fn loom_claim_excludes_and_hands_over() {
    check(|| {
        let claim = Arc::new(Claim::new(0));
        let attempts = |claim: &Claim<usize>, times: usize| -> usize {
            let read = || _ = claim.try_claim().map(|held| *held);
            let add = || claim.with(false, |held| (*held += 1, true).1);
            (0..times).filter(|_| (read(), add()).1).count()
        };
        let others: Vec<_> = [2, 1]
            .map(|times| {
                let claim = claim.clone();
                thread::spawn(move || attempts(&claim, times))
            })
            .into();
        let mut granted = attempts(&claim, 2);
        granted += others.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>();
        assert!(!claim.is_held());
        assert_eq!(*claim.try_claim().expect("released"), granted);
        assert!(granted > 0, "one thread claims first");
    });
}
