//! Side effects of code.

use crate::hir::Callee;
use crate::source::Span;

/// Side effects of code, each with the place of its first occurrence.
#[derive(Clone, Default, Debug)]
pub(super) struct Effects {
    /// Pushes items.
    pub push: Option<Span>,
    /// Pops items.
    pub pop: Option<Span>,
    /// Peeks at items.
    pub peek: Option<Span>,
    /// The greatest constant peek index.
    pub farthest: Option<(i32, Span)>,
    /// Changes a field, prints, draws random numbers, sends messages, or calls native functions.
    pub state: bool,
    /// Functions of the filter and helpers that it calls.
    pub calls: Vec<Callee>,
}

impl Effects {
    /// The effects including those of all functions called directly or indirectly.
    pub fn closed(&self, functions: &[Effects], helpers: &[Effects]) -> Effects {
        let mut all = self.clone();
        let (mut seen, mut seen_helpers) = (vec![false; functions.len()], vec![false; helpers.len()]);
        let mut next = 0;
        while let Some(&callee) = all.calls.get(next) {
            next += 1;
            let (seen, of, at) = match callee {
                Callee::Function(at) => (&mut seen, functions, at),
                Callee::Helper(at) => (&mut seen_helpers, helpers, at),
                Callee::Native(_) | Callee::Builtin(_) => continue,
            };
            let at = at as usize;
            if at < of.len() && !std::mem::replace(&mut seen[at], true) {
                all.add(&of[at]);
            }
        }
        all
    }

    /// Records a constant peek index.
    pub fn note_peek(&mut self, index: i32, span: Span) {
        if self.farthest.is_none_or(|(farthest, _)| farthest < index) {
            self.farthest = Some((index, span));
        }
    }

    fn add(&mut self, other: &Effects) {
        self.push = self.push.or(other.push);
        self.pop = self.pop.or(other.pop);
        self.peek = self.peek.or(other.peek);
        other.farthest.into_iter().for_each(|(index, span)| self.note_peek(index, span));
        self.state |= other.state;
        self.calls.extend(&other.calls);
    }
}
