//! Checks `peek` indices after `pop`s of the same firing.
//!
//! An index counts from the first item that has not been popped, so `peek(0)` after the only `pop` of `pop 1` is
//! outside the declared window. The check counts the minimum of pops on any path to a `peek`: pops in a loop count
//! for no iteration, and pops in functions do not count. A `peek` under a condition is not checked, because the
//! condition may guard it.

use super::Resolver;
use super::constant::{integer, most};
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Init, Place, Step, Stmt, StmtKind, Work};
use crate::interpret::{counted, counted_were};
use crate::source::Span;

impl Resolver<'_> {
    /// Checks the peeks of a firing against its window, if both are known.
    pub fn check_peeks(&mut self, work: &Work) {
        let peek = work.rates.peek.as_ref().unwrap_or(&work.rates.pop);
        let (Some(pop), Some(peek)) = (most(&work.rates.pop), most(peek)) else { return };
        let mut walk = Walk { popped: 0, certain: true, peeks: Vec::new() };
        walk.stmts(&work.body.stmts);
        for PeekAt { index, popped, span } in walk.peeks {
            let (needed, window) = (i64::from(index) + popped, i64::from(pop.max(peek)));
            // An index that is out of range without the pops, or an excess of pops, has its own error.
            if i64::from(index) < window && popped <= i64::from(pop) && needed >= window {
                let error = beyond(&self.filter_in_words(), index, popped, window, span);
                self.error::<()>(error);
            }
        }
    }
}

fn beyond(filter: &str, index: i32, popped: i64, window: i64, span: Span) -> Diagnostic {
    let (before, size) = (counted_were(popped), counted(window));
    let message =
        format!("`peek({index})` after {before} popped is outside the window of {filter}, which is {size}");
    Diagnostic::new(span, message).label("the index counts from the next unpopped item").hint(format!(
        "peek before popping, or declare a larger window: `peek {}`",
        popped + i64::from(index) + 1
    ))
}

/// A `peek` with a constant index.
struct PeekAt {
    index: i32,
    /// The minimum of items popped before it.
    popped: i64,
    span: Span,
}

struct Walk {
    /// The minimum of items popped so far.
    popped: i64,
    /// Whether the current code is reached on every path.
    certain: bool,
    peeks: Vec<PeekAt>,
}

impl Walk {
    fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Declare { init: Some(init), .. } => self.init(init),
            StmtKind::Assign(place, value) | StmtKind::Update { place, value, .. } => {
                self.place(place);
                self.expr(value);
            }
            StmtKind::Expr(value) | StmtKind::Push(value) => self.expr(value),
            StmtKind::Print(value, _) | StmtKind::Return(value) => {
                value.iter().for_each(|value| self.expr(value))
            }
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If(branches, otherwise) => self.branches(branches, otherwise),
            StmtKind::While(condition, body) => {
                self.expr(condition);
                self.perhaps(|walk| walk.stmts(body));
            }
            // `break` or `return` may leave an iteration before its end.
            StmtKind::DoWhile(body, condition) => self.perhaps(|walk| {
                walk.perhaps(|walk| walk.stmts(body));
                walk.expr(condition);
            }),
            StmtKind::For { init, condition, step, body } => {
                self.stmts(init);
                condition.iter().for_each(|condition| self.expr(condition));
                self.perhaps(|walk| {
                    walk.perhaps(|walk| walk.stmts(body));
                    walk.stmts(step);
                });
            }
            StmtKind::Send(send) => send.args.iter().for_each(|arg| self.expr(arg)),
            _ => {}
        }
    }

    /// One of the branches, or what is executed otherwise. Only the first condition is evaluated in any case.
    fn branches(&mut self, branches: &[(Expr, Vec<Stmt>)], otherwise: &[Stmt]) {
        let (certain, mut least) = (self.certain, None);
        for (condition, body) in branches {
            self.expr(condition);
            let before = (self.popped, std::mem::replace(&mut self.certain, false));
            self.stmts(body);
            let after = std::mem::replace(&mut self.popped, before.0);
            least = Some(least.map_or(after, |least| after.min(least)));
        }
        self.stmts(otherwise);
        self.popped = least.map_or(self.popped, |least| self.popped.min(least));
        self.certain = certain;
    }

    /// Code that may not execute.
    fn perhaps(&mut self, what: impl FnOnce(&mut Walk)) {
        self.either(what, |_| ());
    }

    /// Either branch may execute.
    fn either(&mut self, first: impl FnOnce(&mut Walk), second: impl FnOnce(&mut Walk)) {
        let before = (self.popped, std::mem::replace(&mut self.certain, false));
        first(self);
        let after = std::mem::replace(&mut self.popped, before.0);
        second(self);
        (self.popped, self.certain) = (self.popped.min(after), before.1);
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Value(value) => self.expr(value),
            Init::List(inits) => inits.iter().for_each(|init| self.init(init)),
        }
    }

    fn place(&mut self, place: &Place) {
        for step in &place.path {
            if let Step::Index(index) = step {
                self.expr(index);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Pop => self.popped += 1,
            ExprKind::Peek(index) => {
                self.expr(index);
                if let Some(index) = integer(index).filter(|index| *index >= 0 && self.certain) {
                    self.peeks.push(PeekAt { index, popped: self.popped, span: expr.span });
                }
            }
            ExprKind::Read(place) | ExprKind::Step { place, .. } => self.place(place),
            ExprKind::Unary(_, value) | ExprKind::Convert(value) => self.expr(value),
            ExprKind::Binary(first, links) => {
                Expr::operands(first, links).for_each(|operand| self.expr(operand));
            }
            ExprKind::And(operands) | ExprKind::Or(operands) => {
                for (at, operand) in operands.iter().enumerate() {
                    match at {
                        0 => self.expr(operand),
                        _ => self.perhaps(|walk| walk.expr(operand)),
                    }
                }
            }
            ExprKind::Ternary(condition, first, second) => {
                self.expr(condition);
                self.either(|walk| walk.expr(first), |walk| walk.expr(second));
            }
            ExprKind::Call(_, values) | ExprKind::Compose(values) => {
                values.iter().for_each(|value| self.expr(value));
            }
            ExprKind::Constant(_) | ExprKind::Iter => {}
        }
    }
}
