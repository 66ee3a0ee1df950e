//! Loops: unrolled where that is cheap, counted where they can be, and as they stand otherwise.

use super::assigned::{Does, does};
use super::known::{ANY, Range};
use super::{Bind, Lower, Outcome, Val, strip};
use crate::ir::{Ex, Kind, Label, St, Var};
use thalweg_lang::hir::{BinaryOp, Expr, ExprKind, Place, Root, Stmt, StmtKind, Type};

/// Expressions and statements that an unrolled loop may become.
pub(crate) const CHEAP: u64 = 160;

/// The same where it makes scalars out of a short array.
pub(crate) const WORTH: u64 = 2500;

/// An array that may become scalars has up to so many cells.
const SHORT: usize = 64;

/// Turns of a loop that is unrolled only because all its conditions are known.
const TURNS: usize = 64;

/// A loop that counts.
struct Count<'a> {
    local: u32,
    var: Var,
    op: BinaryOp,
    bound: &'a Expr,
    step: i32,
}

/// The labels of a loop.
#[derive(Clone, Copy)]
struct Ends {
    brk: Label,
    cont: Label,
}

impl<'a> Lower<'a> {
    pub(super) fn repeat(
        &mut self,
        condition: Option<&'a Expr>,
        step: &'a [Stmt],
        body: &'a [Stmt],
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
                self.aside(|lower| lower.unroll(condition, step, body, body_first, &what, TURNS))?;
            if done {
                self.out.extend(stmts);
                return Ok(());
            }
            self.rewind(mark);
        }
        self.endless(condition, step, body, body_first, &what)
    }

    /// Whether a loop counts a variable up or down.
    fn counts(&mut self, condition: &'a Expr, step: &'a [Stmt], what: &Does) -> Option<Count<'a>> {
        let ExprKind::Binary(op, first, bound) = &condition.kind else { return None };
        let ExprKind::Read(place) = &first.kind else { return None };
        let Root::Local(local) = place.root else { return None };
        let [step] = step else { return None };
        let step = step_of(step, place)?;
        let up = matches!(op, BinaryOp::Lt | BinaryOp::Le);
        let down = matches!(op, BinaryOp::Gt | BinaryOp::Ge);
        let Bind::Scalar(var) = self.frame().locals[local as usize] else { return None };
        let changes = |root: &Root| *root == Root::Local(local);
        let fits = place.path.is_empty() && first.ty == Type::Int && (up && step > 0 || down && step < 0);
        (fits && !what.roots.iter().any(changes)).then_some(Count { local, var, op: *op, bound, step })
    }

    fn counted(
        &mut self,
        count: &Count<'a>,
        condition: Option<&'a Expr>,
        step: &'a [Stmt],
        body: &'a [Stmt],
        what: &Does,
    ) -> Outcome<()> {
        let Some((from, to)) = self.bounds(count, what)? else {
            return self.endless(condition, step, body, false, what);
        };
        let turns = match (from.as_int(), to.as_int()) {
            (Some(from), Some(to)) => Some(turns(from, to, count.step)),
            _ => None,
        };
        if turns == Some(0) {
            return Ok(());
        }
        let cost = turns.map(|turns| turns.saturating_mul(what.size as u64));
        let short = what.indexed.iter().any(|local| *local != count.local && self.is_short(*local));
        if let (Some(turns), Some(cost)) = (turns, cost)
            && (turns == 1 || cost <= if short { self.worth } else { CHEAP })
        {
            let mark = self.mark();
            let (stmts, done) =
                self.aside(|lower| lower.unroll(condition, step, body, false, what, turns as usize))?;
            if done {
                self.out.extend(stmts);
                return Ok(());
            }
            self.rewind(mark);
        }
        self.counting(count, (from, to, turns), body, what)
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

    /// The first value and the bound, if the bound stays what it is.
    fn bounds(&mut self, count: &Count<'a>, what: &Does) -> Outcome<Option<(Ex, Ex)>> {
        let bound_does = super::assigned::expr_does(count.bound, self.filter, self.program);
        if bound_does.has_effects() || bound_does.pops {
            return Ok(None);
        }
        let mark = self.mark();
        let (stmts, bound) = self.aside(|lower| lower.expr(count.bound))?;
        let Val::Scalar(bound) = bound else { return Ok(None) };
        let stays = self.stays(&bound, what);
        let range = self.range(&bound);
        if !stmts.is_empty() || !stays || bound.kind(&self.code) != Kind::Int {
            self.rewind(mark);
            return Ok(None);
        }
        let to = match count.op {
            BinaryOp::Le if range.1 < ANY.1 => bound.plus(Ex::int(1)),
            BinaryOp::Ge if range.0 > ANY.0 => bound.plus(Ex::int(-1)),
            BinaryOp::Lt | BinaryOp::Gt => bound,
            _ => return Ok(None),
        };
        // So near to the end of the integers the count would wrap.
        let range = self.range(&to);
        let step = i64::from(count.step);
        if range.1 + step > ANY.1 && count.step > 1 || range.0 + step < ANY.0 && count.step < -1 {
            return Ok(None);
        }
        let from = self.known.constant(count.var).map_or(Ex::Var(count.var), Ex::Const);
        Ok(Some((from, to)))
    }

    /// Whether an expression is the same in each turn.
    fn stays(&mut self, ex: &Ex, what: &Does) -> bool {
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
        fn fixed(ex: &Ex, changed: &[Var]) -> bool {
            let mut all = match ex {
                Ex::Var(var) => !changed.contains(var),
                Ex::Load(..) => false,
                _ => true,
            };
            ex.each(&mut |part| all &= fixed(part, changed));
            all
        }
        fixed(ex, &changed)
    }

    /// Turn after turn, as long as conditions are known; whether they all were.
    fn unroll(
        &mut self,
        condition: Option<&'a Expr>,
        step: &'a [Stmt],
        body: &'a [Stmt],
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
            let done = lower.turns(brk, (condition, step, body), body_first, what, most)?;
            lower.close(brk)?;
            Ok(done)
        })?;
        if done {
            strip(&mut stmts, brk);
            self.enclose(brk, stmts);
        }
        Ok(done)
    }

    fn turns(
        &mut self,
        brk: Label,
        (condition, step, body): (Option<&'a Expr>, &'a [Stmt], &'a [Stmt]),
        body_first: bool,
        what: &Does,
        most: usize,
    ) -> Outcome<bool> {
        let start = self.emitted;
        for turn in 0.. {
            if let (Some(condition), false) = (condition, body_first && turn == 0) {
                match self.scalar(condition)?.constant() {
                    Some(crate::ir::Scalar::Bool(true)) => {}
                    Some(_) => return Ok(true),
                    None => return Ok(false),
                }
            }
            if turn >= most || (self.emitted - start) as u64 > self.worth {
                return Ok(false);
            }
            let cont = self.label();
            if what.breaks {
                self.make_even(cont, what.pops, what.pushes);
            }
            let mut stmts = self.turn(Ends { brk, cont }, body)?;
            strip(&mut stmts, cont);
            self.enclose(cont, stmts);
            if !self.alive {
                return Ok(true);
            }
            self.stmts(step)?;
        }
        Ok(true)
    }

    /// A body, up to where it is continued.
    fn turn(&mut self, ends: Ends, body: &'a [Stmt]) -> Outcome<Vec<St>> {
        let (stmts, ()) = self.aside(|lower| {
            lower.frame().loops.push((ends.brk, ends.cont));
            let done = lower.stmts(body);
            lower.frame().loops.pop();
            done?;
            lower.close(ends.cont)
        })?;
        Ok(stmts)
    }

    /// Statements, as a block if they leave it.
    fn enclose(&mut self, label: Label, stmts: Vec<St>) {
        if super::leaves(&stmts, label) {
            self.out.push(St::Block(label, stmts));
        } else {
            self.out.extend(stmts);
        }
    }

    /// A loop that counts and is not unrolled.
    fn counting(
        &mut self,
        count: &Count<'a>,
        (from, to, turns): (Ex, Ex, Option<u64>),
        body: &'a [Stmt],
        what: &Does,
    ) -> Outcome<()> {
        let leaves = what.breaks || what.returns;
        let inside = self.inside(count, &from, &to);
        let before = (self.taken.clone(), self.given.clone());
        let moved = if (what.pops || what.pushes) && turns.is_some() && !leaves {
            self.moved_in_a_turn(count.var, inside, body, what)?
        } else {
            [None, None]
        };
        let brk = self.label();
        let (mut stmts, ()) = self.aside(|lower| {
            if leaves {
                lower.make_even(brk, what.pops, what.pushes);
            }
            lower.emit_count(count, brk, (from.clone(), to, turns), (body, what), moved, inside)?;
            lower.know_last(count, &from, turns.filter(|_| !leaves));
            lower.close(brk)
        })?;
        if let (Some(turns), false) = (turns, leaves) {
            let ours = [(true, before.0, what.pops), (false, before.1, what.pushes)];
            for ((takes, before, moves), moved) in ours.into_iter().zip(moved) {
                if let (true, Some(moved)) = (moves, moved) {
                    let fixed = before.fixed + moved * turns as i64;
                    *self.cursor(takes) = super::Cursor { dynamic: before.dynamic, fixed };
                }
            }
        }
        strip(&mut stmts, brk);
        self.enclose(brk, stmts);
        Ok(())
    }

    /// What the variable is after all turns.
    fn know_last(&mut self, count: &Count<'a>, from: &Ex, turns: Option<u64>) {
        match (from.as_int(), turns) {
            (Some(from), Some(turns)) => {
                let last = i64::from(from) + turns as i64 * i64::from(count.step);
                self.known.set(count.var, Some(crate::ir::Scalar::Int(last as i32)), (last, last));
            }
            _ => self.known.forget(count.var),
        }
    }

    /// What the variable may be in a turn.
    fn inside(&self, count: &Count<'_>, from: &Ex, to: &Ex) -> Range {
        let (from, to) = (self.range(from), self.range(to));
        if count.step > 0 { (from.0, (to.1 - 1).max(from.0)) } else { ((to.0 + 1).min(from.1), from.1) }
    }

    /// Items that each turn moves, where that is always the same number.
    fn moved_in_a_turn(
        &mut self,
        var: Var,
        inside: Range,
        body: &'a [Stmt],
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
            lower.turn(ends, body)?;
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
        (from, to, turns): (Ex, Ex, Option<u64>),
        (body, what): (&'a [Stmt], &Does),
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
            if let (Some(moved), Some(turns)) = (moved, turns) {
                self.known.set(var, None, (low, high + moved * (turns as i64 - 1)));
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
        let done = self.turn(Ends { brk, cont }, body);
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
        self.emit(St::For { var: count.var, from, to, step: count.step, body });
        Ok(())
    }

    /// A loop of which nothing is known.
    fn endless(
        &mut self,
        condition: Option<&'a Expr>,
        step: &'a [Stmt],
        body: &'a [Stmt],
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
            let mut stmts = lower.turn(Ends { brk, cont }, body)?;
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
        self.emit(St::Loop(stmts));
        self.alive = false;
        self.close(brk)?;
        let loops = self.out.pop();
        self.out.push(St::Block(brk, loops.into_iter().collect()));
        Ok(())
    }

    fn leave_unless(&mut self, condition: Option<&'a Expr>, label: Label) -> Outcome<()> {
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

/// How a statement steps a local.
fn step_of(stmt: &Stmt, place: &Place) -> Option<i32> {
    let constant = |expr: &Expr| match &expr.kind {
        ExprKind::Constant(thalweg_lang::value::Value::Int(by)) => Some(*by),
        _ => None,
    };
    match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Step { place: stepped, by, .. }, .. }) => {
            (stepped == place).then_some(*by)
        }
        StmtKind::Update { place: stepped, op, value, via: Type::Int } if stepped == place => match op {
            BinaryOp::Add => constant(value),
            BinaryOp::Sub => constant(value)?.checked_neg(),
            _ => None,
        },
        StmtKind::Assign(stepped, Expr { kind: ExprKind::Binary(op, first, second), .. })
            if stepped == place =>
        {
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

/// How often a loop goes round.
fn turns(from: i32, to: i32, step: i32) -> u64 {
    let (from, to, step) = (i64::from(from), i64::from(to), i64::from(step));
    let way = if step > 0 { to - from } else { from - to };
    if way <= 0 { 0 } else { way.unsigned_abs().div_ceil(step.unsigned_abs()) }
}
