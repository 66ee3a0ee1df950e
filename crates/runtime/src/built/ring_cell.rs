//! The ring of a channel that is under construction: both ends hold its cell, which is set when the run is prepared.
//!
//! An end asks the cell for the ring of its side, the producer's or the consumer's. Both are one ring, unless the channel
//! has been divided since the ends were made.

use crate::build::LimitEnd;
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
/// | empty | unset | `new` | `make`, when the run is prepared; `join`, for a stream that closes a feedback channel; `divide` |
/// | made | the ring | `make` | never |
/// | joined | the feedback channel's cell | `join` | never; the ring is found there |
/// | divided | the cells of two channels | `divide` | never; each side's ring is found in the cell of its channel |
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
    /// The cells of two channels: the producer pushes to the first, and the consumer pops from the second.
    Two(Box<[Arc<RingCell<T>>; 2]>),
}

/// An end of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Producer,
    Consumer,
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

    /// Divides the channel, whose ring is not made, into two: the producer's side leads to the ring of `front` from now on,
    /// and the consumer's to that of `back`. Both get the function that weighs items; the initial items go to the one at
    /// the side `outer`.
    pub(crate) fn divide(&self, front: Arc<RingCell<T>>, back: Arc<RingCell<T>>, outer: Side) {
        if let Some(mut arguments) = lock(&self.arguments).take() {
            let items = match outer {
                Side::Producer => &front,
                Side::Consumer => &back,
            };
            for cell in [&front, &back] {
                lock(&cell.arguments).get_or_insert_default().weigh = arguments.weigh.clone();
            }
            lock(&items.arguments).get_or_insert_default().initial = std::mem::take(&mut arguments.initial);
        }
        let _ = self.joined.set(Joined::Two(Box::new([front, back])));
    }

    /// The channel of a side and its ring, which are made.
    fn made(&self, side: Side) -> (ChannelId, &Arc<Ring<T>>) {
        match self.joined.get().expect("rings are made before nodes") {
            Joined::Ring(id, ring) => (*id, ring),
            Joined::Feedback(other) => other.made(side),
            Joined::Two(cells) => match side {
                Side::Producer => cells[0].made(side),
                Side::Consumer => cells[1].made(side),
            },
        }
    }

    /// The ring of an end. For makers of ports: all rings are made before the first node.
    pub(crate) fn ring(&self, side: Side) -> Arc<Ring<T>> {
        self.made(side).1.clone()
    }

    /// The channel of an end. For makers of ports, like `ring`.
    pub(crate) fn id(&self, side: Side) -> ChannelId {
        self.made(side).0
    }
}

/// A ring without its item type: its counters, and its growth.
pub(crate) type MadeRing<'env> = (Arc<Meter>, Arc<dyn Grow + 'env>);

/// Makes the ring of a channel whose item type the caller does not know.
pub(crate) trait MakeRing<'env>: LimitEnd<'env> + Send + Sync {
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
