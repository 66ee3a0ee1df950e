//! The open jobs of a team: how a thread lends a job, and how others join it.
//!
//! A *slot* holds a job while its caller is in [`Arena::run`]. Other members of the team *join* it: each calls the job,
//! and leaves. A call returns when nothing is left that another thread could begin, so the first one that returns
//! closes the job: no member joins. A thread inside of a call may open the job again ([`Arena::ask`]) when its work has
//! grown. The caller waits for those that have joined, and calls the job once more whenever it is open. A job that finds no
//! free slot is its caller's alone.
//!
//! # States of a slot
//!
//! `word` has the flags and the number of helpers, members that have joined and not left.
//!
//! | slot is | flags | helpers | entered by | left by |
//! |---|---|---|---|---|
//! | free | none | 0 | its caller, after the last helper has left | a caller, by compare-and-swap (taken) |
//! | taken | `TAKEN` | 0 | a caller | the same caller, which has stored the job (open) |
//! | open | `TAKEN`, `OPEN` | any | the caller; a thread in a call, by `ask`; members join and leave | the caller, or a helper before it leaves (closed) |
//! | closed | `TAKEN`; `WAITED`, if the caller sleeps | any; none joins | the caller, a helper | the caller, when it reads 0 helpers (free); `ask` (open) |
//!
//! A slot without helpers that is closed stays so until its caller frees it: `ask` is called inside of calls alone, so by
//! the caller itself or by a helper.
//!
//! # A helper that its run recalls
//!
//! A worker's own run may have work for it while it helps ([`Recall`]). Its part returns then with work left. It closes the
//! job and opens it again, as every thread does that sees work after its part, but leaves in place of another call. So the
//! job is open without this helper, possibly without any, and the member that comes next continues it. The caller reads
//! helpers and `OPEN` at once, in one load of the word: it frees a slot only if neither is there, and executes its own part
//! again if the job is open. A helper opens the job before it leaves, so a caller that reads its absence reads `OPEN` too, or
//! the job has been closed since, by a thread that has found no work.
//!
//! # Accesses to `job`
//!
//! The caller writes it while the slot is taken, and again when no helper is left; a member reads it between its join and
//! its leaving.
//!
//! *A member reads what the caller wrote:* a join is a compare-and-swap (`Acquire`) of a word with `OPEN`, which was
//! stored `Release` after the job. Every change of the word in between is a read-modify-write, so the release sequence
//! holds. A word that has become open again (ABA) belongs to the same job or to a later one, and so does what the member reads.
//!
//! *The caller writes after the last read:* a member leaves by a `Release` subtraction, and the caller reads 0 helpers by
//! an `Acquire` load. No member joins any more, since `OPEN` is gone.
//!
//! # No lost wake-up
//!
//! *Of the caller.* It sets `WAITED` under the slot's lock, then reads the word, and waits if a helper is left. The
//! changes of one word are totally ordered. A subtraction before that of the flag is seen by the read; one after it sees
//! the flag, and its thread takes the lock, so it notifies when the caller waits or will not wait any more.
//!
//! *Of a caller that waits for work.* `ask` reads `WAITED` by the read-modify-write that sets `OPEN`, and then notifies under
//! the lock as above.
//!
//! *Of a job's work.* A call returns just as another one makes work visible, so no member is there and the job is closed.
//! One side closes the job, fences, and then checks for work ([`Lent::more`]); the other makes the work visible, fences,
//! and then opens the job if it is closed (`ask`). If `ask` finds the job open, the close comes later, and the check sees
//! the work: that thread opens the job and calls its part again.
//!
//! Of several threads whose calls return, the one whose read-modify-write closes the job clears the bit and fences. The
//! others rely on it: work that another thread makes visible later finds the job closed, so that thread's `ask` opens it. They
//! check without a fence for what they have left themselves.
//!
//! *Of members.* [`Arena::run`] sets the bit of the slot in `open`, opens the slot, fences, and then calls `opened`, which
//! wakes sleeping members; `ask` does the same. A member that goes to sleep announces this, fences, and checks [`Arena::any`] (`sched::sleep`,
//! [`super::pool`]). So one of the two sees the other.
//!
//! # The bit of a slot
//!
//! A slot's bit in `open` says whether a member may join: the word has `OPEN`, and the job is not full. Members that look for jobs
//! read the bits alone, so a bit that is missing hides a job from all members but those in it, and one that is left over lets
//! members look in vain.
//!
//! Bit and word are changed one after the other, and several threads may do so at once: one closes the job, another opens it
//! again and sets the bit, and the first one clears the bit. So each thread that has changed either fences, reads the word and then
//! the bit, and writes the bit if it differs, until it finds both in agreement ([`Arena::agree`]). If a thread misses the change of a word, it has
//! fenced before the thread that changed it, which then sees its bit. So when all are done, the bit agrees with the word.
//!
//! A helper that has left an open job does so too, if the job was full: it reads the slot when the caller may have freed it, and
//! another job may be in it. The bit is then made to agree with the word of that one, as its own threads do.
//!
//! `ask` does not change a job that is open and full. It relies on a helper that closes the job later, or on one that is about to
//! leave: that one looks for jobs again.
//!
//! *The race.* A helper closes the job, the caller asks for members, and the helper clears the bit. The helper sees the work, and
//! relies on itself, since it makes the job full; but its run recalls it. Without its last look at the word, the job was open, and no
//! member found it.
//!
//! # Why no thread waits for ever
//!
//! A caller waits only for helpers, and a helper is inside a call of the job. A job takes its work from shared state until
//! none is left and waits for nothing but jobs that it opens itself, so by induction over the depth of nested jobs every
//! call returns. While a caller waits it joins *descendants* of its job alone: jobs opened inside calls of it. These
//! end before its own job, so they neither delay it nor need the frames below them on its stack.
//!
//! A slot's number stands for its job, as long as the job is open or has helpers: a job's `ancestors` are the slots of the
//! jobs around it, and all of these outlive it.

use super::lending::{Lending, Lent, More, Part, Recall, Slots};
use super::slot::{HELPER, LIMIT, OPEN, Slot, TAKEN, WAITED, bit, has_helpers, is_full};
use crate::sync::{AtomicUsize, CachePadded, Mutex, Ordering, fence, lock};
use crate::threads::Panic;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;

/// The number of slots: of jobs that can have helpers at the same time.
const SLOTS: usize = if cfg!(loom) { 2 } else { 16 };

/// The jobs of a team that other members may join.
pub(crate) struct Arena {
    /// The slots with an open job. Members that look for work read it; what it says may be out of date.
    open: CachePadded<AtomicUsize>,
    /// Made for the first job, since most runs have none.
    slots: OnceLock<Box<[CachePadded<Slot>; SLOTS]>>,
}

impl Default for Arena {
    fn default() -> Arena {
        let arena = Arena { open: CachePadded::new(AtomicUsize::new(0)), slots: OnceLock::new() };
        // A model does not see what the lock of the slots orders.
        if cfg!(loom) {
            arena.slots();
        }
        arena
    }
}

impl Arena {
    fn slots(&self) -> &[CachePadded<Slot>; SLOTS] {
        self.slots.get_or_init(|| Box::new(std::array::from_fn(|_| CachePadded::new(Slot::new()))))
    }

    /// Whether a job is open that a member may join. A hint, unless the caller has fenced after it announced sleep.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    /// Calls `own` with the set of this job and its ancestors, and the set of this job alone, while other members may join
    /// the job; returns when those that have joined are done. Calls `own` again if the job is open then. `opened` wakes
    /// members. `helps` is called again and again by a caller that waits: it may join descendants of the job
    /// ([`Arena::help`]), and returns whether it has.
    ///
    /// # Panics
    /// With the panic of `own`, or the first one of a member, after all members have left.
    pub(crate) fn run(
        &self,
        Lending { part, more, ancestors, most }: Lending<'_>,
        opened: impl Fn(),
        own: impl Fn(Slots, Slots),
        mut helps: impl FnMut(Slots) -> bool,
    ) {
        let panic = Mutex::new(None);
        // SAFETY: the erased borrows outlive their uses. Members use them between joining and leaving, and `open` waits for
        // all of these when it is closed or dropped, after which its slot has no job. `open` is a local that is never
        // forgotten, and a local of a later declaration than what it borrows, so it is dropped before.
        let lent = unsafe {
            Lent {
                part: std::mem::transmute::<&Part<'_>, &'static Part<'static>>(part),
                more: std::mem::transmute::<&More<'_>, &'static More<'static>>(more),
                ancestors,
                panic: std::mem::transmute::<&Mutex<Option<Panic>>, &'static Mutex<Option<Panic>>>(&panic),
            }
        };
        let Some(mut open) = self.open(lent, most) else { return own(ancestors, 0) };
        loop {
            opened();
            self.calls(open.at, &|| own(ancestors | bit(open.at), bit(open.at)), more, Recall::NEVER);
            if open.close(&mut helps) {
                break;
            }
        }
        drop(open);
        if let Some(panic) = lock(&panic).take() {
            resume_unwind(panic);
        }
    }

    /// Calls a part until no work is visible, or the member's run recalls it. With work visible the job is open then;
    /// otherwise it is closed, or another thread has opened it after the part.
    fn calls(&self, at: usize, part: &dyn Fn(), more: &More<'_>, recall: Recall<'_>) {
        loop {
            part();
            self.close(at);
            if !more() {
                return;
            }
            self.ask(bit(at));
            if recall.is_requested() {
                return;
            }
        }
    }

    /// Opens a job again, by a thread in one of its calls that has made work visible; without effect if it is open. Returns
    /// whether it was not: then wake a member.
    pub(crate) fn ask(&self, job: Slots) -> bool {
        let at = job.trailing_zeros() as usize;
        let Some(slot) = self.slots().get(at) else { return false };
        fence(Ordering::SeqCst); // pairs with the fence of `close`
        let word = slot.word.load(Ordering::Relaxed);
        if word & OPEN != 0 && (is_full(word) || self.open.load(Ordering::Relaxed) & job != 0) {
            return false;
        }
        self.open.fetch_or(job, Ordering::Relaxed); // before a member can join, as in `open`
        // Release: the word continues the release sequence of `open`, by which a member has what the caller wrote.
        let before = slot.word.fetch_or(OPEN, Ordering::Release);
        if before & WAITED != 0 {
            slot.notify();
        }
        self.agree(at); // its fence pairs with that of a member that announces sleep
        true
    }

    /// Takes a free slot for a job, if there is one and members may join.
    fn open(&self, lent: Lent, most: usize) -> Option<Open<'_>> {
        let limit = most.min(LIMIT / HELPER - 1);
        let free = |slot: &CachePadded<Slot>| {
            let (from, to) = (Ordering::Acquire, Ordering::Relaxed);
            slot.word.load(Ordering::Relaxed) == 0 && slot.word.compare_exchange(0, TAKEN, from, to).is_ok()
        };
        let at = if limit == 0 { None } else { self.slots().iter().position(free) }?;
        // SAFETY: the slot is taken by this thread, so no other accesses the cell.
        self.slots()[at].job.with_mut(|job| unsafe { *job = Some(lent) });
        self.slots()[at].ancestors.store(lent.ancestors, Ordering::Relaxed);
        // Before a member can join: one that has looked at the slot earlier may join, and close, at once.
        self.open.fetch_or(bit(at), Ordering::Relaxed);
        self.slots()[at].word.store(TAKEN | OPEN | (limit * LIMIT), Ordering::Release);
        self.agree(at); // its fence pairs with that of a member that announces sleep
        Some(Open { arena: self, at, panic: lent.panic, closed: false })
    }

    /// Joins an open job, calls it with this member's number inside `enter`, and leaves. `within` are slots among whose
    /// descendants the job must be; any job may be joined if it is empty. Returns whether there was a job. A member that is
    /// recalled leaves it with work left: then [`Arena::any`] holds, and a member should be woken.
    ///
    /// `enter` gets the slots of the job and of its ancestors, the slot of the job, and the call.
    pub(crate) fn help(
        &self,
        member: usize,
        within: Slots,
        recall: Recall<'_>,
        enter: impl FnOnce(Slots, Slots, &dyn Fn()),
    ) -> bool {
        let Some(joined) = self.join(within) else { return false };
        let Lent { part, more, ancestors, panic } = joined.lent;
        let job = bit(joined.at);
        let calls = || self.calls(joined.at, &|| part(member, recall), more, recall);
        let call = || enter(ancestors | job, job, &calls);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(call)) {
            self.close(joined.at);
            match &mut *lock(panic) {
                // The drop of a payload may panic.
                Some(_) => std::mem::forget(payload),
                first => *first = Some(payload),
            }
        }
        true
    }

    /// Closes a job: no member joins. Called by its caller or by a helper. Fences, unless another thread has closed the job.
    fn close(&self, at: usize) {
        let word = &self.slots()[at].word;
        // A load first, since another thread often has closed the job. It reads no older value than that of this job: this
        // thread has seen the slot open.
        // Acquire: a thread that has opened the job again has set the bit before, and it is cleared here.
        let is_open = |word: usize| word & OPEN != 0;
        if is_open(word.load(Ordering::Relaxed)) && is_open(word.fetch_and(!OPEN, Ordering::Acquire)) {
            self.hide(at); // its fence pairs with the first one of `ask`
        }
    }

    /// Clears the bit of a slot whose word this thread has changed so that no member may join.
    fn hide(&self, at: usize) {
        if self.open.load(Ordering::Relaxed) & bit(at) != 0 {
            self.open.fetch_and(!bit(at), Ordering::Relaxed);
        }
        self.agree(at);
    }

    /// Lets the bit of a slot say whether a member may join by the slot's word. Called after each change by which this begins or
    /// ends, and after each write of the bit: see "The bit of a slot". Fences.
    fn agree(&self, at: usize) {
        loop {
            fence(Ordering::SeqCst); // pairs with itself
            let word = self.slots()[at].word.load(Ordering::Relaxed);
            let may_join = word & OPEN != 0 && !is_full(word);
            if may_join == (self.open.load(Ordering::Relaxed) & bit(at) != 0) {
                return;
            }
            match may_join {
                true => self.open.fetch_or(bit(at), Ordering::Relaxed),
                false => self.open.fetch_and(!bit(at), Ordering::Relaxed),
            };
        }
    }

    fn join(&self, within: Slots) -> Option<Joined<'_>> {
        let mut open = self.open.load(Ordering::Relaxed) & !within;
        while open != 0 {
            let at = open.trailing_zeros() as usize;
            open &= open - 1;
            let slot = &self.slots()[at];
            let is_wanted = |ancestors: Slots| within == 0 || ancestors & within != 0;
            if within != 0 && !is_wanted(slot.ancestors.load(Ordering::Relaxed)) {
                continue;
            }
            let Some(word) = slot.join() else { continue };
            // SAFETY: this thread has joined, so nothing writes the cell until it leaves.
            let lent = slot.job.with(|job| unsafe { *job });
            let joined = Joined { arena: self, at, lent: lent.expect("an open slot has a job") };
            // Another job may have become open in the slot since the hint was read. The drop leaves it.
            if !is_wanted(joined.lent.ancestors) {
                continue;
            }
            if is_full(word + HELPER) {
                self.hide(at); // This thread is the last one that may join: others need not look.
            }
            return Some(joined);
        }
        None
    }
}

/// A job that this thread has joined.
struct Joined<'a> {
    arena: &'a Arena,
    at: usize,
    lent: Lent,
}

impl Drop for Joined<'_> {
    fn drop(&mut self) {
        // Release: the caller's next write of the cell, and its return, follow what this thread has done.
        let slot = &self.arena.slots()[self.at];
        let before = slot.word.fetch_sub(HELPER, Ordering::Release);
        if before & WAITED != 0 && before % LIMIT / HELPER == 1 {
            slot.notify();
        }
        if before & OPEN != 0 && is_full(before) {
            self.arena.agree(self.at);
        }
    }
}

/// A slot with this thread's job.
struct Open<'a> {
    arena: &'a Arena,
    at: usize,
    panic: &'static Mutex<Option<Panic>>,
    closed: bool,
}

impl Open<'_> {
    /// Waits until all helpers have left, and frees the slot; false if the job is open before. The last helper may leave it
    /// open, so both are read at once.
    fn close(&mut self, helps: &mut dyn FnMut(Slots) -> bool) -> bool {
        let slot = &self.arena.slots()[self.at];
        loop {
            let word = slot.word.load(Ordering::Acquire);
            if word & OPEN != 0 {
                return false;
            }
            if !has_helpers(word) {
                break;
            }
            if !helps(bit(self.at)) {
                slot.wait(|word| has_helpers(word) && word & OPEN == 0);
            }
        }
        self.free();
        true
    }

    /// Frees a slot that is closed, and without helpers.
    fn free(&mut self) {
        let slot = &self.arena.slots()[self.at];
        self.closed = true;
        // SAFETY: no helper is left and none joins, so this thread alone accesses the cell.
        slot.job.with_mut(|job| unsafe { *job = None });
        slot.word.store(0, Ordering::Release);
    }
}

impl Drop for Open<'_> {
    /// Closes after a panic of the caller's own part.
    fn drop(&mut self) {
        if !self.closed {
            let slot = &self.arena.slots()[self.at];
            // A helper may open the job again, and leave it so: then a member may have joined before it is closed here.
            loop {
                self.arena.close(self.at);
                slot.wait(has_helpers);
                // One load: the last helper opens the job before it leaves.
                let word = slot.word.load(Ordering::Acquire);
                if word & OPEN == 0 && !has_helpers(word) {
                    break;
                }
            }
            self.free();
            // The drop of a payload may panic, and this thread panics already.
            std::mem::forget(lock(self.panic).take());
        }
    }
}
