//! Counted loops that are not unrolled.

use super::super::assigned::{Does, expr_does};
use super::super::known::{ANY, Range};
use super::super::{Bind, Cursor, Lower, Outcome, Val, strip};
use super::{Count, Ends};
use crate::ir::{Expr, Kind, Label, Scalar, Stmt, Var};
use thalweg_lang::hir::{self, BinaryOp, Root};

impl<'a> Lower<'a> {
    /// The first value and the bound, if the loop does not change the bound.
    pub(super) fn bounds(
        &mut self,
        count: &Count<'a>,
        body: &'a [hir::Stmt],
        what: &Does,
    ) -> Outcome<Option<(Expr, Expr)>> {
        let bound_does = expr_does(count.bound, self.filter, self.program);
        if bound_does.has_effects() || bound_does.pops {
            return Ok(None);
        }
        let mark = self.mark();
        // What is known of a variable before the loop need not hold in each iteration.
        let known = self.known.clone();
        self.forget_changed(&[body], None);
        let bound = self.aside(|lower| lower.expr(count.bound));
        self.known = known;
        let (stmts, bound) = bound?;
        let Val::Scalar(bound) = bound else { return Ok(None) };
        let stays = self.stays(&bound, what);
        let range = self.range(&bound);
        if !stmts.is_empty() || !stays || bound.kind(&self.code) != Kind::Int {
            self.rewind(mark);
            return Ok(None);
        }
        let to = match count.op {
            BinaryOp::Le if range.1 < ANY.1 => bound.plus(Expr::int(1)),
            BinaryOp::Ge if range.0 > ANY.0 => bound.plus(Expr::int(-1)),
            BinaryOp::Lt | BinaryOp::Gt => bound,
            _ => return Ok(None),
        };
        // With a bound this close to the ends of the integers, the count would wrap.
        let range = self.range(&to);
        let step = i64::from(count.step);
        if range.1 + step > ANY.1 && count.step > 1 || range.0 + step < ANY.0 && count.step < -1 {
            return Ok(None);
        }
        let from = self.known.constant(count.var).map_or(Expr::Var(count.var), Expr::Const);
        Ok(Some((from, to)))
    }

    /// Whether an expression has the same value in each iteration.
    fn stays(&mut self, ex: &Expr, what: &Does) -> bool {
        let mut changed = Vec::new();
        for root in &what.roots {
            let bind = match root {
                Root::Local(at) => self.frame().locals.get(*at as usize).cloned(),
                root => self.roots.get(root).cloned(),
            };
            if let Some(Bind::Scalar(var)) = bind {
                changed.push(var);
            }
        }
        fn fixed(ex: &Expr, changed: &[Var]) -> bool {
            let mut all = match ex {
                Expr::Var(var) => !changed.contains(var),
                Expr::Load(..) => false,
                _ => true,
            };
            ex.each(&mut |part| all &= fixed(part, changed));
            all
        }
        fixed(ex, &changed)
    }

    /// Lowers a counted loop that is not unrolled.
    pub(super) fn counting(
        &mut self,
        count: &Count<'a>,
        (from, to, iterations): (Expr, Expr, Option<u64>),
        body: &'a [hir::Stmt],
        what: &Does,
    ) -> Outcome<()> {
        let leaves = what.breaks || what.returns;
        let inside = self.inside(count, &from, &to);
        let before = (self.taken.clone(), self.given.clone());
        let moved = if (what.pops || what.pushes) && iterations.is_some() && !leaves {
            self.moved_in_a_turn(count.var, inside, body, what)?
        } else {
            [None, None]
        };
        let brk = self.label();
        let (mut stmts, ()) = self.aside(|lower| {
            if leaves {
                lower.make_even(brk, what.pops, what.pushes);
            }
            lower.emit_count(count, brk, (from.clone(), to, iterations), (body, what), moved, inside)?;
            lower.know_last(count, &from, iterations.filter(|_| !leaves));
            lower.close(brk)
        })?;
        if let (Some(iterations), false) = (iterations, leaves) {
            let ours = [(true, before.0, what.pops), (false, before.1, what.pushes)];
            for ((takes, before, moves), moved) in ours.into_iter().zip(moved) {
                if let (true, Some(moved)) = (moves, moved) {
                    let fixed = before.fixed + moved * iterations as i64;
                    *self.cursor(takes) = Cursor { dynamic: before.dynamic, fixed };
                }
            }
        }
        strip(&mut stmts, brk);
        self.enclose(brk, stmts);
        Ok(())
    }

    /// Records the value of the loop variable after the last iteration.
    pub(super) fn know_last(&mut self, count: &Count<'a>, from: &Expr, iterations: Option<u64>) {
        match (from.as_int(), iterations) {
            (Some(from), Some(iterations)) => {
                let last = i64::from(from) + iterations as i64 * i64::from(count.step);
                self.known.set(count.var, Some(Scalar::Int(last as i32)), (last, last));
            }
            _ => self.known.forget(count.var),
        }
    }

    /// The range of the loop variable inside the loop.
    fn inside(&self, count: &Count<'_>, from: &Expr, to: &Expr) -> Range {
        let (from, to) = (self.range(from), self.range(to));
        if count.step > 0 { (from.0, (to.1 - 1).max(from.0)) } else { ((to.0 + 1).min(from.1), from.1) }
    }

    /// The items that an iteration moves, where that number is constant.
    fn moved_in_a_turn(
        &mut self,
        var: Var,
        inside: Range,
        body: &'a [hir::Stmt],
        what: &Does,
    ) -> Outcome<[Option<i64>; 2]> {
        let mark = self.mark();
        let (_, moved) = self.aside(|lower| {
            lower.forget_changed(&[body], None);
            lower.known.set(var, None, inside);
            let mut own = [None, None];
            for (own, (takes, moves)) in own.iter_mut().zip([(true, what.pops), (false, what.pushes)]) {
                if moves {
                    let var = lower.own_cursor(takes);
                    lower.settle_cursor(var, takes);
                    *own = Some(var);
                }
            }
            let ends = Ends { brk: lower.label(), cont: lower.label() };
            lower.iteration(ends, body)?;
            let mut moved = [None, None];
            for ((moved, own), takes) in moved.iter_mut().zip(own).zip([true, false]) {
                let cursor = lower.cursor(takes);
                if own.is_some() && cursor.dynamic == own {
                    *moved = Some(cursor.fixed);
                }
            }
            Ok(moved)
        })?;
        self.rewind(mark);
        Ok(moved)
    }

    fn emit_count(
        &mut self,
        count: &Count<'a>,
        brk: Label,
        (from, to, iterations): (Expr, Expr, Option<u64>),
        (body, what): (&'a [hir::Stmt], &Does),
        moved: [Option<i64>; 2],
        inside: Range,
    ) -> Outcome<()> {
        let mut own = [None, None];
        for ((own, moved), (takes, moves)) in
            own.iter_mut().zip(moved).zip([(true, what.pops), (false, what.pushes)])
        {
            if !moves {
                continue;
            }
            let cursor = self.cursor(takes).clone();
            let (low, high) = self.cursor_range(&cursor);
            let var = self.own_cursor(takes);
            self.settle_cursor(var, takes);
            if let (Some(moved), Some(iterations)) = (moved, iterations) {
                self.known.set(var, None, (low, high + moved * (iterations as i64 - 1)));
            }
            *own = Some(var);
        }
        self.forget_changed(&[body], None);
        self.known.set(count.var, None, inside);
        let head = self.known.clone();
        let cont = self.label();
        if what.breaks {
            self.make_even(cont, what.pops, what.pushes);
        }
        let before = std::mem::take(&mut self.out);
        let done = self.iteration(Ends { brk, cont }, body);
        let mut stmts = done?;
        strip(&mut stmts, cont);
        self.enclose(cont, stmts);
        for (own, takes) in own.into_iter().zip([true, false]) {
            if let Some(own) = own
                && self.alive
            {
                self.flush_cursor(own, takes);
            }
            if let Some(own) = own {
                self.settle_cursor(own, takes);
            }
        }
        let body = std::mem::replace(&mut self.out, before);
        (self.known, self.alive) = (head, true);
        for (own, takes) in own.into_iter().zip([true, false]) {
            if let Some(own) = own {
                self.settle_cursor(own, takes);
            }
        }
        self.emit(Stmt::For { var: count.var, from, to, step: count.step, body });
        Ok(())
    }
}
