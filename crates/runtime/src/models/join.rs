//! Fork-join ([`team::join`](crate::team::join)): each half is executed once while its frame waits, and its owner sees what it
//! has written.
//!
//! The halves add to loom cells, so an execution that is not ordered against the frame's other accesses is a data race. A
//! session's caller waits for its helpers in the engine (`arena`); here it joins their threads.

use super::check;
use crate::sync::{Condvar, Mutex, UnsafeCell, lock};
use crate::team::join::member::{Crew, Member};
use crate::team::join::session::Session;
use loom::thread;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

/// No member is absent, and no other job is open.
const CREW: Crew = Crew { call: || {}, help: || false };

/// A cell that one half writes.
struct Place(UnsafeCell<usize>);

// SAFETY: what the models check.
unsafe impl Sync for Place {}

impl Place {
    fn new() -> Place {
        Place(UnsafeCell::new(0))
    }

    fn add(&self) {
        // SAFETY: exclusive, which loom checks.
        self.0.with_mut(|place| unsafe { *place += 1 });
    }

    fn read(&self) -> usize {
        // SAFETY: as above.
        self.0.with_mut(|place| unsafe { *place })
    }
}

/// A thread that tries to steal some halves.
fn thief(session: &Arc<Session>, me: usize, attempts: usize) -> thread::JoinHandle<usize> {
    let session = session.clone();
    thread::spawn(move || {
        let member = Member::new(&session, me, CREW);
        (0..attempts).filter(|_| member.execute_stolen()).count()
    })
}

/// A steal against the owner that takes its half back.
///
/// Mutations that fail: `Relaxed` in the store of `is_done`; a thief that does not wake the owner, or does so without the lock;
/// no fence in `sleep`.
#[test]
fn loom_join_half_is_executed_once() {
    check(|| {
        let session = Arc::new(Session::new(2));
        let thief = thief(&session, 1, 1);
        let member = Member::new(&session, 0, CREW);
        let (first, second) = (Place::new(), Place::new());
        member.join(|| first.add(), || second.add());
        assert_eq!((first.read(), second.read()), (1, 1));
        thief.join().unwrap();
    });
}

/// Joins in the first half and in the second one, with a thief that comes twice.
#[test]
fn loom_join_nested_halves_are_executed_once() {
    check(|| {
        let session = Arc::new(Session::new(2));
        let thief = thief(&session, 1, 2);
        let member = Member::new(&session, 0, CREW);
        let places = [Place::new(), Place::new(), Place::new()];
        member.join(|| member.join(|| places[0].add(), || places[1].add()), || places[2].add());
        assert!(places.iter().all(|place| place.read() == 1));
        thief.join().unwrap();
    });
}

/// Two thieves and two halves.
#[test]
fn loom_join_thieves_execute_a_half_once() {
    check(|| {
        let session = Arc::new(Session::new(3));
        let thieves = [thief(&session, 1, 1), thief(&session, 2, 1)];
        let member = Member::new(&session, 0, CREW);
        let (first, second) = (Place::new(), Place::new());
        member.join(|| first.add(), || second.add());
        assert_eq!((first.read(), second.read()), (1, 1));
        let stolen: usize = thieves.into_iter().map(|thief| thief.join().unwrap()).sum();
        assert!(stolen <= 1);
    });
}

/// The thief of a half forks in turn, and waits until another thread has executed what it offers. Only the owner can, which may
/// be about to sleep.
///
/// Mutations that fail: a sleeper that checks no seat.
#[test]
fn loom_join_sleeping_owner_takes_what_its_thief_offers() {
    check(|| {
        let session = Arc::new(Session::new(2));
        let stolen = Arc::new((Mutex::new(false), Condvar::new()));
        let inner = Arc::new((Mutex::new(false), Condvar::new()));
        let wait = |flag: &(Mutex<bool>, Condvar)| {
            let mut is_set = lock(&flag.0);
            while !*is_set {
                is_set = flag.1.wait(is_set).unwrap();
            }
        };
        let set = |flag: &(Mutex<bool>, Condvar)| {
            *lock(&flag.0) = true;
            flag.1.notify_all();
        };
        let thief = thread::spawn({
            let (session, inner, stolen) = (session.clone(), inner.clone(), stolen.clone());
            move || {
                // Not before the owner has offered its half.
                wait(&stolen);
                let member = Member::new(&session, 1, CREW);
                assert!(member.execute_stolen());
                drop(inner);
            }
        });
        let member = Member::new(&session, 0, CREW);
        let place = Place::new();
        let begun = (Mutex::new(false), Condvar::new());
        let second = || {
            set(&begun);
            let thief = Member::new(&session, 1, CREW);
            thief.join(
                || wait(&inner),
                || {
                    place.add();
                    set(&inner);
                },
            );
        };
        let first = || {
            set(&stolen);
            wait(&begun);
        };
        member.join(first, second);
        assert_eq!(place.read(), 1);
        thief.join().unwrap();
    });
}

/// The first half panics while a thief may have the second one, which still is executed before the panic continues.
///
/// Mutation that fails: a `join` that does not wait after a panic (the thief's writes race with the frame's end).
#[test]
fn loom_join_panic_waits_for_the_thief() {
    check(|| {
        let session = Arc::new(Session::new(2));
        let thief = thief(&session, 1, 1);
        let member = Member::new(&session, 0, CREW);
        let second = Place::new();
        let panics = || member.join(|| resume_unwind(Box::new("first")), || second.add());
        let panic = catch_unwind(AssertUnwindSafe(panics)).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"first"));
        assert_eq!(second.read(), 1);
        thief.join().unwrap();
    });
}
