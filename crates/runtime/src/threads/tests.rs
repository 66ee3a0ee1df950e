//! The pool, its seats and its rosters on real threads.

use super::*;
use crate::sync::{Ordering, lock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// The members that have run, as bits. The caller waits for all of them.
fn seen(pool: &ThreadPool, members: usize) -> u64 {
    let (seen, all) = (AtomicU64::new(0), (1 << (members + 1)) - 2);
    let own = || {
        while seen.load(Ordering::Relaxed) != all {
            std::thread::yield_now();
        }
    };
    lend(pool, members, &|member| _ = seen.fetch_or(1 << member, Ordering::Relaxed), own);
    seen.into_inner()
}

#[test]
fn a_member_that_has_not_begun_is_not_waited_for() {
    // The members' threads have not started, or run an earlier job. The caller returns at once, and its job is not
    // accessed after that.
    let pool = ThreadPool::default();
    for i in 0..2000u64 {
        let begun = AtomicU64::new(i);
        lend(&pool, 3, &|_| assert_eq!(begun.load(Ordering::Relaxed), i), || {});
        begun.store(u64::MAX, Ordering::Relaxed);
    }
    assert!(lock(&pool.idle.list).seats.len() <= 3);
}

#[test]
fn a_detached_job_gives_its_thread_back_and_may_panic() {
    let pool = ThreadPool::default();
    let (to, from) = std::sync::mpsc::channel();
    for i in 0..20 {
        let to = to.clone();
        let job = move || {
            to.send(i).unwrap();
            assert!(i % 2 == 0, "odd");
        };
        pool.detach(StackSize::default(), Box::new(job)).unwrap();
        assert_eq!(from.recv(), Ok(i));
    }
    while lock(&pool.idle.list).seats.is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn a_job_goes_to_the_thread_that_is_asked_for_if_it_is_idle() {
    let pool = ThreadPool::default();
    let (to, from) = std::sync::mpsc::channel();
    let call = |thread: Option<&PoolThread>, until: std::sync::mpsc::Receiver<()>| {
        let to = to.clone();
        let job = move || {
            to.send(std::thread::current().id()).unwrap();
            _ = until.recv(); // Until the sender is dropped.
        };
        (pool.detach_to(thread, Box::new(job)).unwrap(), from.recv().unwrap())
    };
    let idle = |count: usize| {
        while lock(&pool.idle.list).seats.len() < count {
            std::thread::yield_now();
        }
    };
    let ((end_a, until_a), (end_b, until_b)) = (std::sync::mpsc::channel(), std::sync::mpsc::channel());
    let ((first, a), (second, b)) = (call(None, until_a), call(None, until_b));
    assert!(a != b && first != second);
    // `a` is idle before `b`, which the next caller would get.
    drop(end_a);
    idle(1);
    drop(end_b);
    idle(2);
    for _ in 0..3 {
        for (thread, id) in [(&first, a), (&second, b), (&first, a)] {
            let (end, until) = std::sync::mpsc::channel();
            drop(end);
            let (called, on) = call(Some(thread), until);
            assert!(called == *thread && on == id);
            idle(2);
        }
    }
    // One that is busy is not waited for.
    let (end, until) = std::sync::mpsc::channel();
    call(Some(&first), until);
    let (ended, until) = std::sync::mpsc::channel();
    drop(ended);
    let (other, on) = call(Some(&first), until);
    assert!(other == second && on == b);
    drop(end);
}

#[test]
fn members_may_call_members() {
    fn nested(pool: &ThreadPool, depth: usize) {
        if depth > 0 {
            let done = AtomicBool::new(false);
            let job = |_| {
                nested(pool, depth - 1);
                done.store(true, Ordering::Relaxed);
            };
            let own = || {
                while !done.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            };
            lend(pool, 1, &job, own);
        }
    }
    let pool = ThreadPool::default();
    nested(&pool, 20);
    assert_eq!(lock(&pool.idle.list).seats.len(), 20, "the pool grows instead of queueing");
}

#[test]
fn each_member_does_the_job_and_stays() {
    let pool = ThreadPool::default();
    for members in [0, 3, 1, 5, 2, 5] {
        assert_eq!(seen(&pool, members), (1 << (members + 1)) - 2);
    }
    assert_eq!(lock(&pool.idle.list).seats.len(), 5, "threads are reused");
}

#[test]
fn several_call_at_once() {
    let pool = ThreadPool::default();
    std::thread::scope(|scope| {
        for members in 1..5 {
            let pool = &pool;
            scope.spawn(move || {
                (0..500).for_each(|_| assert_eq!(seen(pool, members), (1 << (members + 1)) - 2))
            });
        }
    });
    assert!(lock(&pool.idle.list).seats.len() <= 1 + 2 + 3 + 4);
}

#[test]
fn a_panic_is_the_callers_once_all_have_ended() {
    let (pool, ended) = (ThreadPool::default(), AtomicBool::new(false));
    let job = |member: usize| {
        assert!(member != 1, "member {member}");
        std::thread::sleep(Duration::from_millis(20));
        ended.store(true, Ordering::Relaxed);
    };
    let begun = AtomicU64::new(0);
    let job = |member: usize| {
        begun.fetch_add(1, Ordering::Relaxed);
        job(member);
    };
    let all_begin = |members: u64| {
        while begun.load(Ordering::Relaxed) < members {
            std::thread::yield_now();
        }
    };
    let panic = catch_unwind(AssertUnwindSafe(|| lend(&pool, 2, &job, || all_begin(2)))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "member 1");
    assert!(ended.swap(false, Ordering::Relaxed));
    // A panic of `own` continues after all members have ended, too, and the pool stays usable.
    let own = || {
        let own = || {
            all_begin(3);
            panic!("own");
        };
        lend(&pool, 1, &|_| job(2), own);
    };
    let panic = catch_unwind(AssertUnwindSafe(own)).unwrap_err();
    assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "own");
    assert!(ended.into_inner());
    assert_eq!(seen(&pool, 2), 0b110);
}

/// Calls itself this often, with frames of 100 bytes and more.
fn depth(calls: usize) -> usize {
    let frame = std::hint::black_box([1u8; 100]);
    if calls == 0 { 0 } else { depth(std::hint::black_box(calls - 1)) + usize::from(frame[0]) }
}

#[test]
fn a_job_gets_a_thread_with_a_stack_that_suffices() {
    let pool = ThreadPool::default();
    let (to, from) = std::sync::mpsc::channel();
    // The thread that has become idle last has a stack of the default size from the second round on.
    for _ in 0..3 {
        for stack in [
            StackSize::default(),
            StackSize::at_least(64 << 20),
            StackSize::at_least(1),
            StackSize::default(),
        ] {
            let to = to.clone();
            let calls = if stack == StackSize::at_least(64 << 20) { 100_000 } else { 100 };
            pool.detach(stack, Box::new(move || to.send(depth(calls)).unwrap())).unwrap();
            assert_eq!(from.recv().unwrap(), calls);
            let idle = || lock(&pool.idle.list).seats.len();
            let count = idle();
            while idle() == count && count == 0 {
                std::thread::yield_now();
            }
        }
    }
    assert!(lock(&pool.idle.list).seats.len() <= 6);
    for bytes in [usize::MAX, usize::MAX / 2, 1 << 60] {
        assert!(pool.detach(StackSize::at_least(bytes), Box::new(|| ())).is_err(), "{bytes}");
    }
}
