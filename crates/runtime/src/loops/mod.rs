//! Parallel loops on a [team](crate::team).
//!
//! **Actors.** The thread that executes a loop opens a job; it and the members that join take ranges of iterations from
//! [`Iterations`] until none is left. There is no cost per iteration, and no member is waited for that has not begun.
//!
//! Source: chapter 6 of *Locality-aware concurrency platforms* (locality-friendly parallel loops). In its loops a thread finds
//! its iterations by random steals, and pays for a lock-free handshake at each one. Here members find an open loop by one
//! load, and take iterations by ranges whose length follows from how long the last one took.
//!
//! # What a loop without work costs
//!
//! The members' accesses to shared cache lines, and their atomic read-modify-writes (RMW), make up most of it. For two members
//! of the pool:
//!
//! | cache lines | caller | helper |
//! |---|---|---|
//! | the arena's `open` | sets its bit: RMW | polls it; clears the bit as the last one that may join: RMW |
//! | the slot's first: word, ancestors, job | takes it: RMW; writes job and word, fences; reads the word until it is alone | joins: RMW; leaves: RMW |
//! | the part, in the caller's frame: two | writes | reads |
//! | [`Iterations`], in the caller's frame: two | writes | reads |
//! | a rest for each member ([`Shares`](crate::Shares)) | writes all; takes from its own: RMW; reads the other, and may steal: RMW | takes from its own: RMW; reads the other, and may steal: RMW |
//! | the pool's `LOOKING` | reads it, unless all members serve | leaves it and comes back: two RMWs |
//!
//! The first of the two that finds nothing left closes the job: an RMW of the word and one of `open`, if its bit is set, and a
//! fence.
//!
//! | file | what |
//! |---|---|
//! | `assignment` | which member has executed which iterations, saved and replayed |
//! | `iterations` | which iterations a member gets: the schedules |
//! | `fallible` | loops whose iterations may fail |
//! | `pace` | how many at once |
//! | `chunks` | loops over slices, and over blocks of arrays |
//! | `placed` | containers that know which member has first written which items |
//! | `reduce` | results that do not depend on the number of threads |

mod assignment;
mod chunks;
mod fallible;
mod iterations;
mod pace;
mod placed;
mod reduce;

pub use assignment::{Assignment, AssignmentError};
pub use chunks::{BlockMut, par_chunks};
pub use placed::{Grid, Placed};

use crate::measure::clock::ticks;
use crate::team::lending::{Recall, RecallCheck};
use crate::team::{CountedWork, Job, counted_alone, lend_counted, member, team_size};
use iterations::Iterations;
use pace::Pace;
use std::ops::Range;
use thalweg_policy::tasks::{StealOrder, stretch};
use thalweg_trace::MemberCounts;

/// Which member of a team executes which iterations of a [`Loop`].
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Each member gets a contiguous stretch, the same one each time. A stretch that its member has not begun 20 us after
    /// another member is done goes to that one.
    Static,
    /// Members take [`Loop::grain`] iterations at a time.
    Dynamic,
    /// Members take a share of the iterations left, so the ranges become shorter.
    Guided,
    /// One member begins with all iterations, and others steal the later half of the longest rest: recursive halving.
    ///
    /// It stands in for `cilk_for`, whose order differs. There the borders of all halves are fixed by the length and the
    /// grain, a thief takes the largest half that a random victim has not begun, and the owner goes on with the nearest one.
    /// Here a thief takes half of what is left when it comes, of the longest rest, so fewer steals suffice. Both execute
    /// what one member has left in the order of the iterations.
    Split,
    /// Each member begins with a contiguous stretch, the same one each time, and then steals the later half of the longest
    /// rest. So data stays in the caches and in the memory of the threads that use it, and no thread is idle while others
    /// have work left.
    #[default]
    Hybrid,
}

/// The settings of a parallel loop, and the loop.
///
/// In a firing of a graph the iterations are executed by the run's workers that have nothing else to do, otherwise by threads
/// of the process's pool. The calling thread takes part. Loops may be nested.
///
/// ```
/// use thalweg_runtime::{Loop, Schedule};
///
/// let mut squares = vec![0u64; 1000];
/// Loop::new().for_chunks(&mut squares, 100, |chunk, items| {
///     for (at, item) in items.iter_mut().enumerate() {
///         *item = ((chunk * 100 + at) as u64).pow(2);
///     }
/// });
/// let sum = Loop::new().schedule(Schedule::Guided).grain(50).reduce(
///     0..1000,
///     0,
///     |range, sum: u64| sum + squares[range].iter().sum::<u64>(),
///     |a, b| a + b,
/// );
/// assert_eq!(sum, 332_833_500);
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Loop {
    grain: Option<usize>,
    members: Option<usize>,
    schedule: Schedule,
    stealing: StealOrder,
}

impl Loop {
    /// A loop with the schedule [`Schedule::Hybrid`], any number of members, and a grain of one iteration.
    pub fn new() -> Loop {
        Loop::default()
    }

    /// Sets the least iterations that a member takes at once (at least 1). Where it is not set, a member takes as many as
    /// last for some microseconds.
    #[must_use]
    pub fn grain(self, grain: usize) -> Loop {
        Loop { grain: Some(grain.max(1)), ..self }
    }

    /// Sets which member executes which iterations.
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Loop {
        Loop { schedule, ..self }
    }

    /// Sets from whom a member steals, with the schedules [`Schedule::Hybrid`] and [`Schedule::Split`]; the others ignore it.
    ///
    /// With [`StealOrder::Off`] no member takes a part of a stretch that another one has begun. Which stretches there are
    /// does not change, so [`Schedule::Hybrid`] is then [`Schedule::Static`] under another name, for comparisons in which
    /// stealing is all that differs, and [`Schedule::Split`] leaves all iterations to the caller. A stretch whose member has
    /// not begun 20 us after another one is done goes to that one as a whole: a member may begin late or never, and all
    /// iterations are executed.
    #[must_use]
    pub fn stealing(self, stealing: StealOrder) -> Loop {
        Loop { stealing, ..self }
    }

    /// Sets the most threads that execute the loop (at least 1), the calling one included.
    #[must_use]
    pub fn members(self, most: usize) -> Loop {
        Loop { members: Some(most.max(1)), ..self }
    }

    /// Calls `body` with each number of `range`.
    ///
    /// # Panics
    /// If `body` panics. Other members then begin no more ranges.
    pub fn for_each(self, range: Range<usize>, body: impl Fn(usize) + Sync) {
        self.for_ranges(range, |range| range.for_each(&body));
    }

    /// Calls `body` with ranges that together are `range`. How many there are depends on threads and timing.
    ///
    /// # Panics
    /// If `body` panics. Other members then begin no more ranges.
    pub fn for_ranges(self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) {
        let (size, members) = self.sizes(range.len());
        if members >= 2 {
            self.execute(&self.iterations(&range, (size, members)), members, |_, range| body(range));
        } else if !range.is_empty() {
            counted_alone(range.len(), || body(range));
        }
    }

    /// All iterations of a loop over `range`, for this many members of a team of this size.
    fn iterations(self, range: &Range<usize>, (size, members): (usize, usize)) -> Iterations {
        let length = range.len() as u64;
        let members = if self.schedule == Schedule::Split { 1 } else { members.max(1) };
        let lengths = even(size, members, length);
        Iterations::new(self.schedule, self.stealing, range, (lengths, members), self.least())
    }

    /// The least iterations that a member takes at once.
    fn least(self) -> usize {
        self.grain.unwrap_or(1)
    }

    /// The size of the team, and the most members for a loop of this length.
    fn sizes(self, length: usize) -> (usize, usize) {
        let size = team_size();
        (size, self.members.unwrap_or(size).min(size).min(length.div_ceil(self.least())))
    }

    /// Calls `body` with a member and each range that it takes.
    fn execute(self, iterations: &Iterations, members: usize, body: impl Fn(usize, Range<usize>) + Sync) {
        // With one grain for each member no range is longer, so none need be timed.
        let least = self.least();
        let is_short = iterations.length().div_ceil(least) <= members;
        let take_all = move |member, recall: Recall<'_>, counts: &mut MemberCounts| {
            let mut pace = if is_short { Pace::fixed(least) } else { Pace::new(least) };
            let mut check = RecallCheck::new(recall);
            let may_leave = check.may_recall();
            loop {
                let tried = &mut |stole| counts.attempt(false, stole);
                let Some(mut rest) = iterations.take(member, (pace.length(), may_leave), tried) else {
                    return;
                };
                while let Some(range) = iterations.next_of(&mut rest, pace.length(), may_leave) {
                    let (start, length) = (range.start, range.len());
                    body(member, range);
                    // All below a limit that the loop has meanwhile.
                    *counts.iterations_mut() += length.min(iterations.limit().saturating_sub(start)) as u64;
                    let now = pace.done(length);
                    if check.recalls(|| now.unwrap_or_else(ticks)) {
                        return iterations.leave(member, rest);
                    }
                }
            }
        };
        let part = move |member, recall: Recall<'_>, counts: &mut MemberCounts| {
            iterations.cancelled_by_panic(|| take_all(member, recall, counts));
        };
        lend_counted(CountedWork { job: Job::Loop, most: members, part, more: &|| iterations.is_left() });
    }

    /// Calls `body` with the rows and the columns of each block of an array of two dimensions. Blocks have `block` rows and
    /// columns, and fewer at the end. [`Loop::for_blocks_mut`] lends the items of the blocks too.
    ///
    /// # Panics
    /// If `body` panics, a block has no rows or no columns, or there are more than `usize::MAX` blocks.
    pub fn for_blocks(
        self,
        (rows, columns): (usize, usize),
        block: (usize, usize),
        body: impl Fn(Range<usize>, Range<usize>) + Sync,
    ) {
        assert!(block.0 > 0 && block.1 > 0, "a block has {} rows and {} columns", block.0, block.1);
        let (down, across) = (rows.div_ceil(block.0), columns.div_ceil(block.1));
        let blocks =
            down.checked_mul(across).unwrap_or_else(|| panic!("{down} times {across} blocks are too many"));
        let part =
            |at: usize, length: usize, all: usize| at * length..(at * length).saturating_add(length).min(all);
        self.for_each(0..blocks, |at| {
            body(part(at / across, block.0, rows), part(at % across, block.1, columns));
        });
    }
}

/// A vector with room for a number of items that the user has chosen.
fn with_room<T>(count: usize) -> Vec<T> {
    let mut items = Vec::new();
    if items.try_reserve_exact(count).is_err() {
        panic!("no memory for {count} items of {} bytes", size_of::<T>());
    }
    items
}

/// The lengths of the stretches of a team's members. The first `members` have one, or the calling one in place of the last
/// of these: it certainly begins. The lengths differ by one iteration at most.
fn even(size: usize, members: usize, length: u64) -> impl ExactSizeIterator<Item = u64> {
    let last = member().max(members - 1);
    let length_of = move |at| {
        let range = stretch(length, members, at);
        range.end - range.start
    };
    (0..size).map(move |number| match number {
        _ if number == last => length_of(members - 1),
        _ if number < members - 1 => length_of(number),
        _ => 0,
    })
}

/// Calls `body` with each number of `range`, on several threads: [`Loop::for_each`] with the default settings.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let sum = AtomicUsize::new(0);
/// thalweg_runtime::par_for(0..100, |number| _ = sum.fetch_add(number, Relaxed));
/// assert_eq!(sum.into_inner(), 4950);
/// ```
///
/// # Panics
/// If `body` panics.
pub fn par_for(range: Range<usize>, body: impl Fn(usize) + Sync) {
    Loop::new().for_each(range, body);
}
