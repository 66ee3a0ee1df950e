//! How many items code moves, as far as that is seen without executing it.

use super::Resolver;
use super::constant::rate;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Init, Place, Step, Stmt, StmtKind, Work};

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
    /// Rates that are known against counts that are. Less may be taken than is declared: the rest is
    /// dropped, and published programs do so.
    pub fn check_counts(&mut self, work: &ast::Work, resolved: &Work) {
        for what in [Moved::Push, Moved::Pop] {
            self.check_count(what, work, resolved);
        }
    }

    fn check_count(&mut self, what: Moved, work: &ast::Work, resolved: &Work) {
        let (word, verb, declared) = match what {
            Moved::Push => ("push", "gives", &resolved.rates.push),
            Moved::Pop => ("pop", "takes", &resolved.rates.pop),
        };
        // That nothing may be done is said where it is done.
        let Some(declared) = rate(declared).filter(|declared| *declared != 0) else { return };
        let declared = u64::from(declared.unsigned_abs());
        let mut counter = Counter { what, leaves: false };
        let mut counted = counter.stmts(&resolved.body.stmts);
        if counter.leaves {
            counted.min = 0;
        }
        let exact = counted.max == Some(counted.min);
        let found = match counted.max {
            _ if counted.min > declared && exact => format!("{}", counted.min),
            _ if counted.min > declared => format!("at least {}", counted.min),
            Some(max) if max < declared && what == Moved::Push && exact => format!("{max}"),
            Some(max) if max < declared && what == Moved::Push => format!("at most {max}"),
            _ => return,
        };
        let message = format!("the {word} rate of {} is {declared}, but it {verb} {found}", self.in_words());
        let error = Diagnostic::new(work.span, message).label(format!("{found} counted here"));
        self.error::<()>(error.hint("rates say how many items each firing moves"));
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
