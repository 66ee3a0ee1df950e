//! Bounds-check elimination: drops checks that the relation between two variables proves, such as `i - k >=
//! 0` where `i` counts up from `k`.

use crate::ir::{Code, Expr, Kind, Stmt, Var, inner_mut, walk};
use std::collections::{HashMap, HashSet};
use thalweg_lang::hir::BinaryOp;

/// Drops checks that cannot fail.
pub(crate) fn drop_checks(code: &mut Code) {
    Facts::default().through(&mut code.body);
}

/// What is known at a program point.
#[derive(Clone, Default)]
struct Facts {
    /// Variables that are copies of another.
    same: HashMap<Var, Var>,
    /// A variable, and one that it is not less than.
    above: HashSet<(Var, Var)>,
    /// Variables that are not negative.
    natural: HashSet<Var>,
}

impl Facts {
    /// The variable at the end of the chain of copies.
    fn first(&self, mut var: Var) -> Var {
        while let Some(other) = self.same.get(&var) {
            var = *other;
        }
        var
    }

    /// Drops what is known of a variable that is assigned.
    fn forget(&mut self, var: Var) {
        // Copies of the variable are no longer known to equal it.
        self.same.retain(|a, b| *a != var && *b != var);
        self.above.retain(|(a, b)| *a != var && *b != var);
        self.natural.remove(&var);
    }

    fn forget_all(&mut self, stmts: &[Stmt]) {
        walk(stmts, &mut |st| {
            if let Stmt::Set(var, _) | Stmt::Random(var) | Stmt::For { var, .. } = st {
                self.forget(*var);
            }
        });
    }

    fn is_natural(&self, ex: &Expr) -> bool {
        match ex {
            Expr::Const(_) => ex.as_int().is_some_and(|value| value >= 0),
            Expr::Var(var) => self.natural.contains(var) || self.natural.contains(&self.first(*var)),
            // Both are not negative, so the difference does not wrap.
            Expr::Binary(BinaryOp::Sub, Kind::Int, x, y) => match (&**x, &**y) {
                (Expr::Var(x), Expr::Var(y)) => {
                    let y = self.first(*y);
                    self.above.contains(&(*x, y)) && self.natural.contains(&y)
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn through(&mut self, stmts: &mut Vec<Stmt>) {
        stmts.retain_mut(|st| self.st(st));
    }

    /// Processes a statement; returns whether it is needed.
    fn st(&mut self, st: &mut Stmt) -> bool {
        match st {
            Stmt::Check(Expr::Binary(BinaryOp::Lt, Kind::Int, x, least), ..) => {
                return !(least.as_int().is_some_and(|least| least <= 0) && self.is_natural(x));
            }
            Stmt::Set(var, value) => {
                let natural = self.is_natural(value);
                let same = if let Expr::Var(other) = value { Some(self.first(*other)) } else { None };
                self.forget(*var);
                if natural {
                    self.natural.insert(*var);
                }
                if let Some(same) = same.filter(|same| same != var) {
                    self.same.insert(*var, same);
                }
            }
            Stmt::Random(var) => self.forget(*var),
            Stmt::For { var, from, step, body, .. } => {
                let (natural, start) = (*step > 0 && self.is_natural(from), self.start(from));
                self.forget(*var);
                self.forget_all(body);
                let mut within = self.clone();
                if natural {
                    within.natural.insert(*var);
                }
                // `forget_all` may have dropped the copy chain that `start` came from: then the loop may
                // change it, so check.
                if let Some(start) = start.filter(|start| *step > 0 && self.stays(*start, *var, body)) {
                    within.above.insert((*var, start));
                }
                within.through(body);
            }
            // Calls run the parts in any order.
            Stmt::Calls { body, .. } => self.forget_all(body),
            Stmt::If(..) | Stmt::Loop(_) | Stmt::Block(..) => {
                let jumps = !matches!(st, Stmt::If(..));
                for stmts in inner_mut(st) {
                    let mut within = self.clone();
                    if jumps {
                        within.forget_all(stmts);
                    }
                    within.through(stmts);
                    self.forget_all(stmts);
                }
            }
            _ => {}
        }
        true
    }

    fn start(&self, from: &Expr) -> Option<Var> {
        if let Expr::Var(var) = from { Some(self.first(*var)) } else { None }
    }

    /// Whether a loop leaves a variable unchanged.
    fn stays(&self, start: Var, var: Var, body: &[Stmt]) -> bool {
        let mut stays = start != var;
        walk(body, &mut |st| {
            if let Stmt::Set(set, _) | Stmt::Random(set) | Stmt::For { var: set, .. } = st {
                stays &= *set != start;
            }
        });
        stays
    }
}
