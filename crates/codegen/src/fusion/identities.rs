//! Identity folding: drops the zeros that inner sums of sums begin with.
//!
//! A sum begins with 0, and `0 + x` equals `x` except that it turns -0 into 0. Where the sign of a zero
//! cannot be observed, the addition is dropped. It cannot be observed where the value is added to something
//! that is never -0, such as any sum that begins with 0. Where the value is only part of a product or a sum,
//! its sign is observable only if that of the result is.

use crate::ir::{Code, Expr, Kind, Scalar, Stmt, Var, exprs};
use std::collections::{BTreeSet, HashMap};
use thalweg_lang::hir::BinaryOp;

/// Drops such zeros from straight-line code.
pub(super) fn drop_zeros(code: &mut Code) {
    let is_plain = |st: &Stmt| matches!(st, Stmt::Set(..) | Stmt::Store(..));
    if !code.body.iter().all(is_plain) || code.vars.iter().any(|var| var.field.is_some()) {
        return;
    }
    let mut sums = Sums::of(&code.body);
    for at in (0..code.body.len()).rev() {
        sums.look_at(&code.body, at);
    }
    for at in sums.dropped {
        if let Stmt::Set(_, ex) = &mut code.body[at]
            && let Some(rest) = after_zero(ex)
        {
            *ex = rest.clone();
        }
    }
}

/// The operand that is added to 0.
fn after_zero(ex: &Expr) -> Option<&Expr> {
    match ex {
        Expr::Binary(BinaryOp::Add, Kind::Float, zero, rest)
            if zero.constant() == Some(Scalar::Float(0.0)) && rest.constant().is_none() =>
        {
            Some(&**rest)
        }
        _ => None,
    }
}

/// Statements with zeros that others rely on.
type Relied = BTreeSet<usize>;

struct Sums {
    /// By statement: those that read the variable it sets.
    read: Vec<Vec<usize>>,
    /// By statement: where the variables it reads were set.
    set: Vec<HashMap<Var, usize>>,
    /// By statement: if it never sets -0, the zeros that this relies on.
    never: Vec<Option<Relied>>,
    /// By statement: if the sign of a zero that it sets cannot be observed, the zeros that this relies on.
    unseen: Vec<Option<Relied>>,
    dropped: Relied,
    kept: Relied,
}

impl Sums {
    fn of(body: &[Stmt]) -> Sums {
        let mut last = HashMap::new();
        let mut sums = Sums {
            read: vec![Vec::new(); body.len()],
            set: Vec::new(),
            never: Vec::new(),
            unseen: vec![None; body.len()],
            dropped: Relied::new(),
            kept: Relied::new(),
        };
        for (at, st) in body.iter().enumerate() {
            let mut set: HashMap<Var, usize> = HashMap::new();
            exprs(st, &mut |ex| vars(ex, &mut |var| set.extend(last.get(&var).map(|from| (var, *from)))));
            set.values().for_each(|from| sums.read[*from].push(at));
            sums.set.push(set);
            let never = match st {
                Stmt::Set(_, ex) if after_zero(ex).is_some() => Some(Relied::from([at])),
                Stmt::Set(_, ex) => sums.is_never_negative(at, ex),
                _ => None,
            };
            sums.never.push(never);
            if let Stmt::Set(var, _) = st {
                last.insert(*var, at);
            }
        }
        sums
    }

    /// Examines a statement after all later ones have been.
    fn look_at(&mut self, body: &[Stmt], at: usize) {
        let Stmt::Set(var, ex) = &body[at] else { return };
        let mut relied = Relied::new();
        for reader in &self.read[at] {
            let Some(more) = self.is_unseen_in(body, *reader, *var) else { return };
            relied.extend(more);
        }
        if !relied.is_disjoint(&self.dropped) || relied.contains(&at) {
            return;
        }
        if after_zero(ex).is_some() && !self.kept.contains(&at) {
            self.kept.extend(&relied);
            self.dropped.insert(at);
        }
        self.unseen[at] = Some(relied);
    }

    /// If a statement does not observe the sign of a zero in a variable: the zeros that this relies on.
    fn is_unseen_in(&self, body: &[Stmt], at: usize, var: Var) -> Option<Relied> {
        let Stmt::Set(_, ex) = &body[at] else { return None };
        let is_var = |ex: &Expr| *ex == Expr::Var(var);
        let (op, other) = match ex {
            ex if is_var(ex) => return self.unseen[at].clone(),
            Expr::Binary(op, Kind::Float, a, b) if is_var(a) && !reads(b, var) => (op, b),
            Expr::Binary(op, Kind::Float, a, b) if is_var(b) && !reads(a, var) => (op, a),
            _ => return None,
        };
        match op {
            BinaryOp::Add => self.unseen[at].clone().or_else(|| self.is_never_negative(at, other)),
            BinaryOp::Mul | BinaryOp::Sub => self.unseen[at].clone(),
            _ => None,
        }
    }

    /// If an expression of a statement is never -0: the zeros that this relies on.
    fn is_never_negative(&self, at: usize, ex: &Expr) -> Option<Relied> {
        match ex {
            Expr::Const(Scalar::Float(x)) => (x.to_bits() != (-0.0f32).to_bits()).then(Relied::new),
            Expr::Convert(Kind::Int, Kind::Float, _) => Some(Relied::new()),
            Expr::Var(var) => self.never[*self.set[at].get(var)?].clone(),
            // A sum is -0 only if both operands are.
            Expr::Binary(BinaryOp::Add, Kind::Float, a, b) => {
                self.is_never_negative(at, a).or_else(|| self.is_never_negative(at, b))
            }
            _ => None,
        }
    }
}

fn vars(ex: &Expr, f: &mut dyn FnMut(Var)) {
    if let Expr::Var(var) = ex {
        f(*var);
    }
    ex.each(&mut |part| vars(part, f));
}

fn reads(ex: &Expr, var: Var) -> bool {
    let mut reads = false;
    vars(ex, &mut |other| reads |= other == var);
    reads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Area, VarInfo};

    fn add(a: Expr, b: Expr) -> Expr {
        Expr::Binary(BinaryOp::Add, Kind::Float, Box::new(a), Box::new(b))
    }

    fn var(at: u32) -> Expr {
        Expr::Var(Var(at))
    }

    fn item(at: i64) -> Expr {
        Expr::Load(Area::In(Box::new(Expr::int(at))), Box::new(Expr::int(0)), Kind::Float)
    }

    fn give(ex: Expr) -> Stmt {
        Stmt::Store(Area::Out(Box::new(Expr::int(0))), Expr::int(0), Kind::Float, ex)
    }

    /// What becomes of statements on three variables.
    fn after(body: Vec<Stmt>) -> Vec<Stmt> {
        let info = VarInfo { kind: Kind::Float, name: "x".into(), field: None };
        let mut code = Code { vars: vec![info; 3], body, ..Code::default() };
        drop_zeros(&mut code);
        code.body
    }

    #[test]
    fn sums_of_sums_begin_with_one_zero() {
        let zero = || Expr::Const(Scalar::Float(0.0));
        let body = |zeros: [bool; 3]| {
            let sum = |zeros: bool, ex: Expr| if zeros { add(zero(), ex) } else { ex };
            let mut body = Vec::new();
            for inside in 0..2 {
                body.push(Stmt::Set(Var(inside), sum(zeros[inside as usize], item(inside.into()))));
                body.push(Stmt::Set(Var(inside), add(var(inside), item(7))));
            }
            body.push(Stmt::Set(Var(2), sum(zeros[2], var(0))));
            body.push(Stmt::Set(Var(2), add(var(2), var(1))));
            body.push(give(var(2)));
            body
        };
        // Which of the inner zeros remains does not matter.
        assert_eq!(after(body([true, true, true])), body([false, true, false]));
    }

    #[test]
    fn an_observable_zero_and_one_relied_on_stay() {
        let zero = || Expr::Const(Scalar::Float(0.0));
        let given = vec![Stmt::Set(Var(0), add(zero(), item(0))), give(var(0))];
        assert_eq!(after(given.clone()), given);
        // Either may go, but not both.
        let two = vec![
            Stmt::Set(Var(0), add(zero(), item(0))),
            Stmt::Set(Var(1), add(zero(), item(1))),
            Stmt::Set(Var(2), add(var(0), var(1))),
            give(var(2)),
        ];
        let mut one = two.clone();
        one[1] = Stmt::Set(Var(1), item(1));
        assert_eq!(after(two), one);
        // -0 + -0 is -0.
        let negative = Expr::Const(Scalar::Float(-0.0));
        let seen = vec![
            Stmt::Set(Var(0), add(zero(), item(0))),
            Stmt::Set(Var(1), add(negative, var(0))),
            give(var(1)),
        ];
        assert_eq!(after(seen.clone()), seen);
    }
}
