//! Unrolling of loops, as long as their conditions are constant.

use super::super::assigned::Does;
use super::super::{Lower, Outcome, leaves, strip};
use super::Ends;
use crate::ir::{Label, Scalar, Stmt};
use thalweg_lang::hir;

impl<'a> Lower<'a> {
    /// Unrolls a loop as long as its conditions are constant; returns whether all were.
    pub(super) fn unroll(
        &mut self,
        condition: Option<&'a hir::Expr>,
        step: &'a [hir::Stmt],
        body: &'a [hir::Stmt],
        body_first: bool,
        what: &Does,
        most: usize,
    ) -> Outcome<bool> {
        let brk = self.label();
        let leaves = what.breaks || what.returns;
        if leaves {
            self.make_even(brk, what.pops, what.pushes);
        }
        let (mut stmts, done) = self.aside(|lower| {
            let done = lower.iterations(brk, (condition, step, body), body_first, what, most)?;
            lower.close(brk)?;
            Ok(done)
        })?;
        if done {
            strip(&mut stmts, brk);
            self.enclose(brk, stmts);
        }
        Ok(done)
    }

    fn iterations(
        &mut self,
        brk: Label,
        (condition, step, body): (Option<&'a hir::Expr>, &'a [hir::Stmt], &'a [hir::Stmt]),
        body_first: bool,
        what: &Does,
        most: usize,
    ) -> Outcome<bool> {
        let start = self.emitted;
        for iteration in 0.. {
            if let (Some(condition), false) = (condition, body_first && iteration == 0) {
                match self.scalar(condition)?.constant() {
                    Some(Scalar::Bool(true)) => {}
                    Some(_) => return Ok(true),
                    None => return Ok(false),
                }
            }
            if iteration >= most || (self.emitted - start) as u64 > self.unroll_limit {
                return Ok(false);
            }
            let cont = self.label();
            if what.breaks {
                self.make_even(cont, what.pops, what.pushes);
            }
            let mut stmts = self.iteration(Ends { brk, cont }, body)?;
            strip(&mut stmts, cont);
            self.enclose(cont, stmts);
            if !self.alive {
                return Ok(true);
            }
            self.stmts(step)?;
        }
        Ok(true)
    }

    /// Lowers a loop's body, up to the label of `continue`.
    pub(super) fn iteration(&mut self, ends: Ends, body: &'a [hir::Stmt]) -> Outcome<Vec<Stmt>> {
        let (stmts, ()) = self.aside(|lower| {
            lower.frame().loops.push((ends.brk, ends.cont));
            let done = lower.stmts(body);
            lower.frame().loops.pop();
            done?;
            lower.close(ends.cont)
        })?;
        Ok(stmts)
    }

    /// Emits statements, as a block if they leave it.
    pub(super) fn enclose(&mut self, label: Label, stmts: Vec<Stmt>) {
        if leaves(&stmts, label) {
            self.out.push(Stmt::Block(label, stmts));
        } else {
            self.out.extend(stmts);
        }
    }
}
