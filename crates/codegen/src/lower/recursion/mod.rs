//! Functions that call themselves, and each other.
//!
//! One whose depth is known is put in where it is called, as others are. Else all functions that call each other
//! stand once where one of them is called from outside ([`St::Calls`]), with variables that all their calls share:
//! what a caller still needs it keeps in a run of cells, a stack, when it calls, and has back when it goes on
//! ([`frames`]). So no call takes of the machine's stack; and items, fields and what may fail or wait are what
//! they are elsewhere.
//!
//! How many calls are nested is counted, so that there are no more than the interpreter allows; before a call from
//! outside as many as are put in around it.

mod frames;

use super::assigned::{Does, changes_local, does};
use super::known::Known;
use super::shape::{is_scalar, kind_of};
use super::{Bind, Lower, Outcome, Val};
use crate::ir::{Area, Cell, Ex, Kind, Label, Mem, MemInfo, MemKind, Scalar, St, Var, walk};
use std::rc::Rc;
use thalweg_lang::eval::MAX_CALLS;
use thalweg_lang::hir::{BinaryOp, Callee, Function, Stmt, StmtKind, Type};

/// Calls that are put in within each other, and statements that a call may become that has itself inside.
const DEEPEST: usize = 48;
const TRIED: usize = 5000;

/// Statements of tries that have failed after which no more is tried, and what a try costs besides its statements.
const SPENT: usize = 100_000;
const A_TRY: usize = 100;

/// The end of the stack: no block has this number.
const BOTTOM: i64 = -1;

/// Functions that call each other, while they are made.
pub(super) struct Region<'a> {
    entries: Vec<Entry<'a>>,
    /// How many calls are nested, these functions' and those around.
    depth: Var,
    /// Functions that were being put in where it begins.
    nested: usize,
    /// What all of them together have taken and given.
    cursors: [Option<Var>; 2],
    what: Does,
    back: Label,
    stack: Mem,
    /// The stack's length.
    top: Var,
}

/// One of the functions.
struct Entry<'a> {
    callee: Callee,
    function: &'a Function,
    label: Label,
    params: Vec<Bind>,
    /// Parameters that are the same in all calls.
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

    /// Functions that a function calls and that call it, itself first; none where it never calls itself.
    pub(super) fn group(&self, callee: Callee) -> Vec<Callee> {
        let all = self.called_by(callee).calls;
        if !all.contains(&callee) {
            return Vec::new();
        }
        let others = all.into_iter().filter(|other| *other != callee);
        let back = others.filter(|other| self.called_by(*other).calls.contains(&callee));
        std::iter::once(callee).chain(back).collect()
    }

    /// How many calls are nested where a function is called.
    fn depth(&self) -> Ex {
        match self.regions.last() {
            Some(region) => Ex::Var(region.depth).plus(Ex::int((self.nested.len() - region.nested) as i64)),
            None => Ex::int((self.around + self.nested.len()) as i64),
        }
    }

    /// Fails where one more call would be too many.
    pub(super) fn check_depth(&mut self) {
        let depth = self.depth();
        let more = self.compare(BinaryOp::Ge, depth, Ex::int(MAX_CALLS.into()));
        self.check(more, format!("more than {MAX_CALLS} calls are nested"), Vec::new());
    }

    /// Whether a function is one of those that are being made, so that calling it is to go there.
    pub(super) fn is_being_made(&self, callee: Callee) -> bool {
        self.regions.last().is_some_and(|region| region.entries.iter().any(|entry| entry.callee == callee))
    }

    /// A call of a function that calls itself, from outside.
    pub(super) fn call_group(&mut self, group: &[Callee], values: Vec<Val>) -> Outcome<Val> {
        let callee = group[0];
        if self.nested.contains(&callee) {
            return self.call_in(callee, values);
        }
        let constant = |value: &Val| matches!(value, Val::Scalar(Ex::Const(_)));
        if values.iter().any(constant)
            && self.spent < SPENT
            && let Some(result) = self.try_call(callee, values.clone())
        {
            return Ok(result);
        }
        self.make(group, values)
    }

    /// A call that is put in.
    pub(super) fn call_in(&mut self, callee: Callee, values: Vec<Val>) -> Outcome<Val> {
        let function = self.function_of(callee).ok_or("there is no such function")?;
        self.nest(callee)?;
        let result = self.put_in(function, values)?;
        self.nested.pop();
        Ok(result)
    }

    fn nest(&mut self, callee: Callee) -> Outcome<()> {
        if self.nested.len() >= DEEPEST {
            return Err("calls are nested too deep".into());
        }
        self.nested.push(callee);
        Ok(())
    }

    /// The same if it does not become too large.
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
        // Tries within tries, of functions that call others of their kind, are more than can be counted.
        self.spent += A_TRY + (self.emitted - mark.emitted);
        self.frames.truncate(before.0);
        self.nested.truncate(before.1);
        self.regions.truncate(before.2);
        self.span = before.4;
        self.rewind(mark);
        None
    }

    /// Makes functions that call each other, and calls the first.
    fn make(&mut self, group: &[Callee], values: Vec<Val>) -> Outcome<Val> {
        let what = self.called_by(group[0]);
        let (depth, alive) = (self.depth().plus(Ex::int(1)), self.alive);
        self.nest(group[0])?;
        let region = Rc::new(self.region(group, &values, what)?);
        self.set(region.depth, depth);
        let (stack, top) = (Area::Mem(region.stack), region.top);
        self.emit(St::Store(stack, Ex::int(0), Kind::Int, Ex::int(BOTTOM)));
        self.set(top, Ex::int(1));
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
            if let St::Set(var, _) | St::For { var, .. } | St::Random(var) = st {
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

    /// Parameters that a function which calls itself hands on as they are, and what they are.
    fn same_in_all_calls(&self, callee: Callee, values: &[Val]) -> Vec<Option<Scalar>> {
        let Some(function) = self.function_of(callee) else { return Vec::new() };
        let what = self.called_by(callee);
        let same = |(at, value): (usize, &Val)| {
            let Val::Scalar(Ex::Const(value)) = value else { return None };
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
                    self.set(var, Ex::Const(value));
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
        let frame = self.frames.pop().expect("it was pushed");
        let params = frame.locals.into_iter().take(function.params.len()).collect();
        Ok(Entry { callee, function, label, params, same: known, result })
    }

    /// Puts arguments where a function finds them.
    fn give(&mut self, entry: &Entry<'a>, values: Vec<Val>) -> Outcome<()> {
        for (bind, value) in entry.params.iter().zip(values) {
            self.put(bind, value)?;
        }
        Ok(())
    }

    /// The code of one of the functions.
    fn entry(&mut self, region: &Region<'a>, entry: &Entry<'a>) -> Outcome<()> {
        let Entry { function, params, result, .. } = entry;
        (self.known, self.alive) = (Known::default(), true);
        self.known.set(region.depth, None, (1, MAX_CALLS.into()));
        for (var, value) in &entry.same {
            let range = self.range(&Ex::Const(*value));
            self.known.set(*var, Some(*value), range);
        }
        self.settle_vars(region.cursors);
        self.emit(St::At(entry.label));
        let leave = self.label();
        self.uneven.insert(leave, region.cursors);
        self.push_frame(&function.body, leave, None);
        self.frame().locals[..params.len()].clone_from_slice(params);
        // Calls inside give their results in the same place: what is said before them is kept elsewhere.
        let whole = matches!(result, Bind::None) || always_returns(&function.body.stmts);
        let own = if whole { result.clone() } else { self.result(&function.result)? };
        self.frame().result = Some(own.clone());
        self.body(function, leave)?;
        if !whole {
            let value = self.get(&own)?;
            self.put(result, value)?;
        }
        self.emit(St::Go(region.back));
        Ok(())
    }

    /// A call of one of the functions that are being made, by another or itself.
    pub(super) fn invoke(&mut self, callee: Callee, values: Vec<Val>) -> Outcome<Val> {
        let frozen = values.into_iter().map(|value| self.freeze(value)).collect::<Outcome<Vec<_>>>()?;
        let depth = self.depth().plus(Ex::int(1));
        let region = self.regions.last().cloned().ok_or("it is not being made")?;
        let entry = region.entries.iter().find(|entry| entry.callee == callee);
        let entry = entry.ok_or("there is no such function")?;
        for (cursor, takes) in region.cursors.into_iter().zip([true, false]) {
            if let Some(var) = cursor {
                self.flush_cursor(var, takes);
            }
        }
        let (known, block) = (self.known.clone(), self.label());
        let (stmts, ()) = self.aside(|lower| {
            lower.emit(St::Set(region.depth, depth));
            lower.give(entry, frozen)?;
            lower.emit(St::Go(entry.label));
            Ok(())
        })?;
        self.emit(St::Block(block, stmts));
        self.known = known;
        let result = entry.result.clone();
        if let Bind::Scalar(var) = result {
            self.known.forget(var);
        }
        self.settle_group(&region);
        let value = self.get(&result)?;
        self.freeze(value)
    }

    /// What functions that call each other may have changed is not known any more.
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

/// Whether code cannot end but by giving something back.
fn always_returns(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(value) => value.is_some(),
        StmtKind::Block(stmts) => always_returns(stmts),
        StmtKind::If(_, then, otherwise) => always_returns(then) && always_returns(otherwise),
        _ => false,
    })
}
