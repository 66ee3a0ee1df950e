//! Weights of splitters and joiners.

use super::Elaborator;
use crate::Span;
use crate::eval::RawWeights;
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
    /// One weight per child; all 0 if the composite has no input, or no output (`is_void`), whatever is declared.
    pub(super) fn weights(
        &mut self,
        side: Side,
        (weights, span): &(RawWeights, Span),
        children: usize,
        is_void: bool,
    ) -> Option<Weights> {
        let weights = match weights {
            RawWeights::Duplicate if side == Side::Join => {
                let text = "`join` cannot duplicate: a joiner takes items in turn";
                self.error_with_hint(*span, text, "write `join roundrobin;`");
                return None;
            }
            RawWeights::Duplicate if is_void => vec![0; children],
            RawWeights::Duplicate => return Some(Weights::Duplicate),
            RawWeights::RoundRobin(weights) => match weights[..] {
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
            let end = if side == Side::Split { "an input" } else { "an output" };
            let text =
                format!("all weights of `{} roundrobin` are 0, but the stream has {end}", side.keyword());
            let hint = "use a positive weight for each stream that items go to or come from";
            self.error_with_hint(*span, text, hint);
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
                format!("`{keyword} roundrobin` has {count} weights, but there are {children} streams");
            let one = weights.first().copied().unwrap_or(1);
            let hint =
                format!("write one weight per stream, in order; `roundrobin({one})` uses {one} for all");
            self.error_with_hint(span, text, hint);
            return None;
        }
        weights.iter().map(|weight| self.weight(*weight, side, span)).collect()
    }

    fn weight(&mut self, weight: i32, side: Side, span: Span) -> Option<u32> {
        if weight < 0 {
            let text = format!("`{} roundrobin` has the negative weight {weight}", side.keyword());
            self.error_with_hint(span, text, "use 0 for no items");
        }
        u32::try_from(weight).ok()
    }
}
