//! [`Arena`]: a borrowed job is called only while its caller is in `run`, and all that the calls write is seen by the
//! caller.
//!
//! The jobs add to loom cells on the caller's stack. A member that uses a job after its caller has left, two threads that
//! access a slot's job at once, and a write that the caller does not see are data races, which loom reports.

use super::check;
use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, UnsafeCell, lock};
use crate::team::arena::Arena;
use crate::team::lending::{Lending, Recall};
use loom::thread;
use std::cell::Cell;
use std::sync::Arc;

/// A number that each call of a job takes for itself, and a cell for each.
struct Work {
    next: AtomicUsize,
    cells: [UnsafeCell<usize>; 2],
}

// SAFETY: a cell is accessed by the call that has taken its number, and by the caller after all calls. loom reports the
// contrary: this is what the models check.
unsafe impl Sync for Work {}

impl Work {
    fn new() -> Work {
        Work { next: AtomicUsize::new(0), cells: [UnsafeCell::new(0), UnsafeCell::new(0)] }
    }

    /// Takes numbers until none is left.
    fn call(&self) {
        while self.call_once() {}
    }

    /// Takes a number; false if none is left.
    fn call_once(&self) -> bool {
        let at = self.next.fetch_add(1, Ordering::Relaxed);
        // SAFETY: exclusive, as argued at `Sync`.
        self.cells.get(at).inspect(|cell| cell.with_mut(|cell| unsafe { *cell += 1 })).is_some()
    }

    /// Whether there are numbers that no call has taken.
    fn is_left(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.cells.len()
    }

    fn is_done(&self) -> bool {
        // SAFETY: exclusive, as argued at `Sync`.
        self.cells.iter().all(|cell| cell.with_mut(|cell| unsafe { *cell == 1 }))
    }
}

fn run(arena: &Arena, ancestors: usize, nested: impl Fn(usize)) {
    let work = Work::new();
    arena.run(
        Lending { part: &|_, _| work.call(), more: &|| false, ancestors, most: 1 },
        || {},
        |within, _| {
            work.call();
            nested(within);
        },
        |slot| arena.help(0, slot, Recall::NEVER, |_, _, call| call()),
    );
    assert!(work.is_done());
}

/// A member that tries to join a job twice.
fn joins_twice(arena: &Arc<Arena>) -> thread::JoinHandle<()> {
    let arena = arena.clone();
    thread::spawn(move || (0..2).for_each(|_| _ = arena.help(1, 0, Recall::NEVER, |_, _, call| call())))
}

/// A caller that closes its job while a helper is in it, so that the helper leaves without a fence.
///
/// Mutations that fail: `Relaxed` in the leaving.
#[test]
fn loom_arena_shows_the_caller_what_a_helper_wrote_before_it_left() {
    check(|| {
        let arena = Arc::new(Arena::default());
        let other = arena.clone();
        let member = thread::spawn(move || _ = other.help(1, 0, Recall::NEVER, |_, _, call| call()));
        let work = Work::new();
        let part = || {
            work.call_once();
            thread::yield_now(); // the caller closes the job meanwhile
        };
        let own = |_, _| {
            thread::yield_now(); // the helper joins meanwhile
            work.call();
        };
        let lending = Lending { part: &|_, _| part(), more: &|| false, ancestors: 0, most: 1 };
        arena.run(lending, || {}, own, |_| false);
        assert!(work.is_done());
        member.join().unwrap();
    });
}

/// Two jobs one after the other in one slot, while a member tries to join twice.
///
/// Mutations that fail: `Relaxed` in the join, or in `is_left`; a close that does not wait; no notification.
#[test]
fn loom_arena_lends_a_job_while_its_caller_waits() {
    check(|| {
        let arena = Arc::new(Arena::default());
        let member = joins_twice(&arena);
        run(&arena, 0, |_| {});
        run(&arena, 0, |_| {});
        member.join().unwrap();
        assert!(!arena.any());
    });
}

/// A member that has looked at the arena during the first job joins the second one as soon as it is open, and closes it. The
/// arena then has no job: members that look for one sleep.
///
/// Mutation that fails: a bit that is set after its slot is open.
#[test]
fn loom_arena_is_empty_when_its_jobs_are_closed() {
    check(|| {
        let arena = Arc::new(Arena::default());
        let member = joins_twice(&arena);
        run(&arena, 0, |_| {});
        let member = Cell::new(Some(member));
        run(&arena, 0, |_| {
            member.take().map(|member| member.join().unwrap());
            assert!(!arena.any() || arena.help(2, 0, Recall::NEVER, |_, _, call| call()));
        });
    });
}

/// A job in a job: a member joins either, and both callers end.
#[test]
fn loom_arena_nests_jobs() {
    check(|| {
        let arena = Arc::new(Arena::default());
        let member = thread::spawn({
            let arena = arena.clone();
            move || {
                let nest = |within| run(&arena, within, |_| {});
                arena.help(1, 0, Recall::NEVER, |within, _, call| {
                    call();
                    nest(within);
                })
            }
        });
        run(&arena, 0, |within| run(&arena, within, |_| {}));
        member.join().unwrap();
        assert!(!arena.any());
    });
}

/// An item that one call makes visible and another one takes.
#[derive(Default)]
struct Item {
    is_visible: AtomicBool,
    is_taken: Mutex<bool>,
    taken: Condvar,
}

impl Item {
    fn show(&self, arena: &Arena, job: usize) {
        self.is_visible.swap(true, Ordering::Relaxed); // loom orders no store among read-modify-writes
        arena.ask(job);
    }

    fn take(&self) {
        if self.is_visible.swap(false, Ordering::Relaxed) {
            *lock(&self.is_taken) = true;
            self.taken.notify_one();
        }
    }

    fn is_visible(&self) -> bool {
        self.is_visible.load(Ordering::Relaxed)
    }
}

/// A member finds no work and leaves, just as the caller makes some visible. The member takes it, or the job is open, so that
/// a member which looks for jobs finds it.
///
/// Mutations that fail: no fence in `ask`, or in `calls`; `calls` without the check of `more`; `ask` that sets no bit. An `ask` that
/// relies on a word without its bit passes: this takes two helpers that close and one that asks.
#[test]
fn loom_arena_is_open_while_work_is_visible() {
    check(|| is_open_while_work_is_visible(false));
}

/// As above, while a run recalls the member: it leaves though it sees the work.
///
/// Mutation that fails: no [`Arena::agree`], neither in `hide` nor when the helper leaves.
#[test]
fn loom_arena_is_open_after_a_helper_was_recalled() {
    check(|| is_open_while_work_is_visible(true));
}

fn is_open_while_work_is_visible(is_recalled: bool) {
    let (arena, item) = (Arc::new(Arena::default()), Arc::new(Item::default()));
    let member = thread::spawn({
        let arena = arena.clone();
        move || arena.help(1, 0, Recall::by(&|| is_recalled), |_, _, call| call())
    });
    let member = Cell::new(Some(member));
    arena.run(
        Lending { part: &|_, _| item.take(), more: &|| item.is_visible(), ancestors: 0, most: 1 },
        || {},
        |_, job| {
            let Some(member) = member.take() else { return item.take() };
            item.show(&arena, job);
            member.join().unwrap();
            assert!(!item.is_visible() || arena.any());
            item.take();
        },
        |_| false,
    );
    assert!(*lock(&item.is_taken), "taken");
    assert!(!arena.any(), "any");
}

/// One member leaves work when it is recalled, while another one joins, is the last that may, and stays. The job has room again, so
/// a member that looks for jobs finds it.
///
/// Mutation that fails: a helper that leaves without [`Arena::agree`]. `ask` or `open` without it passes: this takes more threads.
#[test]
fn loom_arena_has_room_after_a_helper_was_recalled() {
    check(|| {
        let (arena, gate) = (Arc::new(Arena::default()), Arc::new(Gate::default()));
        let help = |member| {
            let arena = arena.clone();
            thread::spawn(move || arena.help(member, 0, Recall::by(&|| member == 1), |_, _, call| call()))
        };
        let members = Cell::new(Some((help(1), help(2))));
        let part = |member, _: Recall<'_>| {
            if member == 2 {
                gate.wait();
            }
        };
        arena.run(
            Lending { part: &part, more: &|| !gate.is_open(), ancestors: 0, most: 2 },
            || {},
            |_, _| {
                let Some((recalled, stays)) = members.take() else { return };
                recalled.join().unwrap();
                assert!(!gate.is_reached() || arena.any());
                gate.open();
                stays.join().unwrap();
            },
            |_| false,
        );
        assert!(!arena.any());
    });
}

/// Where a call waits until the caller opens it.
#[derive(Default)]
struct Gate {
    /// Whether a call has come, and whether the gate is open.
    state: Mutex<(bool, bool)>,
    opened: Condvar,
}

impl Gate {
    fn wait(&self) {
        let mut state = lock(&self.state);
        state.0 = true;
        while !state.1 {
            state = self.opened.wait(state).unwrap();
        }
    }

    fn open(&self) {
        lock(&self.state).1 = true;
        self.opened.notify_one();
    }

    fn is_reached(&self) -> bool {
        lock(&self.state).0
    }

    fn is_open(&self) -> bool {
        lock(&self.state).1
    }
}

/// The caller has found no work, and waits, while a helper makes some visible and waits until another thread has taken it.
///
/// Mutations that fail: `ask` that does not notify; a wait that ignores `OPEN`.
#[test]
fn loom_arena_calls_its_caller_again() {
    check(|| {
        let (arena, item) = (Arc::new(Arena::default()), Arc::new(Item::default()));
        let joined = Arc::new((Mutex::new(false), Condvar::new()));
        let member = thread::spawn({
            let arena = arena.clone();
            move || {
                while !arena.help(1, 0, Recall::NEVER, |_, _, call| call()) {
                    thread::yield_now();
                }
            }
        });
        let own = Cell::new(0);
        let part = |_: usize, _: Recall<'_>| {
            *lock(&joined.0) = true;
            joined.1.notify_one();
            item.show(&arena, 1);
            let mut is_taken = lock(&item.is_taken);
            while !*is_taken {
                is_taken = item.taken.wait(is_taken).unwrap();
            }
        };
        arena.run(
            Lending { part: &part, more: &|| item.is_visible(), ancestors: 0, most: 1 },
            || {},
            |_, _| {
                // The first call returns once the member has joined.
                let mut is_joined = lock(&joined.0);
                while !*is_joined {
                    is_joined = joined.1.wait(is_joined).unwrap();
                }
                own.set(own.get() + 1);
                if own.get() > 1 {
                    item.take();
                }
            },
            |_| false,
        );
        member.join().unwrap();
        assert!(own.get() >= 2 && !arena.any());
    });
}

/// A run recalls a helper, which leaves work, with or without another one that comes. The caller does what is left.
///
/// Mutations that fail: a caller that frees its slot without helpers though it is open; `hide` without [`Arena::agree`].
#[test]
fn loom_arena_helper_leaves_work_when_it_is_recalled() {
    check(|| {
        let arena = Arc::new(Arena::default());
        let member = thread::spawn({
            let arena = arena.clone();
            move || arena.help(1, 0, Recall::by(&|| true), |_, _, call| call())
        });
        leaves(&arena, || {});
        member.join().unwrap();
        assert!(!arena.any());
    });
}

/// As above, while the caller panics. Its slot is closed when it is freed.
///
/// Mutation that fails: a drop that does not read `OPEN` after the last helper has left.
#[test]
fn loom_arena_caller_that_panics_waits_for_helpers_that_are_recalled() {
    check(|| {
        let arena = Arc::new(Arena::default());
        let member = thread::spawn({
            let arena = arena.clone();
            move || arena.help(1, 0, Recall::by(&|| true), |_, _, call| call())
        });
        let panics = || leaves(&arena, || std::panic::resume_unwind(Box::new(())));
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).expect_err("it panics");
        member.join().unwrap();
        assert!(!arena.any());
    });
}

/// A job of two items, of which each call takes one. The caller's first call is `first`.
fn leaves(arena: &Arena, first: impl Fn()) {
    let work = Work::new();
    arena.run(
        Lending { part: &|_, _| _ = work.call_once(), more: &|| work.is_left(), ancestors: 0, most: 1 },
        || {},
        |_, _| {
            first();
            work.call_once();
        },
        |_| false,
    );
    assert!(work.is_done());
}
