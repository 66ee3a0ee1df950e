//! Weights of splitters and joiners, against the children that there are.

use super::Elaborator;
use crate::Span;
use crate::eval::Dealing;
use crate::tree::Weights;

/// A splitter or a joiner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Split,
    Join,
}

impl Side {
    pub(super) fn keyword(self) -> &'static str {
        match self {
            Side::Split => "split",
            Side::Join => "join",
        }
    }
}

impl Elaborator<'_> {
    /// A weight for each of so many children; nothing is moved where nothing goes in or comes out
    /// (`is_void`), whatever is said.
    pub(super) fn weights(
        &mut self,
        side: Side,
        (dealing, span): &(Dealing, Span),
        children: usize,
        is_void: bool,
    ) -> Option<Weights> {
        let weights = match dealing {
            Dealing::Duplicate if side == Side::Join => {
                let text = "a joiner takes items in turn: there is no `join duplicate`";
                self.advise(*span, text, "write `join roundrobin;`");
                return None;
            }
            Dealing::Duplicate if is_void => vec![0; children],
            Dealing::Duplicate => return Some(Weights::Duplicate),
            Dealing::RoundRobin(weights) => match weights[..] {
                [] => vec![u32::from(!is_void); children],
                [each] => vec![self.weight(each, side, *span)?; children],
                _ => self.weight_of_each(weights, side, *span, children)?,
            },
        };
        let moves = weights.iter().any(|weight| *weight > 0);
        if is_void {
            return Some(Weights::RoundRobin(vec![0; children]));
        }
        if !moves {
            let does = if side == Side::Split { "takes" } else { "gives" };
            let text = format!("`{} roundrobin` moves nothing, and the stream {does} items", side.keyword());
            let hint = "give a weight to each stream that items go to or come from";
            self.advise(*span, text, hint);
            return None;
        }
        Some(Weights::RoundRobin(weights))
    }

    fn weight_of_each(
        &mut self,
        weights: &[i32],
        side: Side,
        span: Span,
        children: usize,
    ) -> Option<Vec<u32>> {
        if weights.len() != children {
            let (count, keyword) = (weights.len(), side.keyword());
            let text =
                format!("`{keyword} roundrobin` has {count} weights, and there are {children} streams");
            let one = weights.first().copied().unwrap_or(1);
            let hint =
                format!("write a weight for each, in their order; `roundrobin({one})` is {one} for all");
            self.advise(span, text, hint);
            return None;
        }
        weights.iter().map(|weight| self.weight(*weight, side, span)).collect()
    }

    fn weight(&mut self, weight: i32, side: Side, span: Span) -> Option<u32> {
        if weight < 0 {
            let text = format!("`{} roundrobin` has the weight {weight}, which is negative", side.keyword());
            self.advise(span, text, "with a weight of 0 nothing is moved");
        }
        u32::try_from(weight).ok()
    }
}
