//! Where the two ends of a channel find their ring, once it is made.

use crate::channel::{Grow, Layout, Meter, Ring, Sizes, Weigh};
use crate::sync::{Mutex, lock};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use thalweg_graph::ChannelId;

/// A channel's place for its ring, and what the ring is made with.
pub(crate) struct RingCell<T> {
    given: Mutex<Option<Box<Given<T>>>>,
    joined: OnceLock<Joined<T>>,
}

/// What a channel is given beforehand; most are given nothing.
struct Given<T> {
    weigh: Option<Weigh<T>>,
    initial: VecDeque<T>,
}

impl<T> Default for Given<T> {
    fn default() -> Given<T> {
        Given { weigh: None, initial: VecDeque::new() }
    }
}

enum Joined<T> {
    /// The ring is made.
    Ring(ChannelId, Arc<Ring<T>>),
    /// To a feedback channel, whose ring it shares.
    Feedback(Arc<RingCell<T>>),
}

impl<T> std::fmt::Debug for RingCell<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RingCell")
    }
}

impl<T> RingCell<T> {
    pub(super) fn new(initial: VecDeque<T>) -> Arc<RingCell<T>> {
        let given = (!initial.is_empty()).then(|| Box::new(Given { weigh: None, initial }));
        Arc::new(RingCell { given: Mutex::new(given), joined: OnceLock::new() })
    }

    /// Sets what weighs an item, and gives back what did before.
    pub(super) fn set_weigh(&self, weigh: Option<Weigh<T>>) -> Option<Weigh<T>> {
        std::mem::replace(&mut lock(&self.given).get_or_insert_default().weigh, weigh)
    }

    pub(super) fn weighs(&self) -> bool {
        lock(&self.given).as_ref().is_some_and(|given| given.weigh.is_some())
    }

    /// Makes this the producer's side of a feedback channel.
    pub(super) fn join(&self, feedback: Arc<RingCell<T>>) {
        let _ = self.joined.set(Joined::Feedback(feedback));
    }

    fn made(&self) -> (ChannelId, &Arc<Ring<T>>) {
        match self.joined.get().expect("rings are made before nodes") {
            Joined::Ring(id, ring) => (*id, ring),
            Joined::Feedback(other) => other.made(),
        }
    }

    pub(crate) fn ring(&self) -> Arc<Ring<T>> {
        self.made().1.clone()
    }

    pub(crate) fn id(&self) -> ChannelId {
        self.made().0
    }
}

/// A ring's counters and the way to make it grow.
pub(crate) type MadeRing<'env> = (Arc<Meter>, Arc<dyn Grow + 'env>);

/// Makes the ring of a channel, whatever its item type.
pub(crate) trait MakeRing<'env>: Send + Sync {
    fn make(&self, id: ChannelId, sizes: Sizes, layout: Layout) -> MadeRing<'env>;
}

impl<'env, T: Send + 'env> MakeRing<'env> for RingCell<T> {
    fn make(&self, id: ChannelId, sizes: Sizes, layout: Layout) -> MadeRing<'env> {
        let Given { weigh, initial } = lock(&self.given).take().map_or_else(Given::default, |given| *given);
        let ring = Arc::new(Ring::new(sizes, layout, initial, weigh));
        let _ = self.joined.set(Joined::Ring(id, ring.clone()));
        (ring.meter.clone(), ring)
    }
}
