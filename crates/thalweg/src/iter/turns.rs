//! An iterator that two threads call in turns: the thread of the run's source, and the thread that takes the results.
//!
//! Where items are short, the caller alone may be faster than the run, since no item crosses ([`results`](super::results)
//! measures that). The source waits meanwhile, as in an iterator that blocks, and looks every [`NAP`] whether the caller goes
//! on.
//!
//! | the turn is | the iterator is | becomes | by |
//! |---|---|---|---|
//! | the run's | in the slot until the source's next call, then in [`Source`] | offered | the source, before its next item, if [`Control::recall`] was called. It passes [`Stop::Turn`] behind the items before |
//! | offered | in the slot | the caller's | [`Control::accept`], when the caller gets [`Stop::Turn`] |
//! | offered, the caller's | in the slot | the run's | [`Control::hand_over`]; the source, if the caller has made no progress for a [`NAP`] and is not in the iterator |
//! | offered, the caller's | in the slot | over | the caller: the iterator has ended or panicked, or no more results are wanted |
//! | over | in the slot until the source drops it | | |
//!
//! Order: the caller takes an item only in its turn, which begins with [`Stop::Turn`]. Before that, all earlier items were
//! passed on as results, in order. Items of a later turn of the run come after all items of the caller's turn, since a turn
//! ends under the lock; and the caller returns the results of its own items before it reads the run's again. The source may
//! take back a turn that it has offered; then the caller finds at [`Stop::Turn`] that the turn is the run's, and reads on.
//!
//! Liveness: the caller waits for the run only while the turn is the run's, or offered behind results that are under way. While
//! it is the caller's, the caller may be in the iterator (then no result is under way, as in a loop), in the function, or
//! outside of `next`. The function, on either thread, or the caller may wait for a later item: the source then takes the turn
//! at the latest after two naps.
//!
//! In a child of `fork` there is no source, which may have held the lock at the fork. The caller then gets no more turns, and
//! its outlet says why.

use super::stage::{Caught, Stop, caught};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::Thread;
use std::time::Duration;
use thalweg_runtime::{drop_quietly, generation};

/// The time between two looks of the source.
const NAP: Duration = Duration::from_millis(1);

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Run,
    Offered,
    Caller,
    Over,
}

#[derive(Debug)]
struct Slot<I> {
    turn: Turn,
    /// `None` while the source has the iterator, or has dropped it.
    items: Option<I>,
    /// The thread that waits for the run's turn.
    source: Option<Thread>,
}

/// The iterator and its turns. See the module.
#[derive(Debug)]
pub(crate) struct Turns<I> {
    slot: Mutex<Slot<I>>,
    /// The caller wants the turn. A hint: the slot decides.
    recalled: AtomicBool,
    /// Rises with each item that the caller takes in its turn, and with some results before that. A hint, by which the source
    /// sees that the caller goes on.
    progress: AtomicU64,
    /// The generation of the process that has the source, once it has begun.
    generation: AtomicUsize,
}

/// What the caller gets in its turn.
pub(crate) enum Taken<T> {
    Item(Caught<T>),
    /// The iterator has ended.
    End,
    /// It is not the caller's turn.
    NotMine,
}

/// The turns, without the type of the iterator.
pub(crate) trait Control {
    /// Asks the source for the turn.
    fn recall(&self);
    /// The caller still gets results while the turn is being offered.
    fn note_progress(&self);
    /// Takes the turn that [`Stop::Turn`] offers; false if the source has taken it back.
    fn accept(&self) -> bool;
    /// Gives the turn to the run, if it is the caller's.
    fn hand_over(&self);
    /// Ends the run's wait for its turn: no more results are wanted.
    fn end(&self);
}

impl<I: Iterator> Turns<I> {
    /// The first turn is the run's.
    pub(crate) fn new(items: I) -> Arc<Turns<I>> {
        let slot = Slot { turn: Turn::Run, items: Some(items), source: None };
        Arc::new(Turns {
            slot: Mutex::new(slot),
            recalled: AtomicBool::new(false),
            progress: AtomicU64::new(0),
            generation: AtomicUsize::new(generation()),
        })
    }

    /// `None` if the thread that holds the lock does not exist in this process. The source holds it, since the caller asks.
    #[inline]
    fn lock(&self) -> Option<MutexGuard<'_, Slot<I>>> {
        match self.slot.try_lock() {
            Ok(slot) => Some(slot),
            Err(TryLockError::Poisoned(slot)) => Some(slot.into_inner()),
            Err(TryLockError::WouldBlock) if self.generation.load(Ordering::Relaxed) != generation() => None,
            Err(TryLockError::WouldBlock) => Some(self.slot.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// Ends the caller's turn, or the offer of it.
    fn pass(mut slot: MutexGuard<'_, Slot<I>>, to: Turn) {
        if matches!(slot.turn, Turn::Caller | Turn::Offered) {
            slot.turn = to;
            if let Some(source) = slot.source.take() {
                source.unpark();
            }
        }
    }

    /// The caller takes an item, in its turn.
    #[inline]
    pub(crate) fn take(&self) -> Taken<I::Item> {
        let Some(mut slot) = self.lock() else { return Taken::NotMine };
        if slot.turn != Turn::Caller {
            return Taken::NotMine;
        }
        let items = slot.items.as_mut().expect("in the caller's turn the iterator is in the slot");
        match caught("iterator", || items.next()) {
            Ok(Some(item)) => {
                drop(slot);
                self.note_progress();
                Taken::Item(Ok(item))
            }
            Ok(None) => {
                Self::pass(slot, Turn::Over);
                Taken::End
            }
            Err(failure) => {
                Self::pass(slot, Turn::Over);
                Taken::Item(Err(failure))
            }
        }
    }

    /// Waits for the run's turn and takes the iterator; `None` if the run gets no turn any more.
    fn wait(&self) -> Option<I> {
        // A child of `fork` may begin what its parent has made.
        self.generation.store(generation(), Ordering::Relaxed);
        let mut seen = None;
        loop {
            match self.slot.try_lock() {
                Ok(mut slot) => match slot.turn {
                    Turn::Run => return slot.items.take(),
                    Turn::Over => {
                        let items = slot.items.take();
                        drop(slot);
                        drop(items); // if this panics, the node fails
                        return None;
                    }
                    Turn::Offered | Turn::Caller => {
                        let now = self.progress.load(Ordering::Relaxed);
                        if seen.replace(now) == Some(now) {
                            slot.turn = Turn::Run;
                            return slot.items.take();
                        }
                        slot.source.get_or_insert_with(std::thread::current);
                    }
                },
                // The caller is in the iterator.
                Err(TryLockError::WouldBlock) => seen = None,
                Err(TryLockError::Poisoned(_)) => return None, // not possible: panics of the iterator are caught
            }
            std::thread::park_timeout(NAP);
        }
    }
}

impl<I: Iterator> Control for Turns<I> {
    fn recall(&self) {
        self.recalled.store(true, Ordering::Relaxed);
    }

    fn note_progress(&self) {
        // Only the caller writes it.
        self.progress.store(self.progress.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn accept(&self) -> bool {
        let Some(mut slot) = self.lock() else { return false };
        if slot.turn == Turn::Offered {
            slot.turn = Turn::Caller;
        }
        slot.turn == Turn::Caller
    }

    fn hand_over(&self) {
        if let Some(slot) = self.lock() {
            Self::pass(slot, Turn::Run);
        }
    }

    fn end(&self) {
        if let Some(slot) = self.lock() {
            Self::pass(slot, Turn::Over);
        }
    }
}

impl<I> Drop for Turns<I> {
    /// No run is left that a panic of the iterator's drop could fail.
    fn drop(&mut self) {
        drop_quietly(self.slot.get_mut().unwrap_or_else(PoisonError::into_inner).items.take());
    }
}

/// The items of the run's turns.
#[derive(Debug)]
pub(crate) struct Source<I> {
    turns: Arc<Turns<I>>,
    items: Option<I>,
    over: bool,
}

impl<I: Iterator> Source<I> {
    pub(crate) fn new(turns: Arc<Turns<I>>) -> Source<I> {
        Source { turns, items: None, over: false }
    }

    /// Gives the turn to the caller.
    #[cold]
    fn give_back(&mut self) {
        self.turns.recalled.store(false, Ordering::Relaxed);
        if let Some(mut slot) = self.turns.lock() {
            (slot.turn, slot.items) = (Turn::Offered, self.items.take());
        }
    }
}

impl<I: Iterator> Iterator for Source<I> {
    type Item = Caught<I::Item>;

    #[inline]
    fn next(&mut self) -> Option<Caught<I::Item>> {
        if self.over {
            return None;
        }
        if self.items.is_none() {
            self.items = self.turns.wait();
        }
        let Some(items) = &mut self.items else {
            self.over = true;
            return None;
        };
        if self.turns.recalled.load(Ordering::Relaxed) {
            self.give_back();
            return Some(Err(Box::new(Stop::Turn)));
        }
        let next = caught("iterator", || items.next()).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the source offer the turn.
    fn offer(turns: &Turns<std::ops::Range<u64>>, source: &mut Source<std::ops::Range<u64>>) {
        turns.recall();
        let next = source.next().expect("no end");
        assert!(matches!(*next.expect_err("no item"), Stop::Turn));
    }

    fn take(turns: &Turns<std::ops::Range<u64>>) -> Option<u64> {
        match turns.take() {
            Taken::Item(item) => Some(item.expect("no failure")),
            Taken::End | Taken::NotMine => None,
        }
    }

    #[test]
    fn each_item_is_in_one_turn() {
        let turns = Turns::new(0..10);
        let mut source = Source::new(turns.clone());
        assert!(matches!(turns.take(), Taken::NotMine));
        assert_eq!([source.next(), source.next()].map(|item| item.unwrap().unwrap()), [0, 1]);
        offer(&turns, &mut source);
        assert!(turns.accept());
        assert_eq!([take(&turns), take(&turns)], [Some(2), Some(3)]);
        turns.hand_over();
        assert!(matches!(turns.take(), Taken::NotMine));
        assert_eq!(source.next().unwrap().unwrap(), 4);
        offer(&turns, &mut source);
        assert!(turns.accept());
        assert!(std::iter::from_fn(|| take(&turns)).eq(5..10));
        assert!(source.next().is_none() && source.next().is_none());
    }

    #[test]
    fn the_source_goes_on_if_the_caller_does_not() {
        let turns = Turns::new(0..4);
        let mut source = Source::new(turns.clone());
        offer(&turns, &mut source);
        assert!(turns.accept());
        assert_eq!(take(&turns), Some(0));
        assert_eq!(source.next().unwrap().unwrap(), 1);
        assert!(matches!(turns.take(), Taken::NotMine));
    }

    #[test]
    fn an_offer_may_be_taken_back() {
        let turns = Turns::new(0..4);
        let mut source = Source::new(turns.clone());
        offer(&turns, &mut source);
        assert_eq!(source.next().unwrap().unwrap(), 0);
        assert!(!turns.accept() && matches!(turns.take(), Taken::NotMine));
    }

    #[test]
    fn the_end_of_the_results_ends_the_wait() {
        let turns = Turns::new(0..4);
        let mut source = Source::new(turns.clone());
        offer(&turns, &mut source);
        assert!(turns.accept());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(move || source.next().is_none());
            turns.end();
            assert!(waiting.join().unwrap());
        });
        assert!(turns.lock().expect("this process's").items.is_none(), "the source has dropped it");
    }

    /// As in a child of `fork`, if the source held the lock in the parent.
    #[test]
    fn a_lock_that_no_thread_releases_is_not_waited_for() {
        let turns = Turns::new(0..4);
        turns.generation.store(generation() + 1, Ordering::Relaxed);
        let _held = turns.slot.lock().unwrap();
        assert!(matches!(turns.take(), Taken::NotMine));
        turns.hand_over();
        turns.end();
    }
}
