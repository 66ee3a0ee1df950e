//! Loops: unrolled where that is cheap, counted where possible, and general otherwise.

mod count;
mod unroll;

use super::assigned::{Does, does};
use super::{Bind, Lower, Outcome, strip};
use crate::ir::{Label, Stmt, Var};
use thalweg_lang::hir::{self, BinaryOp, ExprKind, Place, Root, StmtKind, Type};

/// The cost limit of a loop that is unrolled: expressions and statements after unrolling.
pub(super) const CHEAP: u64 = 160;

/// The same limit where unrolling turns a short array into scalars.
pub(super) const UNROLL_LIMIT: u64 = 2500;

/// The most cells of an array that may become scalars.
const SHORT: usize = 64;

/// The most iterations of a loop that is unrolled only because all its conditions are constant.
const MOST_ITERATIONS: usize = 64;

/// A counted loop.
struct Count<'a> {
    local: u32,
    var: Var,
    op: BinaryOp,
    bound: &'a hir::Expr,
    step: i32,
}

/// The labels of a loop: where `break` and `continue` go.
#[derive(Clone, Copy)]
struct Ends {
    brk: Label,
    cont: Label,
}

impl<'a> Lower<'a> {
    pub(super) fn repeat(
        &mut self,
        condition: Option<&'a hir::Expr>,
        step: &'a [hir::Stmt],
        body: &'a [hir::Stmt],
        body_first: bool,
    ) -> Outcome<()> {
        let what = does(body, self.filter, self.program);
        if !body_first
            && let Some(count) = condition.and_then(|condition| self.counts(condition, step, &what))
        {
            return self.counted(&count, condition, step, body, &what);
        }
        if !what.pops && !what.pushes || what.size < 64 {
            let mark = self.mark();
            let (stmts, done) =
                self.aside(|lower| lower.unroll(condition, step, body, body_first, &what, MOST_ITERATIONS))?;
            if done {
                self.out.extend(stmts);
                return Ok(());
            }
            self.rewind(mark);
        }
        self.endless(condition, step, body, body_first, &what)
    }

    /// Recognises a loop that counts a variable up or down.
    fn counts(&mut self, condition: &'a hir::Expr, step: &'a [hir::Stmt], what: &Does) -> Option<Count<'a>> {
        let (op, first, bound) = condition.as_binary()?;
        let ExprKind::Read(place) = &first.kind else { return None };
        let Root::Local(local) = place.root else { return None };
        let [step] = step else { return None };
        let step = step_of(step, place)?;
        let up = matches!(op, BinaryOp::Lt | BinaryOp::Le);
        let down = matches!(op, BinaryOp::Gt | BinaryOp::Ge);
        let Bind::Scalar(var) = self.frame().locals[local as usize] else { return None };
        let changes = |root: &Root| *root == Root::Local(local);
        let fits = place.path.is_empty() && first.ty == Type::Int && (up && step > 0 || down && step < 0);
        (fits && !what.roots.iter().any(changes)).then_some(Count { local, var, op, bound, step })
    }

    fn counted(
        &mut self,
        count: &Count<'a>,
        condition: Option<&'a hir::Expr>,
        step: &'a [hir::Stmt],
        body: &'a [hir::Stmt],
        what: &Does,
    ) -> Outcome<()> {
        let Some((from, to)) = self.bounds(count, body, what)? else {
            return self.endless(condition, step, body, false, what);
        };
        let iterations = match (from.as_int(), to.as_int()) {
            (Some(from), Some(to)) => Some(iterations(from, to, count.step)),
            _ => None,
        };
        if iterations == Some(0) {
            return Ok(());
        }
        let cost = iterations.map(|iterations| iterations.saturating_mul(what.size as u64));
        let short = what.indexed.iter().any(|local| *local != count.local && self.is_short(*local));
        if let (Some(iterations), Some(cost)) = (iterations, cost)
            && (iterations == 1 || cost <= if short { self.unroll_limit } else { CHEAP })
        {
            let mark = self.mark();
            let (stmts, done) =
                self.aside(|lower| lower.unroll(condition, step, body, false, what, iterations as usize))?;
            if done {
                self.out.extend(stmts);
                return Ok(());
            }
            self.rewind(mark);
        }
        self.counting(count, (from, to, iterations), body, what)
    }

    fn is_short(&mut self, local: u32) -> bool {
        let structs = &self.tree.structs;
        match self.frames.last().map(|frame| &frame.locals[local as usize]) {
            Some(Bind::Area(mem, shape)) => {
                let info = &self.code.mems[mem.0 as usize];
                info.kind == crate::ir::MemKind::Local && super::cells_of(shape, structs) <= SHORT
            }
            _ => false,
        }
    }

    /// A loop of which nothing is known.
    fn endless(
        &mut self,
        condition: Option<&'a hir::Expr>,
        step: &'a [hir::Stmt],
        body: &'a [hir::Stmt],
        body_first: bool,
        what: &Does,
    ) -> Outcome<()> {
        let (brk, cont) = (self.label(), self.label());
        let head_does = condition.map(|c| super::assigned::expr_does(c, self.filter, self.program));
        let pops = what.pops || head_does.as_ref().is_some_and(|does| does.pops);
        self.make_even(brk, pops, what.pushes);
        let vars = self.uneven.get(&brk).copied().unwrap_or_default();
        for (var, takes) in vars.into_iter().zip([true, false]) {
            if let Some(var) = var {
                self.settle_cursor(var, takes);
            }
        }
        self.forget_changed(&[body, step], condition);
        let (stmts, ()) = self.aside(|lower| {
            if !body_first {
                lower.leave_unless(condition, brk)?;
            }
            if what.breaks {
                lower.make_even(cont, what.pops, what.pushes);
            }
            let mut stmts = lower.iteration(Ends { brk, cont }, body)?;
            strip(&mut stmts, cont);
            lower.enclose(cont, stmts);
            if body_first && lower.alive {
                lower.leave_unless(condition, brk)?;
            }
            if lower.alive {
                lower.stmts(step)?;
                lower.flush_cursors(brk);
            }
            Ok(())
        })?;
        self.alive = true;
        self.emit(Stmt::Loop(stmts));
        self.alive = false;
        self.close(brk)?;
        let loops = self.out.pop();
        self.out.push(Stmt::Block(brk, loops.into_iter().collect()));
        Ok(())
    }

    fn leave_unless(&mut self, condition: Option<&'a hir::Expr>, label: Label) -> Outcome<()> {
        let Some(condition) = condition else { return Ok(()) };
        let holds = self.scalar(condition)?;
        let fails = self.unary_scalar(thalweg_lang::hir::UnaryOp::Not, holds);
        self.branch(
            fails,
            |lower| {
                lower.leave(label);
                Ok(())
            },
            |_| Ok(()),
        )
    }
}

/// The constant by which a statement steps a local.
fn step_of(stmt: &hir::Stmt, place: &Place) -> Option<i32> {
    let constant = |expr: &hir::Expr| match &expr.kind {
        ExprKind::Constant(thalweg_lang::value::Value::Int(by)) => Some(*by),
        _ => None,
    };
    match &stmt.kind {
        StmtKind::Expr(hir::Expr { kind: ExprKind::Step { place: stepped, by, .. }, .. }) => {
            (stepped == place).then_some(*by)
        }
        StmtKind::Update { place: stepped, op, value, via: Type::Int } if stepped == place => match op {
            BinaryOp::Add => constant(value),
            BinaryOp::Sub => constant(value)?.checked_neg(),
            _ => None,
        },
        StmtKind::Assign(stepped, value) if stepped == place => {
            let (op, first, second) = value.as_binary()?;
            let same = matches!(&first.kind, ExprKind::Read(read) if read == place);
            match op {
                BinaryOp::Add if same => constant(second),
                BinaryOp::Sub if same => constant(second)?.checked_neg(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The number of iterations of a loop.
fn iterations(from: i32, to: i32, step: i32) -> u64 {
    let (from, to, step) = (i64::from(from), i64::from(to), i64::from(step));
    let way = if step > 0 { to - from } else { from - to };
    if way <= 0 { 0 } else { way.unsigned_abs().div_ceil(step.unsigned_abs()) }
}
