//! Recursive functions, alone or in mutually recursive groups.
//!
//! A recursive function of constant depth is inlined like others. Otherwise the whole group is emitted once
//! where one of its functions is called from outside ([`Stmt::Calls`]), with variables that all activations
//! share: before a call the caller saves the values that it still needs to a run of cells used as a stack,
//! and restores them after the call ([`frames`]). So calls use none of the machine's stack, and items,
//! fields, failures and waits work as elsewhere.
//!
//! The nesting depth is counted, so that there are no more nested calls than the interpreter allows. The
//! depth at a call from outside is the number of calls inlined around it.

mod frames;

use super::assigned::{Does, changes_local, does};
use super::known::Known;
use super::shape::{is_scalar, kind_of};
use super::{Bind, Lower, Outcome, Val};
use crate::ir::{Area, Cell, Expr, Kind, Label, Mem, MemInfo, MemKind, Scalar, Stmt, Var, walk};
use std::rc::Rc;
use thalweg_lang::eval::MAX_CALLS;
use thalweg_lang::hir::{self, BinaryOp, Callee, Function, StmtKind, Type};

/// The most calls inlined into each other, and the most statements of a recursive call that is inlined.
const DEEPEST: usize = 48;
const TRIED: usize = 5000;

/// The cost of failed inlining attempts after which none is made, and the cost of an attempt besides its
/// statements.
const SPENT: usize = 100_000;
const A_TRY: usize = 100;

/// The bottom of the stack: no block has this number.
const BOTTOM: i64 = -1;

/// A group of mutually recursive functions that is being lowered.
pub(super) struct Region<'a> {
    entries: Vec<Entry<'a>>,
    /// The nesting depth, including calls around the group.
    depth: Var,
    /// The number of functions that were being inlined where the group begins.
    nested: usize,
    /// The cursors that all functions of the group share.
    cursors: [Option<Var>; 2],
    what: Does,
    back: Label,
    stack: Mem,
    /// The height of the stack.
    top: Var,
}

/// A function of the group.
struct Entry<'a> {
    callee: Callee,
    function: &'a Function,
    label: Label,
    params: Vec<Bind>,
    /// Parameters with the same value in all calls.
    same: Vec<(Var, Scalar)>,
    result: Bind,
}

impl<'a> Lower<'a> {
    pub(super) fn function_of(&self, callee: Callee) -> Option<&'a Function> {
        match callee {
            Callee::Function(at) => self.filter.functions.get(at as usize),
            Callee::Helper(at) => self.program.helpers.get(at as usize),
            _ => None,
        }
    }

    fn called_by(&self, callee: Callee) -> Does {
        self.function_of(callee)
            .map_or_else(Does::default, |function| does(&function.body.stmts, self.filter, self.program))
    }

    /// The group of a function, itself first; empty where it is not recursive.
    pub(super) fn group(&self, callee: Callee) -> Vec<Callee> {
        let all = self.called_by(callee).calls;
        if !all.contains(&callee) {
            return Vec::new();
        }
        let others = all.into_iter().filter(|other| *other != callee);
        let back = others.filter(|other| self.called_by(*other).calls.contains(&callee));
        std::iter::once(callee).chain(back).collect()
    }

    /// The nesting depth at the current point.
    fn depth(&self) -> Expr {
        match self.regions.last() {
            Some(region) => {
                Expr::Var(region.depth).plus(Expr::int((self.nested.len() - region.nested) as i64))
            }
            None => Expr::int((self.around + self.nested.len()) as i64),
        }
    }

    /// Emits a check that one more call is allowed.
    pub(super) fn check_depth(&mut self) {
        let depth = self.depth();
        let more = self.compare(BinaryOp::Ge, depth, Expr::int(MAX_CALLS.into()));
        self.check(more, format!("more than {MAX_CALLS} calls are nested"), Vec::new());
    }

    /// Whether a function is in the group that is being lowered, so that a call of it is a jump.
    pub(super) fn is_being_made(&self, callee: Callee) -> bool {
        self.regions.last().is_some_and(|region| region.entries.iter().any(|entry| entry.callee == callee))
    }

    /// Lowers a call of a recursive function from outside its group.
    pub(super) fn call_group(&mut self, group: &[Callee], values: Vec<Val>) -> Outcome<Val> {
        let callee = group[0];
        if self.nested.contains(&callee) {
            return self.call_in(callee, values);
        }
        let constant = |value: &Val| matches!(value, Val::Scalar(Expr::Const(_)));
        if values.iter().any(constant)
            && self.spent < SPENT
            && let Some(result) = self.try_call(callee, values.clone())
        {
            return Ok(result);
        }
        self.make(group, values)
    }

    /// Lowers a call by inlining.
    pub(super) fn call_in(&mut self, callee: Callee, values: Vec<Val>) -> Outcome<Val> {
        let function = self.function_of(callee).ok_or("unknown function")?;
        self.nest(callee)?;
        let result = self.put_in(function, values)?;
        self.nested.pop();
        Ok(result)
    }

    fn nest(&mut self, callee: Callee) -> Outcome<()> {
        if self.nested.len() >= DEEPEST {
            return Err(format!("more than {DEEPEST} calls are inlined into each other"));
        }
        self.nested.push(callee);
        Ok(())
    }

    /// Like [`Lower::call_in`], but undoes the call if it becomes too large.
    fn try_call(&mut self, callee: Callee, values: Vec<Val>) -> Option<Val> {
        let mark = self.mark();
        let before = (self.frames.len(), self.nested.len(), self.regions.len(), self.most, self.span);
        self.most = self.most.min(self.emitted + TRIED);
        let tried = self.aside(|lower| lower.call_in(callee, values));
        self.most = before.3;
        if let Ok((stmts, result)) = tried {
            self.out.extend(stmts);
            return Some(result);
        }
        // Attempts within attempts, of functions that call others of their kind, would grow exponentially.
        self.spent += A_TRY + (self.emitted - mark.emitted);
        self.frames.truncate(before.0);
        self.nested.truncate(before.1);
        self.regions.truncate(before.2);
        self.span = before.4;
        self.rewind(mark);
        None
    }

    /// Lowers a group of functions, and a call of the first.
    fn make(&mut self, group: &[Callee], values: Vec<Val>) -> Outcome<Val> {
        let what = self.called_by(group[0]);
        let (depth, alive) = (self.depth().plus(Expr::int(1)), self.alive);
        self.nest(group[0])?;
        let region = Rc::new(self.region(group, &values, what)?);
        self.set(region.depth, depth);
        let (stack, top) = (Area::Mem(region.stack), region.top);
        self.emit(Stmt::Store(stack, Expr::int(0), Kind::Int, Expr::int(BOTTOM)));
        self.set(top, Expr::int(1));
        self.give(&region.entries[0], values)?;
        let before = self.known.clone();
        self.regions.push(region.clone());
        let (body, ()) =
            self.aside(|lower| region.entries.iter().try_for_each(|entry| lower.entry(&region, entry)))?;
        self.regions.pop();
        self.nested.pop();
        (self.known, self.alive) = (before, alive);
        let calls = self.with_frames(&region, body)?;
        walk(std::slice::from_ref(&calls), &mut |st| {
            if let Stmt::Set(var, _) | Stmt::For { var, .. } | Stmt::Random(var) = st {
                self.known.forget(*var);
            }
        });
        self.emit(calls);
        self.settle_group(&region);
        self.get(&region.entries[0].result)
    }

    fn region(&mut self, group: &[Callee], values: &[Val], what: Does) -> Outcome<Region<'a>> {
        let own = |moves: bool, rate: Option<u32>| moves && rate != Some(0);
        let (takes, gives) =
            (own(what.pops, self.rates.pop.fixed()), own(what.pushes, self.rates.push.fixed()));
        let cursors = [takes.then(|| self.own_cursor(true)), gives.then(|| self.own_cursor(false))];
        let (depth, top, back) = (self.var(Kind::Int, "depth"), self.var(Kind::Int, "top"), self.label());
        let (kind, cell, cells, name) = (MemKind::Local, Cell::Mixed, 1, "calls".to_owned());
        self.code.mems.push(MemInfo { kind, cell, cells, name });
        let stack = Mem(self.code.mems.len() as u32 - 1);
        let same = if let [only] = group { self.same_in_all_calls(*only, values) } else { Vec::new() };
        let entries = group.iter().map(|callee| self.new_entry(*callee, &same)).collect::<Outcome<_>>()?;
        Ok(Region { entries, depth, nested: self.nested.len(), cursors, what, back, stack, top })
    }

    /// The constant parameters that a recursive function passes on unchanged, with their values.
    fn same_in_all_calls(&self, callee: Callee, values: &[Val]) -> Vec<Option<Scalar>> {
        let Some(function) = self.function_of(callee) else { return Vec::new() };
        let what = self.called_by(callee);
        let same = |(at, value): (usize, &Val)| {
            let Val::Scalar(Expr::Const(value)) = value else { return None };
            let handed_on = |(called, args): &(Callee, Vec<Option<u32>>)| {
                *called != callee || args.get(at).copied().flatten() == Some(at as u32)
            };
            let stays = !changes_local(&function.body, at as u32) && what.passes.iter().all(handed_on);
            stays.then_some(*value)
        };
        values.iter().enumerate().map(same).collect()
    }

    fn new_entry(&mut self, callee: Callee, same: &[Option<Scalar>]) -> Outcome<Entry<'a>> {
        let function = self.function_of(callee).ok_or("there is no such function")?;
        let (label, mut known) = (self.label(), Vec::new());
        self.push_frame(&function.body, label, None);
        for (at, param) in function.params.iter().enumerate() {
            let name = function.body.locals[at].0.as_str();
            let bind = if is_scalar(&param.ty) {
                let var = self.var(kind_of(&param.ty)?, name);
                if let Some(value) = same.get(at).copied().flatten() {
                    known.push((var, value));
                    self.set(var, Expr::Const(value));
                }
                Bind::Scalar(var)
            } else {
                let shape = self.shape(param)?;
                Bind::Area(self.mem(MemKind::Local, &shape, name)?, shape)
            };
            self.frame().locals[at] = bind;
        }
        let result = match &function.result.ty {
            Type::Void => Bind::None,
            _ => {
                let shape = self.shape(&function.result)?;
                self.temporary(&shape)?
            }
        };
        let frame = self.frames.pop().expect("the frame was pushed above");
        let params = frame.locals.into_iter().take(function.params.len()).collect();
        Ok(Entry { callee, function, label, params, same: known, result })
    }

    /// Assigns arguments to the parameters of a function.
    fn give(&mut self, entry: &Entry<'a>, values: Vec<Val>) -> Outcome<()> {
        for (bind, value) in entry.params.iter().zip(values) {
            self.put(bind, value)?;
        }
        Ok(())
    }

    /// Lowers one of the functions.
    fn entry(&mut self, region: &Region<'a>, entry: &Entry<'a>) -> Outcome<()> {
        let Entry { function, params, result, .. } = entry;
        (self.known, self.alive) = (Known::default(), true);
        self.known.set(region.depth, None, (1, MAX_CALLS.into()));
        for (var, value) in &entry.same {
            let range = self.range(&Expr::Const(*value));
            self.known.set(*var, Some(*value), range);
        }
        self.settle_vars(region.cursors);
        self.emit(Stmt::Label(entry.label));
        let leave = self.label();
        self.uneven.insert(leave, region.cursors);
        self.push_frame(&function.body, leave, None);
        self.frame().locals[..params.len()].clone_from_slice(params);
        // Calls inside return their results in the same variable, so a result set before them needs one of
        // its own.
        let whole = matches!(result, Bind::None) || always_returns(&function.body.stmts);
        let own = if whole { result.clone() } else { self.result(&function.result)? };
        self.frame().result = Some(own.clone());
        self.body(function, leave)?;
        if !whole {
            let value = self.get(&own)?;
            self.put(result, value)?;
        }
        self.emit(Stmt::Jump(region.back));
        Ok(())
    }

    /// Lowers a call of a function of the group that is being lowered.
    pub(super) fn invoke(&mut self, callee: Callee, values: Vec<Val>) -> Outcome<Val> {
        let frozen = values.into_iter().map(|value| self.freeze(value)).collect::<Outcome<Vec<_>>>()?;
        let depth = self.depth().plus(Expr::int(1));
        let region =
            self.regions.last().cloned().ok_or("internal error: a recursive call outside its group")?;
        let entry = region.entries.iter().find(|entry| entry.callee == callee);
        let entry = entry.ok_or("unknown function")?;
        for (cursor, takes) in region.cursors.into_iter().zip([true, false]) {
            if let Some(var) = cursor {
                self.flush_cursor(var, takes);
            }
        }
        let (known, block) = (self.known.clone(), self.label());
        let (stmts, ()) = self.aside(|lower| {
            lower.emit(Stmt::Set(region.depth, depth));
            lower.give(entry, frozen)?;
            lower.emit(Stmt::Jump(entry.label));
            Ok(())
        })?;
        self.emit(Stmt::Block(block, stmts));
        self.known = known;
        let result = entry.result.clone();
        if let Bind::Scalar(var) = result {
            self.known.forget(var);
        }
        self.settle_group(&region);
        let value = self.get(&result)?;
        self.freeze(value)
    }

    /// Drops what is known of variables that the group may change.
    fn settle_group(&mut self, region: &Region<'a>) {
        for root in &region.what.roots {
            if let Some(Bind::Scalar(var)) = self.roots.get(root) {
                self.known.forget(*var);
            }
        }
        self.settle_vars(region.cursors);
    }

    fn settle_vars(&mut self, cursors: [Option<Var>; 2]) {
        for (cursor, takes) in cursors.into_iter().zip([true, false]) {
            if let Some(var) = cursor {
                self.settle_cursor(var, takes);
            }
        }
    }
}

/// Whether statements always end with the `return` of a value.
fn always_returns(stmts: &[hir::Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(value) => value.is_some(),
        StmtKind::Block(stmts) => always_returns(stmts),
        StmtKind::If(branches, otherwise) => {
            branches.iter().all(|(_, body)| always_returns(body)) && always_returns(otherwise)
        }
        _ => false,
    })
}
