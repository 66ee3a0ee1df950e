//! The pool, its seats and its rosters on real threads.

use super::*;
use crate::sync::{Ordering, lock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

#[test]
fn a_member_is_waited_for_though_the_caller_panics_while_it_waits() {
    let (team, begun, ended) = (Team::default(), AtomicBool::new(false), AtomicBool::new(false));
    let job = |_: usize| {
        begun.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(150));
        ended.store(true, Ordering::Relaxed);
    };
    let own = || {
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    let call = || team.beside(1, &job, own, || panic!("while it waits"));
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
    assert!(ended.load(Ordering::Relaxed), "the job may be gone once `beside` has returned");
}

/// Which members have been called, as bits; the caller waits for all of them.
fn seen(team: &Team, members: usize) -> u64 {
    let (seen, all) = (AtomicU64::new(0), (1 << (members + 1)) - 2);
    let own = || {
        while seen.load(Ordering::Relaxed) != all {
            std::thread::yield_now();
        }
    };
    team.beside(members, &|member| _ = seen.fetch_or(1 << member, Ordering::Relaxed), own, || {});
    seen.into_inner()
}

#[test]
fn a_member_that_has_not_begun_is_not_waited_for() {
    // The only thread is at work elsewhere, or has only just been started: the caller goes on at once, and what
    // it lent is never touched after that.
    let team = Team::default();
    for i in 0..2000u64 {
        let begun = AtomicU64::new(i);
        team.beside(3, &|_| assert_eq!(begun.load(Ordering::Relaxed), i), || {}, || {});
        begun.store(u64::MAX, Ordering::Relaxed);
    }
    assert!(lock(&team.pool.idle).seats.len() <= 3);
}

#[test]
fn a_detached_job_gives_its_thread_back_and_may_panic() {
    let team = Team::default();
    let (to, from) = std::sync::mpsc::channel();
    for i in 0..20 {
        let to = to.clone();
        let job = move || {
            to.send(i).unwrap();
            assert!(i % 2 == 0, "odd");
        };
        team.detach(Box::new(job)).unwrap();
        assert_eq!(from.recv(), Ok(i));
    }
    while lock(&team.pool.idle).seats.is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn members_may_call_members() {
    fn nested(team: &Team, depth: usize) {
        if depth > 0 {
            let done = AtomicBool::new(false);
            let job = |_| {
                nested(team, depth - 1);
                done.store(true, Ordering::Relaxed);
            };
            let own = || {
                while !done.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            };
            team.beside(1, &job, own, || {});
        }
    }
    let team = Team::default();
    nested(&team, 20);
    assert_eq!(lock(&team.pool.idle).seats.len(), 20, "it grows, and nothing waits in line");
}

#[test]
fn each_member_does_the_job_and_stays() {
    let team = Team::default();
    for members in [0, 3, 1, 5, 2, 5] {
        assert_eq!(seen(&team, members), (1 << (members + 1)) - 2);
    }
    assert_eq!(lock(&team.pool.idle).seats.len(), 5, "threads are used again");
}

#[test]
fn several_call_at_once() {
    let team = Team::default();
    std::thread::scope(|scope| {
        for members in 1..5 {
            let team = &team;
            scope.spawn(move || {
                (0..500).for_each(|_| assert_eq!(seen(team, members), (1 << (members + 1)) - 2))
            });
        }
    });
    assert!(lock(&team.pool.idle).seats.len() <= 1 + 2 + 3 + 4);
}

#[test]
fn a_panic_is_the_callers_once_all_have_ended() {
    let (team, ended) = (Team::default(), AtomicBool::new(false));
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
    let panic = catch_unwind(AssertUnwindSafe(|| team.beside(2, &job, || all_begin(2), || {}))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "member 1");
    assert!(ended.swap(false, Ordering::Relaxed));
    // The caller's own is raised after all have ended too, and the team goes on.
    let own = || {
        let own = || {
            all_begin(3);
            panic!("own");
        };
        team.beside(1, &|_| job(2), own, || {});
    };
    let panic = catch_unwind(AssertUnwindSafe(own)).unwrap_err();
    assert_eq!(*panic.downcast_ref::<&str>().unwrap(), "own");
    assert!(ended.into_inner());
    assert_eq!(seen(&team, 2), 0b110);
}

#[test]
fn a_caller_that_waits_does_something_else() {
    let over = AtomicBool::new(false);
    let until_over = |_| {
        while !over.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    let begun = AtomicBool::new(false);
    let job = |member| {
        begun.store(true, Ordering::Relaxed);
        until_over(member);
    };
    let own = || {
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
    };
    Team::default().beside(1, &job, own, || over.store(true, Ordering::Relaxed));
}
