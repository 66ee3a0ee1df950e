//! Splits a code into one code for each cell of its output items.
//!
//! Each has only what its cell needs. To make isomorphic codes look alike, loads are moved to where their
//! values are used, and `a - k * b` becomes `a + (-k) * b` with the constant or table `k` negated. This keeps
//! the bits: subtracting equals adding the negated operand, and negating a factor negates the product.

use crate::ir::{Area, Code, Expr, Kind, Mem, MemInfo, MemKind, Scalar, Stmt, Var};
use crate::ir::{exprs, exprs_mut, inner_mut, replace, walk, walk_exprs};
use crate::scalar_replacement::sweep;
use std::collections::HashMap;
use thalweg_lang::hir::BinaryOp;

/// The most cells.
const MOST: usize = 4;

/// The codes of a firing's cells, if it has several and keeps no state.
pub(crate) fn parts(code: &Code, cells: usize) -> Option<Vec<Code>> {
    let has_state = code.vars.iter().any(|var| var.field.is_some())
        || code.mems.iter().any(|mem| matches!(mem.kind, MemKind::Field(_)));
    if !(2..=MOST).contains(&cells) || has_state {
        return None;
    }
    let mut known = true;
    walk(&code.body, &mut |st| {
        if let Stmt::Store(Area::Out(_), at, ..) = st {
            known &= at.as_int().is_some_and(|at| (0..cells as i32).contains(&at));
        }
    });
    known.then(|| (0..cells as i32).map(|part| part_of(code, part)).collect())
}

fn part_of(code: &Code, part: i32) -> Code {
    let mut code = code.clone();
    keep(&mut code.body, part);
    drop_unneeded(&mut code);
    forward(&mut code);
    add_negated(&mut code);
    while sweep(&mut code) {}
    code
}

/// The variables and runs of cells that a code needs.
struct Needed {
    vars: Vec<bool>,
    mems: Vec<bool>,
}

impl Needed {
    /// Marks what an expression reads; returns whether any of it is new.
    fn read(&mut self, ex: &Expr) -> bool {
        let mut new = match ex {
            Expr::Var(var) => !std::mem::replace(&mut self.vars[var.0 as usize], true),
            Expr::Load(Area::Mem(mem), ..) => !std::mem::replace(&mut self.mems[mem.0 as usize], true),
            _ => false,
        };
        ex.each(&mut |part| new |= self.read(part));
        new
    }

    fn has(&self, st: &Stmt) -> bool {
        match st {
            Stmt::Set(var, _) => self.vars[var.0 as usize],
            Stmt::Store(Area::Mem(mem), ..) => self.mems[mem.0 as usize],
            _ => true,
        }
    }
}

/// Drops assignments that no output depends on, including those to accumulators that feed only themselves.
fn drop_unneeded(code: &mut Code) {
    let mut needed = Needed { vars: vec![false; code.vars.len()], mems: vec![false; code.mems.len()] };
    let mut new = true;
    while std::mem::take(&mut new) {
        walk(&code.body, &mut |st| {
            if needed.has(st) {
                exprs(st, &mut |ex| new |= needed.read(ex));
            }
        });
    }
    fn drop_in(stmts: &mut Vec<Stmt>, needed: &Needed) {
        stmts.retain(|st| needed.has(st));
        stmts.iter_mut().flat_map(inner_mut).for_each(|stmts| drop_in(stmts, needed));
    }
    drop_in(&mut code.body, &needed);
    while sweep(code) {}
}

fn keep(stmts: &mut Vec<Stmt>, part: i32) {
    stmts.retain(|st| !matches!(st, Stmt::Store(Area::Out(_), at, ..) if at.as_int() != Some(part)));
    stmts.iter_mut().flat_map(inner_mut).for_each(|stmts| keep(stmts, part));
}

/// How often each variable is assigned, and read.
fn counts(code: &Code) -> (Vec<u32>, Vec<u32>) {
    let (mut set, mut read) = (vec![0; code.vars.len()], vec![0; code.vars.len()]);
    walk(&code.body, &mut |st| {
        if let Stmt::Set(var, _) | Stmt::For { var, .. } | Stmt::Random(var) = st {
            set[var.0 as usize] += 1;
        }
    });
    walk_exprs(&code.body, &mut |ex| {
        if let Expr::Var(var) = ex {
            read[var.0 as usize] += 1;
        }
    });
    (set, read)
}

/// Moves loads of items and tables, and copies of them, to where their values are used.
fn forward(code: &mut Code) {
    let (set, read) = counts(code);
    let mut body = std::mem::take(&mut code.body);
    forward_in(code, &mut body, &set, &read);
    code.body = body;
}

fn forward_in(code: &Code, stmts: &mut Vec<Stmt>, set: &[u32], read: &[u32]) {
    let mut at = 0;
    while at < stmts.len() {
        inner_mut(&mut stmts[at]).for_each(|stmts| forward_in(code, stmts, set, read));
        let (before, rest) = stmts.split_at_mut(at + 1);
        if let Stmt::Set(var, value) = &before[at]
            && set[var.0 as usize] == 1
            && can_move(code, value, rest)
            && reads(rest, *var) == read[var.0 as usize]
        {
            replace(rest, *var, value);
            stmts.remove(at);
        } else {
            at += 1;
        }
    }
}

/// Whether a value is cheap and unchanged by these statements.
fn can_move(code: &Code, value: &Expr, rest: &[Stmt]) -> bool {
    match value {
        Expr::Load(Area::In(item), at, _) => stays(item, rest) && stays(at, rest),
        Expr::Load(Area::Mem(mem), at, _) => {
            matches!(code.mems[mem.0 as usize].kind, MemKind::Table(_)) && stays(at, rest)
        }
        _ => false,
    }
}

/// Whether the statements change nothing that an index depends on.
fn stays(index: &Expr, rest: &[Stmt]) -> bool {
    let mut fixed = !matches!(index, Expr::Load(..) | Expr::Iter);
    if let Expr::Var(var) = index {
        walk(rest, &mut |st| {
            fixed &= !matches!(st, Stmt::Set(set, _) | Stmt::For { var: set, .. } if set == var)
        });
    }
    index.each(&mut |part| fixed &= stays(part, rest));
    fixed
}

fn reads(stmts: &[Stmt], var: Var) -> u32 {
    let mut count = 0;
    walk_exprs(stmts, &mut |ex| count += u32::from(matches!(ex, Expr::Var(read) if *read == var)));
    count
}

/// Turns differences into sums where the subtrahend is a product with a constant factor.
fn add_negated(code: &mut Code) {
    let mut body = std::mem::take(&mut code.body);
    let mut negated = HashMap::new();
    fn through(stmts: &mut [Stmt], code: &mut Code, negated: &mut HashMap<Mem, Mem>) {
        for st in stmts {
            exprs_mut(st, &mut |ex| add_in(ex, code, negated));
            inner_mut(st).for_each(|stmts| through(stmts, code, negated));
        }
    }
    through(&mut body, code, &mut negated);
    code.body = body;
}

fn add_in(ex: &mut Expr, code: &mut Code, negated: &mut HashMap<Mem, Mem>) {
    ex.each_mut(&mut |part| add_in(part, code, negated));
    let Expr::Binary(op @ BinaryOp::Sub, Kind::Float, _, taken) = ex else { return };
    let Expr::Binary(BinaryOp::Mul, Kind::Float, x, y) = &mut **taken else { return };
    for factor in [x, y] {
        if let Some(other) = negative(factor, code, negated) {
            **factor = other;
            *op = BinaryOp::Add;
            return;
        }
    }
}

/// A constant, or a table's cell, negated.
fn negative(ex: &Expr, code: &mut Code, negated: &mut HashMap<Mem, Mem>) -> Option<Expr> {
    let minus = |value: &Scalar| if let Scalar::Float(x) = value { Some(Scalar::Float(-x)) } else { None };
    match ex {
        Expr::Const(value) => minus(value).map(Expr::Const),
        Expr::Load(Area::Mem(mem), at, Kind::Float) => {
            let MemInfo { kind: MemKind::Table(values), cell, cells, name } = &code.mems[mem.0 as usize]
            else {
                return None;
            };
            let other = match negated.get(mem) {
                Some(other) => *other,
                None => {
                    let values = values.iter().map(minus).collect::<Option<Vec<_>>>()?;
                    let (cell, cells, name) = (*cell, *cells, name.clone());
                    code.mems.push(MemInfo { kind: MemKind::Table(values), cell, cells, name });
                    let other = Mem(code.mems.len() as u32 - 1);
                    negated.insert(*mem, other);
                    other
                }
            };
            Some(Expr::Load(Area::Mem(other), at.clone(), Kind::Float))
        }
        _ => None,
    }
}
