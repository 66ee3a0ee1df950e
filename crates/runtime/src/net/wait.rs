//! The word that says what a node waits for.
//!
//! # Protocol
//!
//! An activation that cannot go on, or that sees as it ends that the next one could not, writes the one thing that is
//! lacking into its node's [`Wait`], before it releases the claim. From then on the node is claimable exactly when that
//! thing has come, which any thread can read off the channel's counters.
//!
//! | the word says | it becomes claimable when |
//! |---|---|
//! | ready | at once |
//! | items, room | the counter of the channel's other end reaches `until`, or that end leaves |
//! | bytes | the channel holds fewer bytes than its limit |
//! | window | `until` tickets are retired |
//! | any | one of the inputs in the mask has an item or has ended |
//! | foreign | the node's alert is set, by a waker outside of the graph |
//! | never | never: the node has ended |
//!
//! A thread whose claim is refused, or that reads the word while it is written, gets a wrong answer for a moment. No
//! wake-up is lost by that: the thread that holds the claim and writes the word is awake, and looks at every node
//! once more before it sleeps.

use crate::channel::Lack;
use crate::channel::operation::{channel, sends};
use crate::sync::{AtomicUsize, Ordering};
use thalweg_graph::ChannelId;

const READY: usize = 0;
const ITEMS: usize = 1;
const ROOM: usize = 2;
const BYTES: usize = 3;
const WINDOW: usize = 4;
const ANY: usize = 5;
/// The node has ended.
const NEVER: usize = 6;
/// Code outside of the graph will set the node's alert.
const FOREIGN: usize = 7;

/// The wait word of a process that the operation at the other end of a channel serves.
#[inline]
pub(super) fn waited_by(operation: u64) -> u64 {
    let kind = if sends(operation) { ITEMS } else { ROOM };
    kind as u64 | u64::from(channel(operation).0) << 3
}

/// What a node waits for, packed so that any thread may read it.
#[derive(Debug)]
pub(crate) struct Wait {
    /// Kind in the low three bits, channel above.
    pub(super) what: AtomicUsize,
    pub(super) until: AtomicUsize,
}

impl Wait {
    pub(super) fn new() -> Wait {
        Wait { what: AtomicUsize::new(READY), until: AtomicUsize::new(0) }
    }

    #[inline]
    fn set(&self, kind: usize, channel: usize, until: usize) {
        self.until.store(until, Ordering::Relaxed);
        self.what.store(kind | channel << 3, Ordering::Release);
    }

    pub(crate) fn ready(&self) {
        if self.what.load(Ordering::Relaxed) != READY {
            self.set(READY, 0, 0);
        }
    }

    pub(crate) fn never(&self) {
        self.set(NEVER, 0, 0);
    }

    /// Waits for code outside of the graph.
    pub(crate) fn foreign(&self) {
        self.set(FOREIGN, 0, 0);
    }

    /// Waits until that many tickets are retired.
    pub(crate) fn window(&self, retired: usize) {
        self.set(WINDOW, 0, retired);
    }

    #[inline]
    pub(crate) fn lack(&self, lack: Lack) {
        match lack {
            Lack::Items { channel, until } => self.set(ITEMS, channel.index(), until),
            Lack::Room { channel, until } => self.set(ROOM, channel.index(), until),
            Lack::Bytes { channel } => self.set(BYTES, channel.index(), 0),
            Lack::Any { inputs } => self.set(ANY, 0, inputs as usize),
            Lack::Ended { .. } => self.ready(),
        }
    }

    /// The wait as words, for messages and for the search for cycles.
    #[inline]
    pub(crate) fn read(&self) -> Waiting {
        let what = self.what.load(Ordering::Acquire);
        let until = self.until.load(Ordering::Relaxed);
        let channel = ChannelId((what >> 3) as u32);
        match what & 7 {
            ITEMS => Waiting::Items { channel, until },
            ROOM => Waiting::Room { channel, until },
            BYTES => Waiting::Bytes { channel },
            WINDOW => Waiting::Window { retired: until },
            ANY => Waiting::Any { inputs: until as u64 },
            NEVER => Waiting::Never,
            FOREIGN => Waiting::Foreign,
            _ => Waiting::Ready,
        }
    }
}

/// A wait, unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    Ready,
    Items { channel: ChannelId, until: usize },
    Room { channel: ChannelId, until: usize },
    Bytes { channel: ChannelId },
    Window { retired: usize },
    Any { inputs: u64 },
    Never,
    Foreign,
}
