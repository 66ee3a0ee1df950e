//! loom models of the executor: two or three members on the real types, in every interleaving up to a number of preemptions.
//!
//! Each test lists the mutations of the code under test that were tried and made it fail.
//!
//! A member joins, leaves when it finds nothing, and joins again, at any time: each thread does so twice. That a member which has
//! left is called when entries are shared, and that none leaves just then, are models of the runtime (`team::arena`).
//!
//! Not shown: that the length of a seat is read with `Acquire`. loom executes read-modify-writes in the order of the
//! interleaving, so `busy` is exact without it.

use super::*;
use loom::sync::Arc;
use loom::thread;
use thalweg_policy::tasks::{Colour, Place, SearchSettings};

/// Entry `n` executes itself, and is followed by `n - 1` and `n - 2`. Its colour is 0 or 1: that of its parity.
struct Tree {
    /// How often each entry was executed, by the argument.
    executed: Vec<AtomicUsize>,
    /// The argument that fails.
    fails: Option<usize>,
    /// Other threads continue at each task, which counts as no preemption.
    yields: bool,
}

impl Work for Tree {
    type Entry = usize;
    type Local = usize;

    fn execute(
        &self,
        entry: usize,
        local: &mut usize,
        owned: &mut Owned<usize>,
    ) -> Result<Option<usize>, Stop> {
        if self.fails == Some(entry) {
            return Err(Stop);
        }
        *local += 1;
        if self.yields {
            thread::yield_now();
        }
        let executed = &self.executed[entry];
        executed.fetch_add(1, Ordering::Relaxed);
        if entry >= 2 {
            owned.push(entry - 2);
        }
        Ok(entry.checked_sub(1))
    }

    fn counts(_: &Self::Local) -> MemberCounts {
        MemberCounts::default()
    }

    fn fits(&self, entry: &usize, colours: &ColourSet) -> bool {
        colours.contains(Colour(*entry as u32 % 2))
    }
}

/// How members steal.
#[derive(Clone, Copy)]
enum Steals {
    Any,
    /// Every second attempt is for the colour that is the member's number; with `first`, the others are too at first.
    Coloured {
        first: u32,
    },
}

impl Steals {
    fn search(self, members: usize, me: usize) -> Search {
        match self {
            Steals::Any => Search::new(Place::default(), members, me, SearchSettings::RANDOM),
            Steals::Coloured { first } => {
                let settings = SearchSettings::new(1, first);
                Search::new(Place::of(Colour(me as u32)), members, me, settings)
            }
        }
    }
}

/// Joins three times. In between other threads continue, which counts as no preemption.
fn member(executor: &Executor<usize>, tree: &Tree, me: usize, search: Search) -> usize {
    let (mut executed, mut thief) = (0, Thief::new(me, search, XorShift::new(1, me)));
    for join in 0..3 {
        if join > 0 {
            thread::yield_now();
        }
        assert!(executor.member(tree, &mut executed, &mut thief).is_ok());
    }
    executed
}

fn model(
    (members, yields, steals): (usize, bool, Steals),
    seed: usize,
    fails: Option<usize>,
    expected: impl Fn(&[usize]) + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(2));
    builder.max_branches = 20_000;
    builder.check(move || {
        let executed = (0..=seed).map(|_| AtomicUsize::new(0)).collect();
        let shared = Arc::new((Executor::new(members, vec![seed]), Tree { executed, fails, yields }));
        let others: Vec<_> = (1..members)
            .map(|me| {
                let shared = shared.clone();
                thread::spawn(move || member(&shared.0, &shared.1, me, steals.search(members, me)))
            })
            .collect();
        let own = member(&shared.0, &shared.1, 0, steals.search(members, 0));
        let others: usize = others.into_iter().map(|other| other.join().unwrap()).sum();
        let executed: Vec<usize> =
            shared.1.executed.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        assert_eq!(executed.iter().sum::<usize>(), own + others);
        assert!(shared.0.is_over());
        expected(&executed);
    });
}

/// Every entry is executed once, and all members end.
///
/// Mutations that fail: a member that goes idle without `take_back`; one that is not subtracted from `busy` (the run does not end); a thief that does not count itself in `busy`.
#[test]
fn loom_two_members_execute_each_entry_once() {
    model((2, false, Steals::Any), 3, None, |executed| assert_eq!(executed, [3, 2, 1, 1]));
}

/// As above, where a thief may steal from a thief.
#[test]
fn loom_three_members_execute_each_entry_once() {
    model((3, false, Steals::Any), 2, None, |executed| assert_eq!(executed, [2, 1, 1]));
}

/// A failure ends all members.
#[test]
fn loom_a_failure_ends_all_members() {
    model((2, false, Steals::Any), 3, Some(1), |executed| assert!(executed[3] == 1 && executed[1] == 0));
}

/// A thief takes the last entry of a member that becomes idle.
///
/// Mutations that fail: `busy` is incremented after the seat is empty for others, under its lock or after it (the run ends while
/// the thief has an entry).
#[test]
fn loom_a_thief_is_busy_before_its_victim_is_idle() {
    model((2, true, Steals::Any), 2, None, |executed| assert_eq!(executed, [2, 1, 1]));
}

/// Coloured attempts take some entries and leave others: every entry is executed once.
///
/// Mutations that fail: a thief counts itself in `busy` also if nothing fits (the run does not end); `steal` drops an entry that
/// does not fit.
#[test]
fn loom_coloured_attempts_lose_no_entry() {
    for first in [0, 1] {
        model((2, true, Steals::Coloured { first }), 3, None, |executed| assert_eq!(executed, [3, 2, 1, 1]));
    }
}
