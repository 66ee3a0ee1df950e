//! [`Shares`]: threads that take and steal get each number once.

use super::check;
use crate::threads::Shares;
use loom::thread;
use std::ops::Range;
use std::sync::Arc;

/// Takes all that a thread can get.
fn all(shares: &Shares, thread: usize) -> Vec<Range<u64>> {
    std::iter::from_fn(|| shares.take(thread)).collect()
}

/// Two threads with two numbers each: whichever is first steals from the other.
///
/// Mutations that fail: a load and a store in place of either compare-and-swap.
#[test]
fn loom_shares_give_each_number_once() {
    check(|| {
        let shares = Arc::new(Shares::new(0..4, 2, 1, 1));
        let other = thread::spawn({
            let shares = shares.clone();
            move || all(&shares, 1)
        });
        let mut taken = all(&shares, 0);
        taken.extend(other.join().unwrap());
        taken.sort_unstable_by_key(|range| range.start);
        assert!(taken.into_iter().flatten().eq(0..4));
    });
}

/// The owner takes its stretch as a whole, while another thread takes what is not begun.
#[test]
fn loom_shares_give_a_stretch_to_one_thread() {
    check(|| {
        let shares = Arc::new(Shares::new(0..2, 2, 1, 1));
        let other = thread::spawn({
            let shares = shares.clone();
            move || shares.take_whole(1)
        });
        let own = [shares.take_whole(0), shares.steal_whole(0)];
        let mut taken: Vec<_> = own.into_iter().chain([other.join().unwrap()]).flatten().collect();
        taken.sort_unstable_by_key(|range| range.start);
        assert_eq!(taken, [0..1, 1..2]);
    });
}

/// One thread ends the loop at number 2, while the other takes and steals. Numbers below the limit are taken once, and others
/// at most once; a thread drops what it gets of these, and cuts again.
///
/// Mutation that fails: a load and a store in place of the cut's compare-and-swap.
#[test]
fn loom_shares_cut_leave_each_number_below_it() {
    check(|| {
        let shares = Arc::new(Shares::new(0..4, 2, 1, 1));
        let other = thread::spawn({
            let shares = shares.clone();
            move || all(&shares, 1)
        });
        shares.cut(2);
        let mut taken = all(&shares, 0);
        taken.extend(other.join().unwrap());
        shares.cut(2);
        assert!(shares.is_empty());
        let mut taken: Vec<u64> = taken.into_iter().flatten().collect();
        taken.sort_unstable();
        assert!(taken.windows(2).all(|pair| pair[0] < pair[1]), "{taken:?}");
        assert!(taken.starts_with(&[0, 1]), "{taken:?}");
    });
}
