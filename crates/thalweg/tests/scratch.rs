//! `par_map_init`: a value for each firing under way, made on demand and used again.

use crate::support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use support::inject::{INJECTED, silence};
use support::watchdog::watch;
use thalweg::{Options, ParallelExt, from_iter};

/// Counts scratch values.
#[derive(Default)]
struct Tally {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

/// A scratch value; a flag says that a call uses it.
struct Value(Arc<Tally>, AtomicBool);

impl Value {
    fn make(tally: &Arc<Tally>) -> Value {
        tally.made.fetch_add(1, Ordering::Relaxed);
        Value(tally.clone(), AtomicBool::new(false))
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

fn everywhere(check: impl Fn(&Options, usize)) {
    for threads in [1, 2, 8] {
        for capacity in [1, 7, 1000] {
            let options = Options::new().threads(threads).capacity(capacity);
            watch(format!("{options:?}"), || check(&options, threads));
        }
    }
}

#[test]
fn values_are_used_again_and_dropped_once() {
    everywhere(|options, threads| {
        for count in [0, 1, 1000] {
            let tally = Arc::<Tally>::default();
            let results = from_iter(0..count as u64)
                .par_map_init(
                    || Value::make(&tally),
                    |value, n| {
                        assert!(!value.1.swap(true, Ordering::Relaxed), "two calls have the value");
                        let result = n * n;
                        value.1.store(false, Ordering::Relaxed);
                        result
                    },
                )
                .collect();
            let results = results.run_with(options).unwrap().into_value();
            assert!(results.into_iter().eq((0..count as u64).map(|n| n * n)));
            let made = tally.made.load(Ordering::Relaxed);
            assert!(made <= threads.min(count) && (count == 0 || made > 0), "{made} values");
            assert_eq!(tally.dropped.load(Ordering::Relaxed), made);
        }
    });
}

/// The call that panics has left its value half changed.
#[test]
fn the_value_of_a_call_that_panicked_is_not_used_again() {
    silence();
    everywhere(|options, _| {
        let tally = Arc::<Tally>::default();
        let results = from_iter(0..1000u64).par_map_init(
            || Value::make(&tally),
            |value, n| {
                assert!(!value.1.swap(true, Ordering::Relaxed), "a value in use");
                assert!(n != 500, "{INJECTED} call");
                value.1.store(false, Ordering::Relaxed);
                n
            },
        );
        let error = results.collect().run_with(options).unwrap_err();
        assert_eq!(error.to_string(), format!("node `par_map_init` panicked: {INJECTED} call"));
        assert_eq!(tally.dropped.load(Ordering::Relaxed), tally.made.load(Ordering::Relaxed));
    });
}

#[test]
fn a_panic_of_init_fails_the_run() {
    silence();
    everywhere(|options, _| {
        let results = from_iter(0..1000u64).par_map_init(|| panic!("{INJECTED} init"), |(): &mut (), n| n);
        let error = results.collect().run_with(options).unwrap_err();
        assert_eq!(error.to_string(), format!("node `par_map_init` panicked: {INJECTED} init"));
    });
}

/// The caller's thread makes results too: its values come from the same pool.
#[test]
fn an_adaptor_has_scratch_values() {
    for threads in [1, 2] {
        for count in [0, 1, 1000] {
            let tally = Arc::<Tally>::default();
            let make = tally.clone();
            let call = |value: &mut Value, n: u64| {
                assert!(!value.1.swap(true, Ordering::Relaxed), "two calls have the value");
                value.1.store(false, Ordering::Relaxed);
                n + 1
            };
            let results = (0..count).par_map_init(move || Value::make(&make), call);
            let results: Vec<u64> =
                watch("adaptor", || results.options(Options::new().threads(threads)).collect());
            assert!(results.into_iter().eq(1..=count));
            let made = tally.made.load(Ordering::Relaxed);
            assert!(made <= threads + 1, "{made} values");
            assert_eq!(tally.dropped.load(Ordering::Relaxed), made);
        }
    }
}
