//! Preemption checks: code that may run for long, or forever, asks at intervals whether to go on.
//!
//! A function has *fuel*. Each iteration of its loops consumes as much as the
//! iteration may spend in inner loops of constant length. Without fuel the function calls `ask`, and the
//! engine may stop the program there. Counted loops without inner loops have no check: they end soon,
//! whatever their bounds. Recursive functions check at their entry.

use super::code::Writer;
use crate::ir::{Code, Label, Stmt, inner};

/// Iterations between two calls of `ask`.
const FUEL: u64 = 1 << 16;

/// The assumed number of iterations of a loop with unknown bounds.
const SOME: u64 = 64;

/// Iterations in a counted loop from which on it has checks, and in a firing from which on each firing has
/// one.
const LONG: u64 = 1 << 20;
const LONG_FIRING: u64 = 1 << 12;

/// The most iterations that statements may do.
fn weight(stmts: &[Stmt]) -> u64 {
    let of = |st: &Stmt| {
        let inside = inner(st).map(|stmts| weight(stmts)).fold(0, u64::saturating_add);
        match st {
            Stmt::Calls { .. } => SOME.saturating_mul(1 + inside.min(LONG)),
            Stmt::Loop(_) | Stmt::For { .. } => {
                iterations(st).unwrap_or(SOME).saturating_mul(1 + inside.min(LONG))
            }
            _ => inside,
        }
    };
    stmts.iter().map(of).fold(0, u64::saturating_add)
}

/// The number of iterations of a loop, where it is constant.
fn iterations(st: &Stmt) -> Option<u64> {
    let Stmt::For { from, to, step, .. } = st else { return None };
    let (from, to) = (i64::from(from.as_int()?), i64::from(to.as_int()?));
    let way = if *step > 0 { to - from } else { from - to };
    Some(u64::try_from(way).unwrap_or(0).div_ceil(step.unsigned_abs().into()))
}

/// The fuel that an iteration of a loop consumes; `None` for loops without a check.
fn taken(st: &Stmt) -> Option<u64> {
    let inside = inner(st).map(|stmts| weight(stmts)).fold(0, u64::saturating_add);
    let asks = match st {
        Stmt::Loop(_) => true,
        Stmt::For { .. } if inside == 0 => false,
        Stmt::For { .. } => {
            iterations(st).is_none_or(|iterations| iterations.saturating_mul(1 + inside) >= LONG)
        }
        _ => false,
    };
    asks.then(|| (1 + inside).min(FUEL))
}

/// The fuel that a firing consumes; `None` where it has no check.
fn of_firing(code: &Code) -> Option<u64> {
    let iterations = weight(&code.body);
    (iterations >= LONG_FIRING).then(|| iterations.min(FUEL))
}

/// Whether code has any checks.
fn asks(code: &Code) -> bool {
    let mut found = of_firing(code).is_some();
    crate::ir::walk(&code.body, &mut |st| found |= taken(st).is_some() || matches!(st, Stmt::Label(_)));
    found
}

impl Writer<'_> {
    /// Declares the fuel of a function.
    pub(super) fn fuel(&mut self) {
        if asks(self.code) {
            self.line(format!("int64_t fuel = {FUEL};"));
        }
    }

    /// The check at the end of a loop iteration.
    pub(super) fn turn_ends(&mut self, st: &Stmt) {
        if let Some(iterations) = taken(st) {
            self.use_fuel(iterations);
        }
    }

    /// The entry of a recursive function.
    pub(super) fn function_begins(&mut self, label: Label) {
        self.line(format!("at{}: ;", label.0));
        self.use_fuel(SOME);
    }

    /// The check at the beginning of a firing.
    pub(super) fn firing_begins(&mut self) {
        if let Some(iterations) = of_firing(self.code) {
            self.use_fuel(iterations);
        }
    }

    fn use_fuel(&mut self, iterations: u64) {
        self.line(format!("if (__builtin_expect((fuel -= {iterations}) < 0, 0))"));
        self.line(format!("    ask(env, node), fuel = {FUEL};"));
    }
}
