//! The framing function of `batch`: a firing pops a whole batch, or the items that are left when the stream ends.

use super::framing::{FrameFn, Framing};
use crate::port::shapes::One;
use crate::port::{Consumer, Input, PopPort};

/// Has no state, so the decision on one batch is the decision on all whose items have arrived.
pub(crate) struct BatchFrame(usize);

impl BatchFrame {
    /// For batches of `size` items. The graph is refused if it is 0.
    pub(crate) fn new(size: usize) -> BatchFrame {
        BatchFrame(size)
    }
}

/// Items of an input that have arrived and are not claimed. Reads the tail if the known items are fewer than `wanted`.
fn arrived(side: &mut Consumer, wanted: usize) -> usize {
    if side.arrived() < wanted {
        side.refresh();
    }
    side.arrived()
}

impl<T: Send> FrameFn<One<PopPort<T>>> for BatchFrame {
    fn frame(&mut self, ins: &mut One<PopPort<T>>, _wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        let side = ins.0.side();
        takes[0] = arrived(side, self.0).min(self.0);
        match takes[0] {
            items if items < self.0 && !side.ended => Framing::Lack(side.lack(self.0)),
            0 => Framing::End,
            _ => Framing::Take,
        }
    }

    fn repeats(&mut self, ins: &mut One<PopPort<T>>, takes: &[usize], limit: usize) -> usize {
        if takes[0] < self.0 {
            return 0; // the last batch
        }
        let items = arrived(ins.0.side(), self.0.saturating_mul(limit + 1));
        (items / self.0 - 1).min(limit)
    }
}
