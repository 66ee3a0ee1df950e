//! The ring of a channel that is under construction: both ends hold its cell, which is set when the run is prepared.

use crate::channel::{Grow, Layout, Meter, NoMemory, Ring, Sizes, Weigh};
use crate::contain::drop_each;
use crate::sync::{Mutex, lock};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use thalweg_graph::ChannelId;

/// A cell for a channel's ring, and the arguments with which the ring will be made.
///
/// | state | `joined` | entered by | left by |
/// |---|---|---|---|
/// | empty | unset | `new` | `make`, when the run is prepared; `join`, for a stream that closes a feedback channel |
/// | made | the ring | `make` | never |
/// | joined | the feedback channel's cell | `join` | never; the ring is found there |
pub(crate) struct RingCell<T> {
    /// `None` for most channels, which have neither initial items nor a weighing function.
    arguments: Mutex<Option<Box<Arguments<T>>>>,
    joined: OnceLock<Joined<T>>,
}

/// The arguments with which the ring will be made.
struct Arguments<T> {
    weigh: Option<Weigh<T>>,
    initial: VecDeque<T>,
}

impl<T> Drop for Arguments<T> {
    fn drop(&mut self) {
        drop_each(std::mem::take(&mut self.initial));
    }
}

impl<T> Default for Arguments<T> {
    fn default() -> Arguments<T> {
        Arguments { weigh: None, initial: VecDeque::new() }
    }
}

/// See the states of [`RingCell`].
enum Joined<T> {
    /// The ring is made.
    Ring(ChannelId, Arc<Ring<T>>),
    /// The cell of a feedback channel, whose ring this one shares.
    Feedback(Arc<RingCell<T>>),
}

impl<T> std::fmt::Debug for RingCell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RingCell")
    }
}

impl<T> RingCell<T> {
    /// An empty cell, for a channel with these initial items.
    pub(crate) fn new(initial: VecDeque<T>) -> Arc<RingCell<T>> {
        let arguments = (!initial.is_empty()).then(|| Box::new(Arguments { weigh: None, initial }));
        Arc::new(RingCell { arguments: Mutex::new(arguments), joined: OnceLock::new() })
    }

    /// Sets the function that weighs items, and returns the one before. The caller drops that outside of locks.
    pub(crate) fn set_weigh(&self, weigh: Option<Weigh<T>>) -> Option<Weigh<T>> {
        std::mem::replace(&mut lock(&self.arguments).get_or_insert_default().weigh, weigh)
    }

    /// Whether a function that weighs items is set.
    pub(crate) fn weighs(&self) -> bool {
        lock(&self.arguments).as_ref().is_some_and(|arguments| arguments.weigh.is_some())
    }

    /// Makes this the producer's side of a feedback channel: from now on the cell leads to that channel's ring.
    pub(crate) fn join(&self, feedback: Arc<RingCell<T>>) {
        let _ = self.joined.set(Joined::Feedback(feedback));
    }

    /// The channel and its ring, which are made.
    fn made(&self) -> (ChannelId, &Arc<Ring<T>>) {
        match self.joined.get().expect("rings are made before nodes") {
            Joined::Ring(id, ring) => (*id, ring),
            Joined::Feedback(other) => other.made(),
        }
    }

    /// The ring. For makers of ports: all rings are made before the first node.
    pub(crate) fn ring(&self) -> Arc<Ring<T>> {
        self.made().1.clone()
    }

    /// The channel. For makers of ports, like `ring`.
    pub(crate) fn id(&self) -> ChannelId {
        self.made().0
    }
}

/// A ring without its item type: its counters, and its growth.
pub(crate) type MadeRing<'env> = (Arc<Meter>, Arc<dyn Grow + 'env>);

/// Makes the ring of a channel whose item type the caller does not know.
pub(crate) trait MakeRing<'env>: Send + Sync {
    /// Makes the ring of channel `id`. Called once, while a run is prepared.
    ///
    /// # Errors
    /// The system has no memory for it.
    fn make(&self, id: ChannelId, sizes: Sizes, layout: Layout) -> Result<MadeRing<'env>, NoMemory>;
}

impl<'env, T: Send + 'env> MakeRing<'env> for RingCell<T> {
    fn make(&self, id: ChannelId, sizes: Sizes, layout: Layout) -> Result<MadeRing<'env>, NoMemory> {
        let mut arguments = lock(&self.arguments).take().unwrap_or_default();
        let (weigh, initial) = (arguments.weigh.take(), std::mem::take(&mut arguments.initial));
        let ring = Arc::new(Ring::new(sizes, layout, initial, weigh)?);
        let _ = self.joined.set(Joined::Ring(id, ring.clone()));
        Ok((ring.meter.clone(), ring))
    }
}
