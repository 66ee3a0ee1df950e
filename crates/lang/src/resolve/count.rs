//! How many items code moves, as far as that is seen without executing it.

use super::Resolver;
use super::constant::rate;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Init, Place, Rate, Step, Stmt, StmtKind, Work};
use crate::source::Span;

/// At least, and at most where there is a bound.
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

    /// As often as a loop runs, which is not known: nothing is known but of what does nothing.
    fn repeated(self) -> Bounds {
        if self == Bounds::NONE { self } else { Bounds::ANY }
    }
}

/// What is counted.
#[derive(Clone, Copy, PartialEq)]
enum Moved {
    Push,
    Pop,
}

impl Resolver<'_> {
    /// Rates that are known against counts that are.
    pub fn check_counts(&mut self, work: &ast::Work, resolved: &Work) {
        self.check_count("push", "gives", Moved::Push, work, resolved, &resolved.rates.push);
        self.check_count("pop", "takes", Moved::Pop, work, resolved, &resolved.rates.pop);
    }

    fn check_count(
        &mut self,
        word: &str,
        verb: &str,
        what: Moved,
        work: &ast::Work,
        of: &Work,
        declared: &Rate,
    ) {
        let Some(declared) = rate(declared) else { return };
        let mut counter = Counter { what, leaves: false };
        let mut counted = counter.stmts(&of.body.stmts);
        if counter.leaves {
            counted.min = 0;
        }
        let declared = u64::from(declared.unsigned_abs());
        let fits = counted.min <= declared && counted.max.is_none_or(|max| declared <= max);
        // That nothing may be done is said where it is done.
        if fits || declared == 0 {
            return;
        }
        let found = match counted.max {
            Some(max) if max == counted.min => format!("{max}"),
            Some(max) if max < declared => format!("at most {max}"),
            _ => format!("at least {}", counted.min),
        };
        let message = format!("the {word} rate is {declared}, but this {verb} {found}");
        let span = if work.body.span == Span::default() { work.span } else { work.body.span };
        self.error::<()>(Diagnostic::new(span, message).label(format!("{found} counted here")));
    }
}

struct Counter {
    what: Moved,
    /// The code is left somewhere before its end.
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
            StmtKind::If(condition, first, second) => {
                let condition = self.expr(condition);
                condition.and(self.stmts(first).or(self.stmts(second)))
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
            ExprKind::Binary(_, first, second) => self.expr(first).and(self.expr(second)),
            ExprKind::And(first, second) | ExprKind::Or(first, second) => {
                self.expr(first).and(Bounds::NONE.or(self.expr(second)))
            }
            ExprKind::Ternary(condition, first, second) => {
                let arms = self.expr(first).or(self.expr(second));
                self.expr(condition).and(arms)
            }
            // What functions of the filter move is not counted.
            ExprKind::Call(crate::hir::Callee::Function(_), _) => Bounds::ANY,
            ExprKind::Call(_, values) | ExprKind::Compose(values) => self.all(values),
            ExprKind::Constant(_) | ExprKind::Pop | ExprKind::Iter => Bounds::NONE,
        }
    }
}
