//! Unroll-and-jam: several iterations of an outer loop side by side, where the sums that each of them
//! computes in an inner loop are independent.
//!
//! ```text
//! for v from a to b {            for v from a to b by 2 {
//!     before                         before of v, before of v + 1
//!     for w from v + c to d          inner of w = v + c, for v
//!         inner               ──▶    for w from v + 1 + c to d { inner for v, inner for v + 1 }
//!     after                          after of v, after of v + 1
//! }                              }
//! ```
//!
//! Sums of one iteration keep their order, and the statements after the inner loop run iteration by
//! iteration. What the inner loops load from one position is loaded once, and no addition waits for the one
//! before it.

use super::names::rename;
use crate::ir::{Code, Expr, Stmt, Var, exprs, replace, walk, walk_exprs};
use std::collections::{HashMap, HashSet};
use thalweg_lang::hir::BinaryOp;

/// Iterations side by side.
const UNROLLED: i64 = 4;

/// The most variables that all of them change in the inner loop.
const MOST: usize = 24;

/// The code after unroll-and-jam, if it has a loop that allows it.
pub(crate) fn unroll_and_jam(code: &Code) -> Option<Code> {
    let mut made = code.clone();
    let mut body = Vec::new();
    let mut found = false;
    for st in &code.body {
        match LoopNest::of(code, st) {
            Some(nest) => {
                nest.write(&mut made, &mut body);
                found = true;
            }
            None => body.push(st.clone()),
        }
    }
    made.body = body;
    found.then_some(made)
}

/// A nest of two loops.
struct LoopNest<'a> {
    var: Var,
    from: i64,
    to: i64,
    all: &'a [Stmt],
    before: &'a [Stmt],
    after: &'a [Stmt],
    /// The inner loop: its variable, its first value, how far that moves with each outer iteration, and its
    /// end.
    count: Var,
    begin: i64,
    moves: i64,
    end: i64,
    inner: &'a [Stmt],
    /// Variables that are private to an iteration.
    own: HashSet<Var>,
}

impl<'a> LoopNest<'a> {
    fn of(code: &Code, st: &'a Stmt) -> Option<LoopNest<'a>> {
        let Stmt::For { var, from, to, step: 1, body: all } = st else { return None };
        let at = all.iter().position(|st| matches!(st, Stmt::For { .. }))?;
        let (before, after) = (&all[..at], &all[at + 1..]);
        let Stmt::For { var: count, from: begin, to: end, step: 1, body: inner } = &all[at] else {
            return None;
        };
        let plain = |stmts: &[Stmt]| stmts.iter().all(|st| matches!(st, Stmt::Set(..)));
        let mut simple = plain(before) && plain(inner);
        walk(after, &mut |st| simple &= matches!(st, Stmt::Set(..) | Stmt::If(..)));
        let (moves, begin) = affine(*var, before, begin)?;
        let int = |ex: &Expr| ex.as_int().map(i64::from);
        let (from, to, end) = (int(from)?, int(to)?, int(end)?);
        let own = changed(before).chain(changed(inner)).chain([*count]).collect();
        let nest = LoopNest {
            var: *var,
            from,
            to,
            all,
            before,
            after,
            count: *count,
            begin,
            moves,
            end,
            inner,
            own,
        };
        // The iterations that are peeled off must exist in each of the inner loops.
        let last = (nest.whole() - UNROLLED) * moves + begin + (UNROLLED - 1) * moves;
        let fits = to - from >= UNROLLED && last <= end && changed(inner).count() * UNROLLED as usize <= MOST;
        (simple && fits && nest.is_independent(code, st)).then_some(nest)
    }

    /// The end of the iterations that are done side by side.
    fn whole(&self) -> i64 {
        self.to - (self.to - self.from) % UNROLLED
    }

    /// Whether iterations are independent up to the end of the inner loop, and their private variables are
    /// not read after the loop.
    fn is_independent(&self, code: &Code, whole: &Stmt) -> bool {
        let written: HashSet<Var> = changed(self.all).collect();
        let mut set = HashSet::from([self.var, self.count]);
        let mut own = true;
        for st in self.before.iter().chain(self.inner) {
            exprs(st, &mut |ex| {
                own &= reads(ex).iter().all(|var| set.contains(var) || !written.contains(var))
            });
            set.extend(changed(std::slice::from_ref(st)));
        }
        // The inner loop may have no iterations.
        let given: HashSet<Var> = changed(self.before).collect();
        let mut asks = HashSet::new();
        walk_exprs(self.after, &mut |ex| {
            if let Expr::Var(var) = ex {
                asks.insert(*var);
            }
        });
        let known = asks.iter().all(|var| !self.own.contains(var) || given.contains(var));
        let count = |stmts: &[Stmt]| {
            let mut count = 0;
            walk_exprs(stmts, &mut |ex| {
                count += usize::from(matches!(ex, Expr::Var(var) if self.own.contains(var)))
            });
            count
        };
        own && known
            && !self.own.contains(&self.var)
            && count(&code.body) == count(std::slice::from_ref(whole))
    }

    fn write(&self, code: &mut Code, out: &mut Vec<Stmt>) {
        let names: Vec<HashMap<Var, Var>> = (0..UNROLLED).map(|_| self.names(code)).collect();
        let mut body = Vec::new();
        let iteration = |stmts: &[Stmt], iteration: i64, out: &mut Vec<Stmt>| {
            let mut stmts = stmts.to_vec();
            rename(&mut stmts, &names[iteration as usize]);
            replace(&mut stmts, self.var, &Expr::Var(self.var).plus(Expr::int(iteration)));
            out.append(&mut stmts);
        };
        let first = if self.moves == 0 { Expr::int(0) } else { Expr::Var(self.var) };
        (0..UNROLLED).for_each(|at| iteration(self.before, at, &mut body));
        for at in 0..UNROLLED {
            for place in at * self.moves..(UNROLLED - 1) * self.moves {
                let mut once = Vec::new();
                iteration(self.inner, at, &mut once);
                let count = names[at as usize][&self.count];
                replace(&mut once, count, &first.clone().plus(Expr::int(self.begin + place)));
                body.append(&mut once);
            }
        }
        let mut inner = Vec::new();
        for at in 0..UNROLLED {
            iteration(self.inner, at, &mut inner);
            rename(&mut inner, &HashMap::from([(names[at as usize][&self.count], self.count)]));
        }
        let from = first.plus(Expr::int(self.begin + (UNROLLED - 1) * self.moves));
        body.push(Stmt::For { var: self.count, from, to: Expr::int(self.end), step: 1, body: inner });
        (0..UNROLLED).for_each(|at| iteration(self.after, at, &mut body));
        let (var, whole) = (self.var, Expr::int(self.whole()));
        out.push(Stmt::For {
            var,
            from: Expr::int(self.from),
            to: whole.clone(),
            step: UNROLLED as i32,
            body,
        });
        out.push(Stmt::For { var, from: whole, to: Expr::int(self.to), step: 1, body: self.all.to_vec() });
    }

    /// New names of an iteration's private variables.
    fn names(&self, code: &mut Code) -> HashMap<Var, Var> {
        let mut own: Vec<Var> = self.own.iter().copied().collect();
        own.sort_unstable();
        let mut names = HashMap::new();
        for var in own {
            let info = code.vars[var.0 as usize].clone();
            names.insert(var, Var(code.vars.len() as u32));
            code.vars.push(info);
        }
        names
    }
}

/// The factor of a variable in an integer, 0 or 1, and the constant added to it.
fn affine(var: Var, before: &[Stmt], ex: &Expr) -> Option<(i64, i64)> {
    match ex {
        Expr::Const(_) => Some((0, ex.as_int()?.into())),
        Expr::Var(other) if *other == var => Some((1, 0)),
        Expr::Var(other) => {
            let at = before.iter().rposition(|st| matches!(st, Stmt::Set(set, _) if set == other))?;
            let Stmt::Set(_, value) = &before[at] else { return None };
            affine(var, &before[..at], value)
        }
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), crate::ir::Kind::Int, x, y) => {
            let (moves, begin) = affine(var, before, x)?;
            let by = i64::from(y.as_int()?);
            Some((moves, if *op == BinaryOp::Add { begin + by } else { begin - by }))
        }
        _ => None,
    }
}

/// Variables that statements change.
fn changed(stmts: &[Stmt]) -> std::vec::IntoIter<Var> {
    let mut all = Vec::new();
    walk(stmts, &mut |st| {
        if let Stmt::Set(var, _) | Stmt::For { var, .. } = st
            && !all.contains(var)
        {
            all.push(*var);
        }
    });
    all.into_iter()
}

fn reads(ex: &Expr) -> Vec<Var> {
    let mut all = Vec::new();
    fn down(ex: &Expr, all: &mut Vec<Var>) {
        if let Expr::Var(var) = ex {
            all.push(*var);
        }
        ex.each(&mut |part| down(part, all));
    }
    down(ex, &mut all);
    all
}
