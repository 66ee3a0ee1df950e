//! `fold_by_key`: groups in the order of their first items, each folded in order.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::inject::{INJECTED, silence};
use support::spec::{groups as expected, mix};
use support::watchdog::watch;
use thalweg::{Options, from_iter};

#[test]
fn groups_are_the_same_at_any_number_of_threads() {
    for threads in [1, 2, 8] {
        for capacity in [1, 7, 1000] {
            let options = Options::new().threads(threads).capacity(capacity);
            for (count, keys) in [(0, 1), (1, 1), (1000, 1), (1000, 13), (1000, 400), (1000, u64::MAX)] {
                let items: Vec<u64> = (0..count).map(|i| mix(3, i)).collect();
                let groups = from_iter(items.clone()).par_map(|item| item).fold_by_key(
                    |item| item % keys,
                    Vec::new,
                    |mut group, item| {
                        group.push(item);
                        group
                    },
                );
                let groups =
                    watch(format!("{options:?}"), || groups.run_with(&options).unwrap()).into_value();
                assert_eq!(groups, expected(&items, keys));
            }
        }
    }
}

/// A panic of each function fails the run; all keys and values are dropped once.
#[test]
fn panics_fail_the_run_and_lose_no_value() {
    silence();
    for panics in ["key", "init", "fold"] {
        for threads in [1, 2] {
            let values = Arc::new(());
            let (keep, fold, init) = (values.clone(), values.clone(), AtomicUsize::new(0));
            let groups = from_iter(0..1000u64).fold_by_key(
                move |item| {
                    assert!(panics != "key" || *item != 500, "{INJECTED} key");
                    (item % 10, keep.clone())
                },
                move || {
                    let groups = init.fetch_add(1, Ordering::Relaxed);
                    assert!(panics != "init" || groups < 5, "{INJECTED} init");
                    fold.clone()
                },
                move |value, item| {
                    assert!(panics != "fold" || item != 500, "{INJECTED} fold");
                    value
                },
            );
            let error = groups.run_with(&Options::new().threads(threads)).unwrap_err().into_error();
            assert_eq!(error.to_string(), format!("node `fold_by_key` panicked: {INJECTED} {panics}"));
            assert_eq!(Arc::strong_count(&values), 1);
        }
    }
}
