//! Loop fusion: loops with the same bounds that do not depend on each other become one.
//!
//! Statements are put in *levels*: each comes after all that it depends on, and loops of one level are
//! independent. Outputs are never read and each position is written once, so stores to outputs have no order.

use super::names::{apart, rename};
use super::table_interleaving::columns;
use crate::ir::{Area, Code, Expr, Mem, Stmt, Var, walk, walk_exprs};
use crate::scalar_replacement::sweep;
use std::collections::{HashMap, HashSet};

/// The most sums in one loop: as many as there are registers.
const SUMS: usize = 24;

/// Fuses loops where possible.
pub(super) fn fuse_loops(code: &mut Code) {
    if code.body.iter().filter(|st| matches!(st, Stmt::For { .. })).count() < 2 {
        return;
    }
    apart(code);
    let reads = reads(&code.body);
    let mut body = Vec::new();
    for level in levels(std::mem::take(&mut code.body)) {
        let (mut loops, others): (Vec<Stmt>, Vec<Stmt>) =
            level.into_iter().partition(|st| matches!(st, Stmt::For { .. }));
        body.extend(others);
        while !loops.is_empty() {
            let (same, rest) = alike(loops);
            loops = rest;
            for share in shares(&reads, same) {
                one(code, share, &mut body);
            }
        }
    }
    code.body = body;
    while sweep(code) {}
}

/// The number of reads of each variable.
fn reads(stmts: &[Stmt]) -> HashMap<Var, usize> {
    let mut reads = HashMap::new();
    walk_exprs(stmts, &mut |ex| {
        if let Expr::Var(var) = ex {
            *reads.entry(*var).or_default() += 1;
        }
    });
    reads
}

/// What statements read or change.
#[derive(PartialEq, Eq, Hash, Clone, Copy)]
enum Thing {
    Var(Var),
    Mem(Mem),
}

/// What a statement reads, and what it changes.
fn things(st: &Stmt) -> (HashSet<Thing>, HashSet<Thing>) {
    let (mut looks, mut changes) = (HashSet::new(), HashSet::new());
    let stmts = std::slice::from_ref(st);
    walk_exprs(stmts, &mut |ex| {
        _ = match ex {
            Expr::Var(var) => looks.insert(Thing::Var(*var)),
            Expr::Load(Area::Mem(mem), ..) => looks.insert(Thing::Mem(*mem)),
            _ => false,
        };
    });
    walk(stmts, &mut |st| {
        _ = match st {
            Stmt::Set(var, _) | Stmt::For { var, .. } => changes.insert(Thing::Var(*var)),
            Stmt::Store(Area::Mem(mem), ..) => changes.insert(Thing::Mem(*mem)),
            _ => false,
        };
    });
    (looks, changes)
}

/// Groups statements by level.
fn levels(stmts: Vec<Stmt>) -> Vec<Vec<Stmt>> {
    // By thing: the first level after all its readers, and after all its writers.
    let (mut looked, mut changed): (HashMap<Thing, usize>, HashMap<Thing, usize>) = Default::default();
    let mut levels: Vec<Vec<Stmt>> = Vec::new();
    for st in stmts {
        let (looks, changes) = things(&st);
        let done = |of: &HashMap<Thing, usize>, thing: &Thing| of.get(thing).copied().unwrap_or(0);
        let before = looks.iter().map(|thing| done(&changed, thing));
        let also = changes.iter().map(|thing| done(&changed, thing).max(done(&looked, thing)));
        let level = before.chain(also).max().unwrap_or(0);
        let next = level + usize::from(matches!(st, Stmt::For { .. }));
        for (things, levels) in [(looks, &mut looked), (changes, &mut changed)] {
            for thing in things {
                let level = levels.entry(thing).or_default();
                *level = next.max(*level);
            }
        }
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(st);
    }
    levels
}

/// Loops that can be fused with the first, and the others.
fn alike(mut loops: Vec<Stmt>) -> (Vec<Stmt>, Vec<Stmt>) {
    let bounds = |st: &Stmt| match st {
        Stmt::For { from, to, step, body, .. } => {
            let plain = body.iter().all(|st| matches!(st, Stmt::Set(..)));
            Some((from.as_int()?, to.as_int()?, *step)).filter(|_| plain)
        }
        _ => None,
    };
    match bounds(&loops[0]) {
        Some(first) => loops.into_iter().partition(|st| bounds(st) == Some(first)),
        None => {
            let rest = loops.split_off(1);
            (loops, rest)
        }
    }
}

/// Splits loops so that no part has too many sums.
fn shares(reads: &HashMap<Var, usize>, loops: Vec<Stmt>) -> Vec<Vec<Stmt>> {
    let sums: Vec<usize> = loops.iter().map(|st| sums(reads, st)).collect();
    let all: usize = sums.iter().sum();
    let most = all.div_ceil(all.div_ceil(SUMS).max(1));
    let (mut shares, mut count): (Vec<Vec<Stmt>>, usize) = (Vec::new(), 0);
    for (st, sums) in loops.into_iter().zip(sums) {
        match shares.last_mut() {
            Some(share) if count + sums <= most => share.push(st),
            _ => {
                shares.push(vec![st]);
                count = 0;
            }
        }
        count += sums;
    }
    shares
}

/// The number of variables that a loop changes and that are read after it.
fn sums(all: &HashMap<Var, usize>, st: &Stmt) -> usize {
    let within = reads(std::slice::from_ref(st));
    let mut sums = HashSet::new();
    walk(std::slice::from_ref(st), &mut |st| {
        if let Stmt::Set(var, _) = st
            && all.get(var) > within.get(var)
        {
            sums.insert(*var);
        }
    });
    sums.len()
}

/// Fuses loops into one.
fn one(code: &mut Code, loops: Vec<Stmt>, out: &mut Vec<Stmt>) {
    let mut loops = loops.into_iter();
    let Some(mut first) = loops.next() else { return };
    let Stmt::For { var, body, .. } = &mut first else { return out.push(first) };
    let (var, mut counts) = (*var, Vec::new());
    for other in loops {
        if let Stmt::For { var: count, body: mut more, .. } = other {
            rename(&mut more, &HashMap::from([(count, var)]));
            body.append(&mut more);
            counts.push(count);
        }
    }
    if !counts.is_empty() {
        columns(code, body);
    }
    out.push(first);
    // The final values of the other loop variables, for later reads.
    out.extend(counts.into_iter().map(|count| Stmt::Set(count, Expr::Var(var))));
}
