//! The executor: members with entries of their own, which steal from each other until none is left.
//!
//! An *entry* stands for one task or several. A member executes its newest entry, so one member alone goes depth
//! first; a thief takes the oldest entries, which are nearest to the root and usually have the most work behind them.
//!
//! # Where an entry is
//!
//! | place | accessed by | entered by | left by |
//! |---|---|---|---|
//! | `seeds` | the first member | the caller, before the run | the first member that joins (owned) |
//! | owned: `Owned`, or in hand | the member | tasks that follow from the member's task; `steal`, `take_back` | the member (executed), `Seat::share` |
//! | shared: `Seat` | all members, under the seat's lock | its owner, `Seat::share` | the owner, `take_back`; a thief, `steal` |
//!
//! An entry moves from one place to another by a move of the value, in one thread, so none is lost or executed twice.
//! To spawn a task is a push on a `Vec`. Before each task a member looks at the length of its own seat; if it owns more than
//! twice as many entries, it moves them there (`offers` of the policy). So a thief need not wait for a victim that executes a
//! long task, unless the victim has nothing else. A thief takes half of a seat, and so does the owner when it owns
//! nothing: an entry is moved a constant number of times in the mean.
//!
//! # Alone
//!
//! The member of a run for one member is `alone`, from the first task to the last. No other thread accesses what tasks have
//! in common, so tasks use plain loads and stores in place of read-modify-writes, and nothing is shared. A member of any other
//! run shares entries before its first task that leaves some, though no other member has joined yet: a long first task then
//! delays none.
//!
//! # The end
//!
//! `busy` is the number of members that may have entries: 1 before the run, for the seeds.
//!
//! | member is | counted in `busy` | entered by | left by |
//! |---|---|---|---|
//! | absent | no | a searching member | its thread, which joins the run's job (searching; busy, with the seeds) |
//! | busy | yes | the first member; a thief, by `steal` | the member, when it owns nothing and its seat is empty (searching) |
//! | searching | no | a member that joins; a busy one | `steal` (busy); no entry for 30 us ([`SpinBudget`]), and the end (absent) |
//!
//! *The race.* A member that searches takes an entry from a member that is about to be the last busy one; that one
//! brings `busy` to 0 and ends the run while the thief has an entry.
//!
//! *Why it cannot happen.* The thief increments `busy` under the victim's lock, before it stores the new length of the seat
//! (`Release`). The victim goes idle only after it has read the length 0 (`Acquire`), or emptied the seat under the lock;
//! so its decrement comes after the thief's increment. A searching member owns nothing, and its seat is empty and stays
//! empty, since only the owner adds. So `busy` = 0 means that no entry exists, and none can come to be. A member that joins after
//! that sees `over`.
//!
//! # Members leave and come again
//!
//! A member that has searched for 30 us without success leaves the run's job, and its thread is free for other work: a
//! worker returns to its run, and a thread of the pool sleeps. The thread that has opened the job waits in the runtime
//! meanwhile. A member that shares entries, and a thief that leaves some in a seat, asks for members again
//! ([`call_members`](thalweg_runtime::call_members)). The runtime calls one, and each that joins calls the next as long as
//! none has left.
//!
//! *The race.* A member leaves just as another one shares entries, and no member comes for these.
//!
//! *Why it cannot happen.* The runtime stops members from joining when one leaves, and then asks [`Executor::has_work`]; the
//! member that shares stores the length of its seat first, and then asks for members. One of the two sees the other: the
//! proof and its models are with the runtime's jobs (`team::arena`).
//!
//! What a member has for itself is kept while it is absent ([`kept`]): its counts, its search, and memory for its next nodes.
//!
//! # Failures
//!
//! A task that fails, or panics, sets `over`. Each member reads it before its next task, leaves, and drops what it
//! owns; the executor's drop does so with the seats.

#[cfg(not(loom))]
mod cost;
mod kept;
#[cfg(all(test, loom))]
mod models;

#[cfg(not(loom))]
pub use cost::time_per_steal;
pub(crate) use kept::{Ended, run};
pub(crate) use thalweg_runtime::deque::Owned;

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering, lock};
use crate::team::call_members;
use std::panic::{AssertUnwindSafe, catch_unwind};
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{ColourSet, Search};
use thalweg_runtime::deque::Seat;
use thalweg_runtime::{MemberCounts, SpinBudget, into_message};

/// A task has failed: the run ends early.
#[derive(Debug)]
pub(crate) struct Stop;

/// What the entries of a run mean.
pub(crate) trait Work: Sync {
    /// An entry.
    type Entry: Send;
    /// What a member has for itself during a run.
    type Local;

    /// Executes an entry. Tasks that may be executed now are pushed to `owned`, or returned: that one is the next.
    fn execute(
        &self,
        entry: Self::Entry,
        local: &mut Self::Local,
        owned: &mut Owned<Self::Entry>,
    ) -> Result<Option<Self::Entry>, Stop>;

    /// What a member has counted.
    fn counts(local: &Self::Local) -> MemberCounts;

    /// Whether a coloured attempt for these colours may take the entry. Called under a lock, so it calls no user code.
    fn fits(&self, entry: &Self::Entry, colours: &ColourSet) -> bool;
}

/// What the members of one run share.
pub(crate) struct Executor<T> {
    over: Over,
    busy: AtomicUsize,
    seats: Box<[Seat<T>]>,
    seeds: Mutex<Option<Vec<T>>>,
}

/// Whether all is done, or the run has failed; on a cache line that is written once.
#[repr(align(128))]
struct Over(AtomicBool);

impl<T: Send> Executor<T> {
    /// A run that begins with these entries, the last one first.
    pub(crate) fn new(members: usize, seeds: Vec<T>) -> Executor<T> {
        Executor {
            over: Over(AtomicBool::new(false)),
            busy: AtomicUsize::new(1),
            seats: (0..members).map(|_| Seat::new()).collect(),
            seeds: Mutex::new(Some(seeds)),
        }
    }

    /// Executes entries until none is found, or the run has failed. A panic of a task ends the run, and its
    /// message is returned.
    pub(crate) fn member<W: Work<Entry = T>>(
        &self,
        work: &W,
        local: &mut W::Local,
        thief: &mut Thief,
    ) -> Result<(), String> {
        let ended = catch_unwind(AssertUnwindSafe(|| self.begin(work, local, thief)));
        match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Stop)) => {
                self.end();
                Ok(())
            }
            Err(panic) => {
                self.end();
                Err(into_message(panic))
            }
        }
    }

    /// Whether there are entries that a member could steal.
    pub(crate) fn has_work(&self) -> bool {
        !self.is_over() && self.seats.iter().any(|seat| !seat.is_empty())
    }

    /// Whether all entries were executed, or the run has failed.
    fn is_over(&self) -> bool {
        self.over.0.load(Ordering::Acquire)
    }

    /// Ends the run for all members.
    fn end(&self) {
        self.over.0.store(true, Ordering::Release);
    }

    fn begin<W: Work<Entry = T>>(
        &self,
        work: &W,
        local: &mut W::Local,
        thief: &mut Thief,
    ) -> Result<(), Stop> {
        let seeds = lock(&self.seeds).take();
        if let Some(seeds) = seeds {
            thief.search.stole();
            return self.work(work, local, thief, Owned::new(seeds, self.seats.len() == 1), None);
        }
        let mut owned = Owned::new(Vec::new(), false);
        match self.search(work, thief, &mut owned) {
            Some(first) => self.work(work, local, thief, owned, Some(first)),
            None => Ok(()),
        }
    }

    fn work<W: Work<Entry = T>>(
        &self,
        work: &W,
        local: &mut W::Local,
        thief: &mut Thief,
        mut owned: Owned<T>,
        mut next: Option<T>,
    ) -> Result<(), Stop> {
        let seat = &self.seats[thief.me];
        loop {
            let entry = match next.take().or_else(|| owned.pop()) {
                Some(entry) => entry,
                None => match self.acquire(work, thief, &mut owned) {
                    Some(entry) => entry,
                    None => return Ok(()),
                },
            };
            if !owned.alone {
                // Relaxed: the run has failed, if it is over while this member has an entry.
                if self.over.0.load(Ordering::Relaxed) {
                    return Ok(());
                }
                if seat.wants(&owned) {
                    seat.share(&mut owned);
                    call_members();
                }
            }
            next = work.execute(entry, local, &mut owned)?;
        }
    }

    /// The next entry of a member that owns none; `None` if none is found.
    #[cold]
    fn acquire<W: Work<Entry = T>>(&self, work: &W, thief: &mut Thief, owned: &mut Owned<T>) -> Option<T> {
        self.seats[thief.me].take_back(owned);
        if let Some(entry) = owned.pop() {
            return Some(entry);
        }
        if self.busy.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.end();
            return None;
        }
        self.search(work, thief, owned)
    }

    /// Steals an entry; `None` at the end of the run, and after 30 us without success. The member is not busy before.
    fn search<W: Work<Entry = T>>(&self, work: &W, thief: &mut Thief, owned: &mut Owned<T>) -> Option<T> {
        let mut budget = SpinBudget::default();
        while !self.is_over() {
            for _ in 0..self.seats.len() {
                if let Some((entry, are_left)) = self.attempt(work, thief, owned) {
                    if are_left {
                        call_members();
                    }
                    return Some(entry);
                }
            }
            if budget.is_spent() {
                return None;
            }
        }
        None
    }

    /// One attempt to steal.
    fn attempt<W: Work<Entry = T>>(
        &self,
        work: &W,
        thief: &mut Thief,
        owned: &mut Owned<T>,
    ) -> Option<(T, bool)> {
        let Thief { search, random, counts, .. } = thief;
        let attempt = search.next(&mut || random.number());
        let colours = attempt.level.map(|level| &search.place().levels()[level]);
        let fits = |entry: &T| colours.is_none_or(|colours| work.fits(entry, colours));
        let taken = || _ = self.busy.fetch_add(1, Ordering::AcqRel);
        let stolen = self.seats[attempt.victim].steal(owned, usize::MAX, fits, taken);
        counts.attempt(attempt.level.is_some(), stolen.is_some());
        match stolen {
            Some(_) => search.stole(),
            None => search.failed(),
        }
        stolen
    }
}

/// A member as a thief.
pub(crate) struct Thief {
    me: usize,
    search: Search,
    random: XorShift,
    counts: MemberCounts,
}

impl Thief {
    pub(crate) fn new(me: usize, search: Search, random: XorShift) -> Thief {
        Thief { me, search, random, counts: MemberCounts::default() }
    }
}
