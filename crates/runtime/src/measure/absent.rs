//! What the other modules need of `recorder` where the feature `timeline` is off: no thread has one.
//!
//! No value of the type exists, so the compiler leaves out what would be done with one.

use super::clock::{Scale, Ticks};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_policy as policy;
use thalweg_trace::{Track, What};

#[derive(Debug)]
pub(crate) enum Recorder {}

impl Recorder {
    pub(crate) fn new(_capacity: usize) -> Option<Recorder> {
        None
    }

    #[cfg(not(loom))]
    pub(crate) fn is_empty(&self) -> bool {
        match *self {}
    }

    pub(crate) fn add(&mut self, _at: Ticks, _what: What) {
        match *self {}
    }

    #[cfg(not(loom))]
    pub(crate) fn move_to(&mut self, _to: &mut Recorder, _moves: impl Fn(&What) -> bool) {
        match *self {}
    }

    pub(crate) fn activation(
        &mut self,
        _node: NodeId,
        _fired: usize,
        _event: policy::Event,
        _span: (Ticks, Ticks),
    ) {
        match *self {}
    }

    pub(crate) fn fill(&mut self, _at: Ticks, _channel: ChannelId, _items: usize) {
        match *self {}
    }

    pub(crate) fn track(self, _name: String, _began: Ticks, _scale: Scale) -> Track {
        match self {}
    }
}
