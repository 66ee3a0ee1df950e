//! Expressions.

use super::assigned::expr_does;
use super::shape::{components, is_scalar, kind_of};
use super::{Lower, Outcome, Part, Val};
use crate::ir::{Area, Expr, Kind, MemKind, Scalar, Stmt};
use thalweg_lang::hir::{self, BinaryOp, ExprKind, Link, LinkKind, Type};
use thalweg_lang::interpret::counted;
use thalweg_lang::value::Shape;

/// Operators that follow each other in one expression.
const MAX_LINKS: usize = 64;

impl<'a> Lower<'a> {
    pub(super) fn has_effects(&self, expr: &hir::Expr) -> bool {
        match expr.kind {
            ExprKind::Constant(_) | ExprKind::Pop | ExprKind::Iter => false,
            _ => expr_does(expr, self.filter, self.program).has_effects(),
        }
    }

    /// Operands, from left to right.
    pub(super) fn operands(&mut self, exprs: &[&'a hir::Expr]) -> Outcome<Vec<Val>> {
        let mut values = Vec::with_capacity(exprs.len());
        for (at, expr) in exprs.iter().enumerate() {
            let value = self.expr(expr)?;
            let later = exprs[at + 1..].iter().any(|later| self.has_effects(later));
            values.push(if later { self.freeze(value)? } else { value });
        }
        Ok(values)
    }

    /// Binary operators from left to right. A variable takes the value after some of them, so that the height of expressions
    /// is bounded, which all that follows relies on.
    fn links(&mut self, first: &'a hir::Expr, links: &'a [Link]) -> Outcome<Val> {
        let (mut value, mut ty) = (self.expr(first)?, &first.ty);
        for (at, link) in links.iter().enumerate() {
            if (at + 1) % MAX_LINKS == 0 {
                value = self.freeze(value)?;
            }
            value = match &link.kind {
                LinkKind::Operator(op, second) => {
                    let first = if self.has_effects(second) { self.freeze(value)? } else { value };
                    let second = self.expr(second)?;
                    self.span = link.span;
                    self.binary(*op, ty, first, second)?
                }
                LinkKind::Convert => self.convert(value, ty, &link.ty)?,
            };
            ty = &link.ty;
        }
        Ok(value)
    }

    /// The value of an expression of one scalar.
    pub(super) fn scalar(&mut self, expr: &'a hir::Expr) -> Outcome<Expr> {
        match self.expr(expr)? {
            Val::Scalar(ex) => Ok(ex),
            _ => Err("an expression is not a scalar".into()),
        }
    }

    /// Lowers an expression: emits its effects as statements and returns its value.
    pub(super) fn expr(&mut self, expr: &'a hir::Expr) -> Outcome<Val> {
        match &expr.kind {
            ExprKind::Constant(value) => self.constant(value, &expr.ty),
            ExprKind::Read(place) => self.read(place),
            ExprKind::Unary(op, x) => {
                let x = self.expr(x)?;
                self.unary(*op, x)
            }
            ExprKind::Binary(first, links) => self.links(first, links),
            ExprKind::And(operands) => self.all(operands, false),
            ExprKind::Or(operands) => self.all(operands, true),
            ExprKind::Ternary(condition, first, second) => self.ternary(condition, first, second, &expr.ty),
            ExprKind::Convert(x) => {
                let value = self.expr(x)?;
                self.convert(value, &x.ty, &expr.ty)
            }
            ExprKind::Step { place, by, before } => self.step(place, *by, *before),
            ExprKind::Call(callee, args) => self.call(*callee, args, expr),
            ExprKind::Pop => {
                self.span = expr.span;
                self.pop()
            }
            ExprKind::Peek(index) => {
                let index = self.scalar(index)?;
                self.span = expr.span;
                self.peek(index)
            }
            ExprKind::Iter => Ok(Val::Scalar(Expr::Iter)),
            ExprKind::Compose(parts) => self.compose(parts),
        }
    }

    fn compose(&mut self, parts: &'a [hir::Expr]) -> Outcome<Val> {
        let values = self.operands(&parts.iter().collect::<Vec<_>>())?;
        let scalars = values.into_iter().map(|value| match value {
            Val::Scalar(ex) => Ok(ex),
            _ => Err("a component is not a float".into()),
        });
        Ok(Val::Cells(scalars.collect::<Outcome<_>>()?))
    }

    /// Lowers `&&` and `||`: an operand is evaluated only where those before it do not decide.
    fn all(&mut self, operands: &'a [hir::Expr], decides: bool) -> Outcome<Val> {
        let (first, rest) = operands.split_first().ok_or("an operator has no operands")?;
        let mut value = self.scalar(first)?;
        for (at, second) in rest.iter().enumerate() {
            if (at + 1) % MAX_LINKS == 0 {
                value = self.spill(value);
            }
            value = self.short(value, second, decides)?;
        }
        Ok(Val::Scalar(value))
    }

    fn short(&mut self, a: Expr, second: &'a hir::Expr, decides: bool) -> Outcome<Expr> {
        if let Some(Scalar::Bool(known)) = a.constant() {
            return if known == decides { Ok(Expr::Const(Scalar::Bool(known))) } else { self.scalar(second) };
        }
        let op = if decides { BinaryOp::BitOr } else { BinaryOp::BitAnd };
        if let Some(b) = self.pure(second)? {
            let Val::Scalar(b) = b else { return Err("a condition is not a scalar".into()) };
            return Ok(self.binary_scalar(op, Kind::Bool, a, b));
        }
        let result = self.var(Kind::Bool, "both");
        self.set(result, a.clone());
        let more = if decides { self.unary_scalar(thalweg_lang::hir::UnaryOp::Not, a) } else { a };
        self.branch(
            more,
            |lower| {
                let b = lower.scalar(second)?;
                lower.set(result, b);
                Ok(())
            },
            |_| Ok(()),
        )?;
        Ok(Expr::Var(result))
    }

    /// The value of an expression without effects, which can be evaluated anywhere; `None` for others.
    fn pure(&mut self, expr: &'a hir::Expr) -> Outcome<Option<Val>> {
        let does = expr_does(expr, self.filter, self.program);
        if does.has_effects() || does.pops {
            return Ok(None);
        }
        let mark = self.mark();
        let (stmts, value) = self.aside(|lower| lower.expr(expr))?;
        if stmts.is_empty() && self.alive && !matches!(value, Val::Area(..)) {
            return Ok(Some(value));
        }
        self.rewind(mark);
        Ok(None)
    }

    fn ternary(
        &mut self,
        condition: &'a hir::Expr,
        first: &'a hir::Expr,
        second: &'a hir::Expr,
        ty: &Type,
    ) -> Outcome<Val> {
        let condition = self.scalar(condition)?;
        if let Some(Scalar::Bool(known)) = condition.constant() {
            return self.expr(if known { first } else { second });
        }
        if *ty == Type::String {
            return self.choose_text(condition, first, second);
        }
        if let Some(a) = self.pure(first)?
            && let Some(b) = self.pure(second)?
        {
            match (a, b) {
                (Val::Scalar(a), Val::Scalar(b)) => return Ok(Val::Scalar(self.select(condition, a, b))),
                (Val::Cells(a), Val::Cells(b)) => {
                    let condition = self.spill(condition);
                    let parts = a.into_iter().zip(b);
                    return Ok(Val::Cells(
                        parts.map(|(a, b)| self.select(condition.clone(), a, b)).collect(),
                    ));
                }
                _ => {}
            }
        }
        let shape = self.value_shape(ty, first)?;
        let result = self.temporary(&shape)?;
        self.branch(
            condition,
            |lower| {
                let value = lower.expr(first)?;
                lower.put(&result, value)
            },
            |lower| {
                let value = lower.expr(second)?;
                lower.put(&result, value)
            },
        )?;
        self.get(&result)
    }

    /// A choice between strings, made where they are printed.
    fn choose_text(&mut self, condition: Expr, first: &'a hir::Expr, second: &'a hir::Expr) -> Outcome<Val> {
        let condition = self.spill(condition);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.branch(
            condition.clone(),
            |lower| lower.text(first).map(|parts| a = parts),
            |lower| lower.text(second).map(|parts| b = parts),
        )?;
        Ok(Val::Text(vec![Part::Choice(condition, a, b)]))
    }

    /// The parts of a string, frozen.
    pub(super) fn text(&mut self, expr: &'a hir::Expr) -> Outcome<Vec<Part>> {
        let value = self.expr(expr)?;
        match self.freeze(value)? {
            Val::Text(parts) => Ok(parts),
            _ => Err("an expression is not a string".into()),
        }
    }

    fn select(&self, condition: Expr, a: Expr, b: Expr) -> Expr {
        if a == b {
            return a;
        }
        Expr::Select(a.kind(&self.code), Box::new([condition, a, b]))
    }

    /// The shape of an expression's value; for arrays only where lowering it reveals the shape.
    fn value_shape(&mut self, ty: &Type, expr: &'a hir::Expr) -> Outcome<Shape> {
        if is_scalar(ty) || components(ty).is_some() || matches!(ty, Type::Struct(_)) {
            return Ok(Shape::of(ty));
        }
        let mark = self.mark();
        let (_, value) = self.aside(|lower| lower.expr(expr))?;
        self.rewind(mark);
        match value {
            Val::Area(_, _, shape) => Ok(shape),
            _ => Err("a conditional expression selects between values of unknown shape".into()),
        }
    }

    /// Allocates a variable for a value.
    pub(super) fn temporary(&mut self, shape: &Shape) -> Outcome<super::Bind> {
        Ok(match shape {
            Shape::Scalar(ty) if is_scalar(ty) => super::Bind::Scalar(self.var(kind_of(ty)?, "r")),
            shape => super::Bind::Area(self.mem(MemKind::Local, shape, "r")?, shape.clone()),
        })
    }

    pub(super) fn put(&mut self, bind: &super::Bind, value: Val) -> Outcome<()> {
        match (bind, value) {
            (super::Bind::Scalar(var), Val::Scalar(ex)) => {
                self.set(*var, ex);
                Ok(())
            }
            (super::Bind::Area(mem, shape), value) => {
                let (mem, shape) = (*mem, shape.clone());
                self.store_cells(&Area::Mem(mem), &Expr::int(0), &shape, value)
            }
            _ => Err("a value does not have the type of its variable".into()),
        }
    }

    pub(super) fn get(&mut self, bind: &super::Bind) -> Outcome<Val> {
        match bind {
            super::Bind::Scalar(var) => {
                Ok(Val::Scalar(self.known.constant(*var).map_or(Expr::Var(*var), Expr::Const)))
            }
            super::Bind::Area(mem, shape) => self.load_cells(&Area::Mem(*mem), &Expr::int(0), &shape.clone()),
            super::Bind::Text(parts) => Ok(Val::Text(parts.clone())),
            super::Bind::None => Ok(Val::Nothing),
        }
    }

    fn step(&mut self, place: &'a thalweg_lang::hir::Place, by: i32, before: bool) -> Outcome<Val> {
        let loc = self.place(place)?;
        let Val::Scalar(old) = self.load(&loc)? else {
            return Err("`++` or `--` is applied to something other than a number".into());
        };
        let old = self.spill(old);
        let new = match old.kind(&self.code) {
            Kind::Int => old.clone().plus(Expr::int(by.into())),
            Kind::Float => {
                let by = Expr::Const(Scalar::Float(by as f32));
                self.binary_scalar(BinaryOp::Add, Kind::Float, old.clone(), by)
            }
            Kind::Bool => {
                let number = self.convert_scalar(old.clone(), Kind::Bool, Kind::Int);
                self.compare(BinaryOp::Ne, number.plus(Expr::int(by.into())), Expr::int(0))
            }
        };
        let new = self.spill(new);
        self.store(&loc, Val::Scalar(new.clone()))?;
        Ok(Val::Scalar(if before { new } else { old }))
    }

    fn pop(&mut self) -> Outcome<Val> {
        let place = self.taken.place();
        match self.rates.pop.fixed() {
            Some(pop) if self.cursor_range(&self.taken.clone()).1 >= i64::from(pop) => {
                let more = self.compare(BinaryOp::Ge, place.clone(), Expr::int(pop.into()));
                let most = counted(pop.into());
                let why = format!("this firing pops more than the {most} of its rate");
                self.check(more, why, Vec::new());
            }
            Some(_) => {}
            None => self.need(Expr::int(0)),
        }
        self.taken.fixed += 1;
        self.item(place)
    }

    fn peek(&mut self, index: Expr) -> Outcome<Val> {
        let mut index = match index.kind(&self.code) {
            Kind::Bool => self.convert_scalar(index, Kind::Bool, Kind::Int),
            _ => index,
        };
        let waits = self.rates.decides_input();
        let most = self.rates.peek.most().map(i64::from);
        let (low, high) = self.range(&index);
        let taken = self.cursor_range(&self.taken.clone());
        let beyond = most.is_some_and(|most| high + taken.1 >= most);
        if waits || low < 0 || beyond {
            index = self.spill(index);
        }
        if low < 0 || beyond {
            let mut outside = self.compare(BinaryOp::Lt, index.clone(), Expr::int(0));
            if let Some(most) = most {
                // Subtract on this side, so that nothing wraps.
                let rest = self.binary_scalar(BinaryOp::Sub, Kind::Int, Expr::int(most), self.taken.place());
                let above = self.compare(BinaryOp::Ge, index.clone(), rest);
                outside = self.binary_scalar(BinaryOp::BitOr, Kind::Bool, outside, above);
            }
            let window = self.rates.window();
            let why = format!("`peek({{0}})` after {{1}} items were popped is outside of {window}");
            let taken = self.taken.place();
            self.check(outside, why, vec![index.clone(), taken]);
        }
        if waits {
            self.need(index.clone());
        }
        let place = self.taken.place().plus(index);
        self.item(place)
    }

    /// Lowers both branches of a condition; afterwards only what holds on both paths is known.
    pub(super) fn branch(
        &mut self,
        condition: Expr,
        then: impl FnOnce(&mut Self) -> Outcome<()>,
        otherwise: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        if let Some(Scalar::Bool(known)) = condition.constant() {
            return if known { then(self) } else { otherwise(self) };
        }
        let before = (self.known.clone(), self.taken.clone(), self.given.clone(), self.alive);
        let (mut first, ()) = self.aside(then)?;
        let after = (self.known.clone(), self.taken.clone(), self.given.clone(), self.alive);
        (self.known, self.taken, self.given, self.alive) = before;
        let (mut second, ()) = self.aside(otherwise)?;
        match (after.3, self.alive) {
            (true, true) => {
                let theirs = [after.1, after.2];
                for (theirs, takes) in theirs.into_iter().zip([true, false]) {
                    self.merge_cursors(theirs, takes, &mut first, &mut second);
                }
                self.known.join(&after.0);
            }
            (true, false) => (self.known, self.taken, self.given, self.alive) = after,
            _ => {}
        }
        let alive = std::mem::replace(&mut self.alive, true);
        if !first.is_empty() || !second.is_empty() {
            self.emit(Stmt::If(condition, first, second));
        }
        self.alive = alive && before.3;
        self.budget()
    }

    fn merge_cursors(
        &mut self,
        theirs: super::Cursor,
        takes: bool,
        first: &mut Vec<Stmt>,
        second: &mut Vec<Stmt>,
    ) {
        let ours = self.cursor(takes).clone();
        if theirs == ours {
            return;
        }
        let var = self.var(Kind::Int, if takes { "taken" } else { "given" });
        first.push(Stmt::Set(var, theirs.place()));
        second.push(Stmt::Set(var, ours.place()));
        self.settle_cursor(var, takes);
    }
}
