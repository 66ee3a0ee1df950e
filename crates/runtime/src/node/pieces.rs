//! The lengths of the pieces in which an interruptible firing passes its items on.
//!
//! The iterator of a `flat_map` may be endless, or slow. So its firing pushes a *piece* of items, is interrupted, and
//! continues after the node has published the piece. A piece has as many items as take about [`PIECE_NS`]: one item if the
//! iterator is slow, and hundreds if it is fast, so that publishing costs little.

use crate::measure::clock::{Scale, Ticks, ticks};
use crate::sync::{AtomicUsize, Ordering};

/// The target time of a piece, in nanoseconds.
const PIECE_NS: f64 = 10_000.0;
/// The time after which an activation that passes pieces on ends, in nanoseconds.
const ACTIVATION_NS: f64 = 50_000.0;
/// The greatest number of items of a piece.
const MAX_PIECE: usize = 4096;
/// The number of items of a piece, and of pieces of an activation, where no clock is read.
const COUNTED: usize = 64;

/// The length of a node's next piece. Several threads may fire a parallel node: any length is a valid one, so all
/// accesses are `Relaxed`, and an update may be lost.
#[derive(Debug)]
pub(super) struct PieceLength(AtomicUsize);

impl PieceLength {
    pub(super) fn new() -> PieceLength {
        PieceLength(AtomicUsize::new(1))
    }

    /// The length after a piece of this length that took `ns`: twice as long, or shorter in proportion.
    fn adapt(&self, length: usize, ns: f64) {
        let next = match ns {
            _ if ns < PIECE_NS / 2.0 => (length * 2).min(MAX_PIECE),
            _ if ns > PIECE_NS * 2.0 => ((length as f64 * PIECE_NS / ns) as usize).max(1),
            _ => return,
        };
        self.0.store(next, Ordering::Relaxed);
    }
}

/// The pieces of one activation.
#[derive(Debug)]
pub(super) struct Pieces {
    /// The length of the current piece.
    length: usize,
    /// When it began.
    since: Ticks,
    /// The time of the earlier ones, in nanoseconds.
    spent: f64,
    /// The number of the earlier ones.
    count: usize,
    /// The clock is read.
    timed: bool,
    /// Each item is passed on by itself.
    single: bool,
}

impl Pieces {
    /// Before the first piece. With `single` each piece is one item: since it comes from outside, and the next one may be
    /// late, or since it counts against a byte limit.
    pub(super) fn new(timed: bool, single: bool) -> Pieces {
        Pieces { length: 1, since: 0, spent: 0.0, count: 0, timed, single }
    }

    /// Begins a piece, and returns the greatest number of its items, and the time in ticks at which it ends though it has
    /// fewer: an iterator that was fast may become slow.
    pub(super) fn begin(&mut self, length: &PieceLength) -> (usize, Ticks) {
        self.length = match self.timed {
            _ if self.single => 1,
            true => length.0.load(Ordering::Relaxed),
            false => COUNTED,
        };
        self.since = if self.timed { ticks() } else { 0 };
        let end = || self.since.saturating_add(Scale::now().ticks(ACTIVATION_NS));
        (self.length, if self.timed { end() } else { Ticks::MAX })
    }

    /// Leaves a sleep out of the time of the current piece.
    pub(super) fn shift(&mut self, slept: Ticks) {
        self.since += slept;
    }

    /// Ends a piece that had all its items. True if the activation has lasted long enough.
    pub(super) fn end(&mut self, length: &PieceLength) -> bool {
        self.count += 1;
        if !self.timed {
            return self.count >= COUNTED;
        }
        let ns = Scale::now().ns(ticks().saturating_sub(self.since));
        self.spent += ns;
        if !self.single {
            length.adapt(self.length, ns);
        }
        self.spent > ACTIVATION_NS
    }
}
