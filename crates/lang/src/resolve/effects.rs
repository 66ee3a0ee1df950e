//! What code does besides computing.

use crate::hir::Callee;
use crate::source::Span;

/// What code does, and where it does so first.
#[derive(Clone, Default, Debug)]
pub(super) struct Effects {
    /// Gives items.
    pub push: Option<Span>,
    /// Takes items.
    pub pop: Option<Span>,
    /// Looks at items.
    pub peek: Option<Span>,
    /// Changes a field, prints, draws random numbers, sends messages, or calls what is elsewhere.
    pub state: bool,
    /// Functions of the filter and helpers that it calls.
    pub calls: Vec<Callee>,
}

impl Effects {
    /// What happens together with what functions do that are called, from function to function.
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

    fn add(&mut self, other: &Effects) {
        self.push = self.push.or(other.push);
        self.pop = self.pop.or(other.pop);
        self.peek = self.peek.or(other.peek);
        self.state |= other.state;
        self.calls.extend(&other.calls);
    }
}
