//! Children of `fork`. A program of its own: a fork copies whatever other tests' threads have left in the process.
#![cfg(all(target_os = "linux", not(miri), not(loom)))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use thalweg_runtime::{Error, Graph, Options, Outlet, join, par_for};

/// Uses what is shared by the process: threads of the pool for a run and for its nodes, the team of loops, the table of runs.
fn work() {
    let numbers = || Graph::new().source(0..200u64).blocking().par_map(|x| x + 1);
    let outlet = numbers().start_with(&Options::new().threads(2)).unwrap();
    assert_eq!(outlet.sum::<u64>(), 20_100);
    let sum = numbers().fold(0, |sum, x| sum + x).run_with(&Options::new().threads(2)).unwrap().into_value();
    assert_eq!(sum, 20_100);
    let count = AtomicUsize::new(0);
    par_for(0..500, |_| _ = count.fetch_add(1, Ordering::Relaxed));
    assert_eq!(join(|| count.load(Ordering::Relaxed), || 7), (500, 7));
}

/// Whether `child` returns in a child of this process, before a time that only a failure takes.
fn passes(child: impl FnOnce()) -> bool {
    // SAFETY: the child executes code that takes no lock which another thread may hold: the engine's state is made anew, and
    // the C library unlocks its allocator in a child. It ends by `_exit`, so the harness's state is not used.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: neither has preconditions.
        unsafe {
            libc::alarm(20);
            libc::_exit(i32::from(catch_unwind(AssertUnwindSafe(child)).is_err()));
        }
    }
    let mut status = 0;
    // SAFETY: `status` is a valid place.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

#[test]
fn a_child_has_a_pool_of_its_own() {
    assert!(passes(work), "of a parent that has used nothing");
    work();
    std::thread::sleep(Duration::from_millis(5)); // the threads of the pool are idle, mostly
    assert!(passes(work));
    assert!(passes(|| {
        work();
        assert!(passes(work), "a child of the child");
        work();
    }));
    work();
}

/// Whatever locks the other threads hold at the fork.
#[test]
fn a_child_of_a_busy_parent_waits_for_no_lock() {
    work();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    work();
                }
            });
        }
        let passed = (0..40).filter(|_| passes(work)).count();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(passed, 40);
    });
}

/// An endless run of this process, of which one item was read.
fn begun() -> Outlet<'static, u64> {
    let mut outlet =
        Graph::new().source(0u64..).par_map(|x| x + 1).start_with(&Options::new().threads(2)).unwrap();
    assert_eq!(outlet.next(), Some(1));
    outlet
}

fn is_forked(error: &Error) -> bool {
    error.to_string().starts_with("the run was started before a fork") && matches!(error, Error::Forked)
}

#[test]
fn an_outlet_of_the_parent_ends_with_an_error() {
    for rest in [0, 1, 5000] {
        let mut outlet = begun();
        assert_eq!(outlet.by_ref().take(rest).count(), rest);
        assert!(passes(|| {
            // What had arrived is still there, in order.
            let first = rest as u64 + 2;
            let arrived =
                outlet.by_ref().enumerate().map(|(at, item)| assert_eq!(item, first + at as u64)).count();
            assert!(arrived < 1 << 20 && outlet.next().is_none());
            assert!(is_forked(&outlet.take_failure().expect("it has failed")));
            assert!(is_forked(&outlet.finish().expect_err("its threads are the parent's").into_error()));
            work();
        }));
    }
    for _ in 0..8 {
        let mut outlet = begun();
        assert!(passes(|| drop(outlet)), "it was begun");
        outlet = begun();
        assert!(
            passes(|| assert!(is_forked(&outlet.finish().unwrap_err().into_error()))),
            "it was not read in the child"
        );
    }
}

#[test]
fn an_outlet_of_a_scope_of_the_parent_ends_with_an_error() {
    std::thread::scope(|scope| {
        let begin = || {
            let numbers = Graph::new().source(0u64..).par_map(|x| x + 1);
            let mut outlet = numbers.start_in(scope, &Options::new().threads(2)).unwrap();
            assert_eq!(outlet.next(), Some(1));
            outlet
        };
        let mut outlet = begin();
        assert!(passes(|| {
            while outlet.next().is_some() {}
            assert!(is_forked(&outlet.finish().unwrap_err().into_error()));
        }));
        let outlet = begin();
        assert!(passes(|| drop(outlet)));
    });
}

#[test]
fn items_of_a_run_that_had_ended_are_read_in_the_child() {
    let mut numbers =
        Graph::new().source(0..9u64).par_map(|x| x + 1).start_with(&Options::new().threads(2)).unwrap();
    assert_eq!(numbers.next(), Some(1));
    let handle = numbers.handle();
    while !handle.is_over() || handle.snapshot().is_some() {
        std::thread::yield_now();
    }
    assert!(passes(|| assert!(numbers.by_ref().eq(2..=9))));
    assert!(numbers.by_ref().eq(2..=9));
    numbers.finish().unwrap();
}
