//! Code that may go on for long, or for ever, asks now and then whether it shall.
//!
//! A function has some *patience*: its loops take from it, in each turn as much as the turn may take of loops
//! whose length is known; and who has none left asks whoever runs the program, who may stop it there. Loops that
//! count and have no others inside do not ask: whatever they count, it is over soon. Functions that call themselves
//! ask as they begin.

use super::code::Writer;
use crate::ir::{Code, Label, St, inner};

/// Turns between two questions.
const PATIENCE: u64 = 1 << 16;

/// What a loop is taken for of which nothing is known.
const SOME: u64 = 64;

/// Turns in a counting loop after which it asks, and in a firing before which that asks.
const LONG: u64 = 1 << 20;
const LONG_FIRING: u64 = 1 << 12;

/// Turns that statements may come to.
fn weight(stmts: &[St]) -> u64 {
    let of = |st: &St| {
        let inside = inner(st).map(|stmts| weight(stmts)).fold(0, u64::saturating_add);
        match st {
            St::Calls { .. } => SOME.saturating_mul(1 + inside.min(LONG)),
            St::Loop(_) | St::For { .. } => turns(st).unwrap_or(SOME).saturating_mul(1 + inside.min(LONG)),
            _ => inside,
        }
    };
    stmts.iter().map(of).fold(0, u64::saturating_add)
}

/// The turns of a loop, where they are known.
fn turns(st: &St) -> Option<u64> {
    let St::For { from, to, step, .. } = st else { return None };
    let (from, to) = (i64::from(from.as_int()?), i64::from(to.as_int()?));
    let way = if *step > 0 { to - from } else { from - to };
    Some(u64::try_from(way).unwrap_or(0).div_ceil(step.unsigned_abs().into()))
}

/// What each turn of a loop takes of the patience; nothing of those that do not ask.
fn taken(st: &St) -> Option<u64> {
    let inside = inner(st).map(|stmts| weight(stmts)).fold(0, u64::saturating_add);
    let asks = match st {
        St::Loop(_) => true,
        St::For { .. } if inside == 0 => false,
        St::For { .. } => turns(st).is_none_or(|turns| turns.saturating_mul(1 + inside) >= LONG),
        _ => false,
    };
    asks.then(|| (1 + inside).min(PATIENCE))
}

/// The same of each firing.
fn of_firing(code: &Code) -> Option<u64> {
    let turns = weight(&code.body);
    (turns >= LONG_FIRING).then(|| turns.min(PATIENCE))
}

/// Whether some of the code asks.
fn asks(code: &Code) -> bool {
    let mut found = of_firing(code).is_some();
    crate::ir::walk(&code.body, &mut |st| found |= taken(st).is_some() || matches!(st, St::At(_)));
    found
}

impl Writer<'_> {
    /// What a function begins with.
    pub(super) fn patience(&mut self) {
        if asks(self.code) {
            self.line(format!("int64_t patience = {PATIENCE};"));
        }
    }

    /// At the end of a loop's turn.
    pub(super) fn turn_ends(&mut self, st: &St) {
        if let Some(turns) = taken(st) {
            self.take_patience(turns);
        }
    }

    /// Where a function begins that calls itself.
    pub(super) fn function_begins(&mut self, label: Label) {
        self.line(format!("at{}: ;", label.0));
        self.take_patience(SOME);
    }

    /// Where a firing begins.
    pub(super) fn firing_begins(&mut self) {
        if let Some(turns) = of_firing(self.code) {
            self.take_patience(turns);
        }
    }

    fn take_patience(&mut self, turns: u64) {
        self.line(format!("if (__builtin_expect((patience -= {turns}) < 0, 0))"));
        self.line(format!("    ask(env, node), patience = {PATIENCE};"));
    }
}
