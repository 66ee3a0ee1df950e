//! Item counts of code, as far as they are known statically.

use super::Resolver;
use super::constant::integer;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Init, Place, Rate, Step, Stmt, StmtKind, Work};
use std::fmt::{self, Display, Formatter};

/// A minimum, and a maximum if there is a bound.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Bounds {
    min: u64,
    max: Option<u64>,
}

impl Bounds {
    const NONE: Bounds = Bounds { min: 0, max: Some(0) };
    const ONE: Bounds = Bounds { min: 1, max: Some(1) };
    const ANY: Bounds = Bounds { min: 0, max: None };

    fn and(self, other: Bounds) -> Bounds {
        let max = self.max.zip(other.max).map(|(a, b)| a.saturating_add(b));
        Bounds { min: self.min.saturating_add(other.min), max }
    }

    fn or(self, other: Bounds) -> Bounds {
        Bounds { min: self.min.min(other.min), max: self.max.zip(other.max).map(|(a, b)| a.max(b)) }
    }

    /// An unknown number of repetitions: nothing is known unless each repetition moves nothing.
    fn repeated(self) -> Bounds {
        if self == Bounds::NONE { self } else { Bounds::ANY }
    }
}

/// The operation that is counted.
#[derive(Clone, Copy, PartialEq)]
enum Moved {
    Push,
    Pop,
}

impl Resolver<'_> {
    /// Compares known rates with known counts. For a static rate fewer pops are allowed: the rest is dropped, and
    /// published programs rely on it.
    pub fn check_counts(&mut self, work: &ast::Work, resolved: &Work) {
        for what in [Moved::Push, Moved::Pop] {
            self.check_count(what, work, resolved);
        }
    }

    fn check_count(&mut self, what: Moved, work: &ast::Work, resolved: &Work) {
        let (word, verb, rate) = match what {
            Moved::Push => ("push", "pushes", &resolved.rates.push),
            Moved::Pop => ("pop", "pops", &resolved.rates.pop),
        };
        // A rate of 0 is checked at each operation instead.
        let Some(declared) = Declared::of(rate).filter(|declared| declared.max != Some(0)) else { return };
        let mut counter = Counter { what, leaves: false };
        let mut counted = counter.stmts(&resolved.body.stmts);
        if counter.leaves {
            counted.min = 0;
        }
        let exact = counted.max == Some(counted.min);
        let drops = what == Moved::Pop && matches!(rate, Rate::Static(_));
        let (count, bound) = match counted.max {
            _ if declared.max.is_some_and(|most| counted.min > most) => (counted.min, "at least "),
            Some(max) if declared.min.is_some_and(|least| max < least) && !drops => (max, "at most "),
            _ => return,
        };
        let found = if exact { count.to_string() } else { format!("{bound}{count}") };
        let message = format!(
            "the {word} rate of {} is declared as {declared}, but its body {verb} {found}",
            self.filter_in_words()
        );
        let error = Diagnostic::new(work.span, message).label(format!("{found} counted here"));
        self.error::<()>(error.hint("a rate is the exact number of items that each firing moves"));
    }
}

/// A declared rate: its bounds, as far as they are known.
struct Declared {
    min: Option<u64>,
    max: Option<u64>,
}

impl Declared {
    fn of(rate: &Rate) -> Option<Declared> {
        let known = |bound: &Expr| integer(bound).map(|number| u64::from(number.unsigned_abs()));
        let declared = match rate {
            Rate::Static(count) => Declared { min: known(count), max: known(count) },
            Rate::Dynamic { min, max, .. } => {
                Declared { min: min.as_ref().map_or(Some(0), known), max: max.as_ref().and_then(known) }
            }
        };
        (declared.min.is_some() || declared.max.is_some()).then_some(declared)
    }
}

impl Display for Declared {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => write!(f, "{max}"),
            (Some(min), Some(max)) => write!(f, "from {min} to {max}"),
            (None, Some(max)) => write!(f, "{max} or less"),
            (min, None) => write!(f, "{} or more", min.unwrap_or(0)),
        }
    }
}

struct Counter {
    what: Moved,
    /// Whether the code may return before its end.
    leaves: bool,
}

impl Counter {
    fn stmts(&mut self, stmts: &[Stmt]) -> Bounds {
        stmts.iter().fold(Bounds::NONE, |sum, stmt| sum.and(self.stmt(stmt)))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Bounds {
        match &stmt.kind {
            StmtKind::Declare { init, .. } => init.as_ref().map_or(Bounds::NONE, |init| self.init(init)),
            StmtKind::Assign(place, value) | StmtKind::Update { place, value, .. } => {
                self.place(place).and(self.expr(value))
            }
            StmtKind::Expr(value) | StmtKind::Enqueue(value) => self.expr(value),
            StmtKind::Push(value) => {
                let pushed = if self.what == Moved::Push { Bounds::ONE } else { Bounds::NONE };
                self.expr(value).and(pushed)
            }
            StmtKind::Print(value, _) => value.as_ref().map_or(Bounds::NONE, |value| self.expr(value)),
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If(branches, otherwise) => {
                let otherwise = self.stmts(otherwise);
                branches.iter().rev().fold(otherwise, |others, (condition, body)| {
                    self.expr(condition).and(self.stmts(body).or(others))
                })
            }
            StmtKind::While(condition, body) => self.expr(condition).and(self.stmts(body)).repeated(),
            StmtKind::DoWhile(body, condition) => self.stmts(body).and(self.expr(condition)).repeated(),
            StmtKind::For { init, condition, step, body } => {
                let condition = condition.as_ref().map_or(Bounds::NONE, |condition| self.expr(condition));
                let turn = condition.and(self.stmts(body)).and(self.stmts(step));
                self.stmts(init).and(turn.repeated())
            }
            StmtKind::Return(value) => {
                self.leaves = true;
                value.as_ref().map_or(Bounds::NONE, |value| self.expr(value))
            }
            StmtKind::Send(send) => self.all(&send.args),
            _ => Bounds::NONE,
        }
    }

    fn init(&mut self, init: &Init) -> Bounds {
        match init {
            Init::Value(value) => self.expr(value),
            Init::List(inits) => inits.iter().fold(Bounds::NONE, |sum, init| sum.and(self.init(init))),
        }
    }

    fn all(&mut self, exprs: &[Expr]) -> Bounds {
        exprs.iter().fold(Bounds::NONE, |sum, expr| sum.and(self.expr(expr)))
    }

    fn place(&mut self, place: &Place) -> Bounds {
        place.path.iter().fold(Bounds::NONE, |sum, step| match step {
            Step::Index(index) => sum.and(self.expr(index)),
            Step::Field(_) => sum,
        })
    }

    fn expr(&mut self, expr: &Expr) -> Bounds {
        match &expr.kind {
            ExprKind::Pop if self.what == Moved::Pop => Bounds::ONE,
            ExprKind::Read(place) | ExprKind::Step { place, .. } => self.place(place),
            ExprKind::Unary(_, value) | ExprKind::Convert(value) | ExprKind::Peek(value) => self.expr(value),
            ExprKind::Binary(first, links) => {
                Expr::operands(first, links).fold(Bounds::NONE, |sum, operand| sum.and(self.expr(operand)))
            }
            ExprKind::And(operands) | ExprKind::Or(operands) => {
                operands.iter().enumerate().fold(Bounds::NONE, |sum, (at, operand)| {
                    let bounds = self.expr(operand);
                    sum.and(if at == 0 { bounds } else { Bounds::NONE.or(bounds) })
                })
            }
            ExprKind::Ternary(condition, first, second) => {
                let arms = self.expr(first).or(self.expr(second));
                self.expr(condition).and(arms)
            }
            // Items moved by functions of the filter are not counted.
            ExprKind::Call(crate::hir::Callee::Function(_), _) => Bounds::ANY,
            ExprKind::Call(_, values) | ExprKind::Compose(values) => self.all(values),
            ExprKind::Constant(_) | ExprKind::Pop | ExprKind::Iter => Bounds::NONE,
        }
    }
}
