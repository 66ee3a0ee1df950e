//! The word that says what a node waits for.
//!
//! # Protocol
//!
//! An activation that cannot continue, or that finds at its end that the next one could not, writes the one condition
//! that is not met into its node's [`Wait`], before it releases the claim. From then on the node is claimable exactly
//! when that condition is met, which any thread can derive from the channel's counters.
//!
//! | the word says | `until` holds | the condition is met when |
//! |---|---|---|
//! | ready | nothing | always |
//! | items, room | a counter value | the counter of the channel's other end reaches `until`, or that end leaves |
//! | bytes | nothing | the channel holds fewer bytes than its limit, or its consumer has left |
//! | window | a number of tickets | that many tickets are retired |
//! | timed | as of items | as of items; or its time has come, for which an alarm sets the node's alert |
//! | any | a mask of inputs | one of these inputs has an item or has ended |
//! | foreign | nothing | never by itself; a waker outside the graph sets the node's alert |
//! | never | nothing | never: the node has ended |
//!
//! An alert of the node (`NodeState::alert`) counts as any condition's being met.
//!
//! # Fields
//!
//! | field | written by | ordering |
//! |---|---|---|
//! | `until` | the thread that activates, under the claim; first | `Relaxed`, ordered by `what` |
//! | `what` | the same thread; second | `Release`; readers load it `Acquire`, and `until` afterwards |
//!
//! # The race, and why no wake-up is lost
//!
//! A reader that sees a `what` sees its `until` or that of a later word. So a reader that reads while the word is
//! written may combine two words, and gets a wrong answer; so does a reader while another thread holds the claim. The
//! answer is wrong only for that moment: the thread that writes the word is awake, fences after it, and checks the node
//! itself (at the end of the activation, or before it sleeps).

use crate::channel::Lack;
use crate::channel::operation::{channel, sends};
use crate::sync::{AtomicUsize, Ordering};
use thalweg_graph::ChannelId;
use thalweg_trace::Cause;

/// The bits of `what` below the channel.
const KIND_BITS: u32 = 4;
const KIND: usize = (1 << KIND_BITS) - 1;

// The kinds of waits, in these bits.
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
/// As [`ITEMS`], and an alarm will set the node's alert.
const TIMED: usize = 8;

/// The wait word of a process that waits for what this operation brings, at the other end of the operation's channel:
/// items for a send, room for a receive.
#[inline]
pub(super) fn waited_by(operation: u64) -> u64 {
    let kind = if sends(operation) { ITEMS } else { ROOM };
    kind as u64 | u64::from(channel(operation).0) << KIND_BITS
}

/// The index of the channel in a wait word.
#[inline]
pub(super) fn channel_of(what: usize) -> usize {
    what >> KIND_BITS
}

/// The condition that a node waits for, packed so that any thread may read it without a lock. Its writers hold the
/// node's claim.
#[derive(Debug)]
pub(crate) struct Wait {
    /// The kind in the low bits, the channel above.
    pub(super) what: AtomicUsize,
    /// The meaning depends on the kind: see the table.
    pub(super) until: AtomicUsize,
}

impl Wait {
    /// The word of a node that has not run: ready.
    pub(super) fn new() -> Wait {
        Wait { what: AtomicUsize::new(READY), until: AtomicUsize::new(0) }
    }

    /// `Release` pairs with the `Acquire` in `read`: a reader that sees `what` sees at least this `until`.
    #[inline]
    fn set(&self, kind: usize, channel: usize, until: usize) {
        self.until.store(until, Ordering::Relaxed);
        self.what.store(kind | channel << KIND_BITS, Ordering::Release);
    }

    /// The node waits for nothing. No store if the word says so already, since neighbours read its cache line.
    pub(crate) fn ready(&self) {
        if self.what.load(Ordering::Relaxed) != READY {
            self.set(READY, 0, 0);
        }
    }

    /// The node has ended.
    pub(crate) fn never(&self) {
        self.set(NEVER, 0, 0);
    }

    /// The process waits for a foreign future, whose waker will set the node's alert.
    pub(crate) fn foreign(&self) {
        self.set(FOREIGN, 0, 0);
    }

    /// The parallel node waits until `retired` tickets are retired.
    pub(crate) fn window(&self, retired: usize) {
        self.set(WINDOW, 0, retired);
    }

    /// The node waits for the condition that a claim lacked. `Ended` is no condition to wait for: the next activation
    /// ends the node.
    #[inline]
    pub(crate) fn lack(&self, lack: Lack) {
        match lack {
            Lack::Items { channel, until } => self.set(ITEMS, channel.index(), until),
            Lack::Room { channel, until } => self.set(ROOM, channel.index(), until),
            Lack::Bytes { channel } => self.set(BYTES, channel.index(), 0),
            Lack::Timed { channel, until } => self.set(TIMED, channel.index(), until),
            Lack::Any { inputs } => self.set(ANY, 0, inputs as usize),
            Lack::Ended { .. } => self.ready(),
        }
    }

    /// The unpacked word. While it is written, the result may combine two words: see the documentation of the module.
    #[inline]
    pub(crate) fn read(&self) -> Waiting {
        let what = self.what.load(Ordering::Acquire);
        let until = self.until.load(Ordering::Relaxed);
        let channel = ChannelId(channel_of(what) as u32);
        match what & KIND {
            ITEMS => Waiting::Items { channel, until },
            ROOM => Waiting::Room { channel, until },
            BYTES => Waiting::Bytes { channel },
            WINDOW => Waiting::Window { retired: until },
            ANY => Waiting::Any { inputs: until as u64 },
            NEVER => Waiting::Never,
            FOREIGN => Waiting::Foreign,
            TIMED => Waiting::Timed { channel, until },
            _ => Waiting::Ready,
        }
    }
}

/// An unpacked [`Wait`]. The variants are those of the table in the documentation of the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Waiting {
    /// Nothing.
    Ready,
    /// The channel's tail must reach `until`.
    Items { channel: ChannelId, until: usize },
    /// The channel's head must reach `until`.
    Room { channel: ChannelId, until: usize },
    /// The channel's bytes must fall below its limit.
    Bytes { channel: ChannelId },
    /// This many tickets must be retired.
    Window { retired: usize },
    /// One of the inputs in this mask must have an item.
    Any { inputs: u64 },
    /// The node has ended.
    Never,
    /// A foreign future must wake the process.
    Foreign,
    /// The channel's tail must reach `until`, or the alarm that is set must go off.
    Timed { channel: ChannelId, until: usize },
}

impl Waiting {
    /// The condition as reports and snapshots name it. `None` for a node that is ready or has ended.
    pub(crate) fn cause(self) -> Option<Cause> {
        match self {
            Waiting::Ready | Waiting::Never => None,
            Waiting::Items { channel, .. } | Waiting::Timed { channel, .. } => Some(Cause::Items(channel)),
            Waiting::Room { channel, .. } | Waiting::Bytes { channel } => Some(Cause::Room(channel)),
            Waiting::Window { .. } => Some(Cause::Window),
            Waiting::Any { .. } => Some(Cause::AnyInput),
            Waiting::Foreign => Some(Cause::Outside),
        }
    }
}
