//! Unrolls loops over items inside, so that every index is constant.

use crate::ir::{Area, Code, Expr, Kind, Mem, Scalar, Stmt, Var, exprs_mut, inner, walk, walk_exprs};
use std::collections::HashMap;
use thalweg_lang::hir::BinaryOp;

/// The most statements of a code after unrolling.
const MOST: usize = 1500;

/// The most iterations of a loop.
const MOST_ITERATIONS: i64 = 256;

/// Unrolls what must be; `None` where the result is too large.
pub(super) fn unroll(code: &mut Code, own: &[Mem]) -> Option<()> {
    let mut unroll = Unroll { own, known: HashMap::new(), size: 0 };
    let mut out = Vec::new();
    unroll.stmts(std::mem::take(&mut code.body), &mut out)?;
    code.body = out;
    Some(())
}

struct Unroll<'a> {
    own: &'a [Mem],
    /// Integer variables with known values.
    known: HashMap<Var, i32>,
    size: usize,
}

impl Unroll<'_> {
    fn stmts(&mut self, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) -> Option<()> {
        stmts.into_iter().try_for_each(|st| self.st(st, out))
    }

    fn inside(&mut self, stmts: Vec<Stmt>) -> Option<Vec<Stmt>> {
        let mut out = Vec::new();
        self.stmts(stmts, &mut out)?;
        Some(out)
    }

    fn st(&mut self, mut st: Stmt, out: &mut Vec<Stmt>) -> Option<()> {
        self.size += 1;
        if self.size > MOST {
            return None;
        }
        exprs_mut(&mut st, &mut |ex| self.fold(ex));
        let st = match st {
            Stmt::Set(var, value) => {
                match value.as_int() {
                    Some(value) => self.known.insert(var, value),
                    None => self.known.remove(&var),
                };
                Stmt::Set(var, value)
            }
            Stmt::If(condition, then, otherwise) => {
                let before = self.known.clone();
                let first = self.inside(then)?;
                self.known.clone_from(&before);
                let second = self.inside(otherwise)?;
                self.known = before;
                self.forget(&first);
                self.forget(&second);
                Stmt::If(condition, first, second)
            }
            Stmt::For { var, from, to, step, body } => {
                if let (Some(from), Some(to), true) = (from.as_int(), to.as_int(), self.must(&body)) {
                    return self.iterations(var, (from, to, step), &body, out);
                }
                self.forget(&body);
                self.known.remove(&var);
                let before = self.known.clone();
                let body = self.inside(body)?;
                self.known = before;
                Stmt::For { var, from, to, step, body }
            }
            other => other,
        };
        out.push(st);
        Some(())
    }

    /// Whether a loop accesses positions that must be constant.
    fn must(&self, body: &[Stmt]) -> bool {
        let is_own = |area: &Area| match area {
            Area::Mem(mem) => self.own.contains(mem),
            Area::Out(_) => true,
            Area::In(_) => false,
        };
        let mut must = false;
        walk(body, &mut |st| must |= matches!(st, Stmt::Store(area, ..) if is_own(area)));
        walk_exprs(body, &mut |ex| must |= matches!(ex, Expr::Load(area, ..) if is_own(area)));
        must
    }

    fn iterations(
        &mut self,
        var: Var,
        (from, to, step): (i32, i32, i32),
        body: &[Stmt],
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let (mut at, to, step) = (i64::from(from), i64::from(to), i64::from(step));
        let goes_on = |at: i64| if step > 0 { at < to } else { at > to };
        for _ in 0..MOST_ITERATIONS {
            self.known.insert(var, at as i32);
            if !goes_on(at) {
                out.push(Stmt::Set(var, Expr::int(at)));
                return Some(());
            }
            self.stmts(body.to_vec(), out)?;
            at += step;
        }
        None
    }

    /// Drops what is known of variables that statements change.
    fn forget(&mut self, stmts: &[Stmt]) {
        for st in stmts {
            if let Stmt::Set(var, _) | Stmt::For { var, .. } = st {
                self.known.remove(var);
            }
            inner(st).for_each(|stmts| self.forget(stmts));
        }
    }

    fn fold(&self, ex: &mut Expr) {
        ex.each_mut(&mut |part| self.fold(part));
        match ex {
            Expr::Var(var) => {
                if let Some(value) = self.known.get(var) {
                    *ex = Expr::int(i64::from(*value));
                }
            }
            Expr::Binary(op, Kind::Int, x, y) => {
                if let (Some(x), Some(y)) = (x.as_int(), y.as_int())
                    && let Some(value) = value(*op, x, y)
                {
                    *ex = Expr::Const(Scalar::Int(value));
                }
            }
            _ => {}
        }
    }
}

/// Folds arithmetic on positions.
fn value(op: BinaryOp, x: i32, y: i32) -> Option<i32> {
    match op {
        BinaryOp::Add => Some(x.wrapping_add(y)),
        BinaryOp::Sub => Some(x.wrapping_sub(y)),
        BinaryOp::Mul => Some(x.wrapping_mul(y)),
        _ => None,
    }
}
