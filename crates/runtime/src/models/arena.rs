//! [`Arena`]: a borrowed job is called only while its caller is in `run`, and all that the calls write is seen by the
//! caller.
//!
//! The jobs add to loom cells on the caller's stack. A member that uses a job after its caller has left, two threads that
//! access a slot's job at once, and a write that the caller does not see are data races, which loom reports.

use super::check;
use crate::sync::{AtomicUsize, Ordering, UnsafeCell};
use crate::team::arena::Arena;
use loom::thread;
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
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(cell) = self.cells.get(at) else { return };
            // SAFETY: exclusive, as argued at `Sync`.
            cell.with_mut(|cell| unsafe { *cell += 1 });
        }
    }

    fn is_done(&self) -> bool {
        // SAFETY: exclusive, as argued at `Sync`.
        self.cells.iter().all(|cell| cell.with_mut(|cell| unsafe { *cell == 1 }))
    }
}

fn run(arena: &Arena, ancestors: usize, nested: impl FnOnce(usize)) {
    let work = Work::new();
    arena.run(
        (&|_| work.call(), ancestors, 1),
        || {},
        |within| {
            work.call();
            nested(within);
        },
        |slot| arena.help(0, slot, |_, call| call()),
    );
    assert!(work.is_done());
}

/// A member that tries to join a job twice.
fn joins_twice(arena: &Arc<Arena>) -> thread::JoinHandle<()> {
    let arena = arena.clone();
    thread::spawn(move || (0..2).for_each(|_| _ = arena.help(1, 0, |_, call| call())))
}

/// Two jobs one after the other in one slot, while a member tries to join twice.
///
/// Mutations that fail: `Relaxed` in the join, in the leaving, or in `is_left`; a close that does not wait; no notification.
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
        run(&arena, 0, |_| {
            member.join().unwrap();
            assert!(!arena.any() || arena.help(2, 0, |_, call| call()));
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
                arena.help(1, 0, |within, call| {
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
