//! From resolved code to one firing's [`Code`]: partial evaluation, statement by statement.
//!
//! What the filter's parameters, unchanging fields and globals are is known, and so is each local as long
//! as a constant was assigned to it last: [`known`] keeps what is known of variables. Operators on
//! constants are the interpreter's own ([`Value`]). Of conditions that are known one branch is left; loops
//! are unrolled where that is cheap ([`loops`]); functions are put in where they are called ([`call`]).
//!
//! **Items** are addressed from the firing's first: [`cursor`] knows how many have been taken and given,
//! as a number, or as a variable plus a number behind code whose way depends on data.
//!
//! **Order.** Operands are lowered from left to right; one is put into a variable of its own where a
//! later one has effects.
//!
//! **Failures.** Indices, windows and divisors that [`range`] does not prove to be right are checked.

mod assigned;
mod call;
mod cursor;
mod dynamic;
mod expr;
mod known;
mod loops;
mod messages;
mod operators;
mod place;
mod range;
mod recursion;
mod shape;
mod stmt;

use crate::ir::{Area, Code, Ex, Kind, Label, Mem, MemInfo, MemKind, Scalar, Site, St, Var, VarInfo, Why};
use cursor::Cursor;
use known::Known;
use std::collections::HashMap;
use std::rc::Rc;
use thalweg_lang::hir::{self, Body, Root, StreamBody};
use thalweg_lang::source::Span;
use thalweg_lang::tree::{self, Rate, Rates, Tree};
use thalweg_lang::value::{Shape, Value};

pub(crate) use dynamic::decides;
pub(crate) use loops::{CHEAP, WORTH};
pub(crate) use messages::{Handler, lower_handler};
pub(crate) use shape::{cell_of, cells_of, flatten, shape_of};

/// Why code cannot be made native.
pub(crate) type Unable = String;
pub(crate) type Outcome<T> = Result<T, Unable>;

/// The most statements that a firing may become.
const MOST_STATEMENTS: usize = 60_000;

/// Which firing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// The first, where it is another.
    Prework,
    /// All others.
    Work,
}

/// Makes a firing's code, with loops that are worth it as so many statements.
pub(crate) fn lower(
    program: &hir::Program,
    tree: &Tree,
    filter: &tree::Filter,
    which: Which,
    worth: u64,
) -> Outcome<Code> {
    let tree::Code::Written { stream, params, fields } = &filter.code else {
        return Err("it has no code".into());
    };
    let StreamBody::Filter(hir) = &program.streams[stream.0 as usize].body else {
        return Err("it is no filter".into());
    };
    let (work, rates) = match which {
        Which::Prework => {
            (hir.prework.as_ref().ok_or("it has no prework")?, filter.prework.unwrap_or(filter.work))
        }
        Which::Work => (&hir.work, filter.work),
    };
    let mut lower = Lower::new(program, tree, hir, filter, (params, fields), rates)?;
    let declared = &program.streams[stream.0 as usize].params;
    lower.param_types = declared.iter().map(|(_, shaped)| shaped.ty.clone()).collect();
    lower.worth = worth;
    lower.firing(work)?;
    Ok(lower.code)
}

/// Where a local stands.
#[derive(Clone, Debug)]
enum Bind {
    /// It has not begun.
    None,
    Scalar(Var),
    Area(Mem, Shape),
    Text(Vec<Part>),
}

/// A part of a text.
#[derive(Clone, PartialEq, Debug)]
enum Part {
    Text(String),
    Value(Vec<Ex>, hir::Type),
    /// These where the condition holds, and else those: made of nothing but constants and variables that nobody
    /// changes, since what is not chosen must not be looked at.
    Choice(Ex, Vec<Part>, Vec<Part>),
}

/// What an expression is.
#[derive(Clone, PartialEq, Debug)]
enum Val {
    Nothing,
    Scalar(Ex),
    /// A complex number, or a vector.
    Cells(Vec<Ex>),
    /// A larger value where it stands: the cell where it begins, and what it looks like.
    Area(Area, Ex, Shape),
    Text(Vec<Part>),
}

/// A call that is being put in.
struct Frame<'a> {
    body: &'a Body,
    locals: Vec<Bind>,
    /// Where `return` goes, and where its value is put.
    leave: Label,
    result: Option<Bind>,
    /// Where `break` and `continue` go, innermost last.
    loops: Vec<(Label, Label)>,
}

struct Lower<'a> {
    program: &'a hir::Program,
    tree: &'a Tree,
    filter: &'a hir::Filter,
    input: Shape,
    output: Shape,
    params: &'a [Value],
    param_types: Vec<hir::Type>,
    fields: &'a [Value],
    rates: Rates,
    /// Whether some rate of the filter is dynamic, so that firings say what they have moved.
    flows: bool,
    /// Whether this is a handler, whose input is a message.
    handles: bool,
    /// Fields that code changes.
    changing: Vec<bool>,
    /// Where fields, and tables, stand.
    roots: HashMap<Root, Bind>,
    code: Code,
    out: Vec<St>,
    emitted: usize,
    /// What has been spent on calls that were put in and taken out again.
    spent: usize,
    /// Statements that loops over short arrays may become, so that each cell is a variable.
    worth: u64,
    known: Known,
    taken: Cursor,
    given: Cursor,
    frames: Vec<Frame<'a>>,
    /// Functions that are being put in.
    nested: Vec<hir::Callee>,
    /// Calls around all of them: that of a handler.
    around: usize,
    /// Functions that call themselves, and that are being made, innermost last.
    regions: Vec<Rc<recursion::Region<'a>>>,
    /// The most statements that there may be now.
    most: usize,
    /// What is known where a block is left, by label.
    left: HashMap<Label, Vec<Known>>,
    /// Labels whose ways may have moved different numbers of items.
    uneven: HashMap<Label, [Option<Var>; 2]>,
    /// Whether this place can be come to.
    alive: bool,
    span: Span,
}

impl<'a> Lower<'a> {
    fn new(
        program: &'a hir::Program,
        tree: &'a Tree,
        filter: &'a hir::Filter,
        made: &tree::Filter,
        (params, fields): (&'a [Value], &'a [Value]),
        rates: Rates,
    ) -> Outcome<Lower<'a>> {
        Ok(Lower {
            program,
            tree,
            filter,
            input: made.input.clone(),
            output: made.output.clone(),
            params,
            param_types: Vec::new(),
            fields,
            rates,
            flows: decides(made),
            handles: false,
            changing: assigned::changing_fields(filter),
            roots: HashMap::new(),
            code: Code::default(),
            out: Vec::new(),
            emitted: 0,
            spent: 0,
            worth: WORTH,
            known: Known::default(),
            taken: Cursor::default(),
            given: Cursor::default(),
            frames: Vec::new(),
            nested: Vec::new(),
            around: 0,
            regions: Vec::new(),
            most: MOST_STATEMENTS,
            left: HashMap::new(),
            uneven: HashMap::new(),
            alive: true,
            span: Span::default(),
        })
    }

    /// The whole firing, and the check that it has given what it says.
    fn firing(&mut self, work: &'a hir::Work) -> Outcome<()> {
        let body = &work.body;
        let end = self.label();
        if assigned::returns_early(&body.stmts) {
            self.make_even(end, true, true);
        }
        self.push_frame(body, end, None);
        self.stmts(&body.stmts)?;
        self.close(end)?;
        self.frames.pop();
        let mut stmts = std::mem::take(&mut self.out);
        strip(&mut stmts, end);
        self.code.body = if leaves(&stmts, end) { vec![St::Block(end, stmts)] } else { stmts };
        self.span = work.span;
        self.check_taken();
        self.check_given();
        self.tell_moved();
        self.code.body.append(&mut self.out);
        Ok(())
    }

    /// What has not been taken is dropped; but all must have been given.
    fn check_given(&mut self) {
        let Rate::Static(said) = self.rates.push else { return self.check_within(false) };
        let (given, said) = (self.given.place(), i64::from(said));
        if given.as_int().map(i64::from) == Some(said) || !self.alive {
            return;
        }
        let why = format!("this firing pushes {{0}} items, but its rate says {said}");
        let wrong = self.compare(hir::BinaryOp::Ne, given.clone(), Ex::int(said));
        self.check(wrong, why, vec![given]);
    }

    fn push_frame(&mut self, body: &'a Body, leave: Label, result: Option<Bind>) {
        let locals = vec![Bind::None; body.locals.len()];
        self.frames.push(Frame { body, locals, leave, result, loops: Vec::new() });
    }

    fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("code is executed in a frame")
    }

    fn label(&mut self) -> Label {
        self.code.labels += 1;
        Label(self.code.labels - 1)
    }

    fn var(&mut self, kind: Kind, name: &str) -> Var {
        self.code.vars.push(VarInfo { kind, name: name.to_owned(), field: None });
        Var(self.code.vars.len() as u32 - 1)
    }

    fn mem(&mut self, kind: MemKind, shape: &Shape, name: &str) -> Outcome<Mem> {
        let structs = &self.tree.structs;
        let (cell, cells) = (cell_of(shape, structs)?, cells_of(shape, structs));
        self.code.mems.push(MemInfo { kind, cell, cells, name: name.to_owned() });
        Ok(Mem(self.code.mems.len() as u32 - 1))
    }

    fn emit(&mut self, st: St) {
        if self.alive {
            self.emitted += 1;
            self.out.push(st);
        }
    }

    fn budget(&self) -> Outcome<()> {
        if self.emitted > self.most { Err("its code becomes too large".into()) } else { Ok(()) }
    }

    /// Sets a variable, and knows what it is from now on.
    fn set(&mut self, var: Var, value: Ex) {
        if self.alive {
            let range = self.range(&value);
            self.known.set(var, value.constant(), range);
            self.emit(St::Set(var, value));
        }
    }

    /// A variable with this value that nobody changes.
    fn spill(&mut self, value: Ex) -> Ex {
        if let Ex::Const(_) = value {
            return value;
        }
        let var = self.var(value.kind(&self.code), "t");
        self.set(var, value);
        Ex::Var(var)
    }

    /// Fails if the condition holds.
    fn check(&mut self, condition: Ex, why: String, args: Vec<Ex>) {
        if condition.constant() == Some(Scalar::Bool(false)) || !self.alive {
            return;
        }
        let dies = condition.constant() == Some(Scalar::Bool(true));
        self.code.sites.push(Site { span: self.span, why: Why(why) });
        self.emit(St::Check(condition, self.code.sites.len() as u32 - 1, args));
        if dies {
            self.alive = false;
        }
    }

    /// Lowers into statements of their own.
    fn aside<T>(&mut self, lower: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<(Vec<St>, T)> {
        let before = std::mem::take(&mut self.out);
        let done = lower(self);
        let stmts = std::mem::replace(&mut self.out, before);
        Ok((stmts, done?))
    }

    /// Where things stand, to come back to.
    fn mark(&self) -> Mark {
        Mark {
            lengths: (
                self.code.vars.len(),
                self.code.mems.len(),
                self.code.formats.len(),
                self.code.messages.len(),
                self.code.sites.len(),
            ),
            known: self.known.clone(),
            cursors: (self.taken.clone(), self.given.clone()),
            alive: self.alive,
            emitted: self.emitted,
            uneven: self.uneven.clone(),
            left: self.left.clone(),
            roots: self.roots.clone(),
            locals: self.frames.last().map(|frame| frame.locals.clone()).unwrap_or_default(),
        }
    }

    /// Goes back: nothing has happened since, but for statements, which are not kept here.
    fn rewind(&mut self, mark: Mark) {
        let (vars, mems, formats, messages, sites) = mark.lengths;
        self.code.vars.truncate(vars);
        self.code.mems.truncate(mems);
        self.code.formats.truncate(formats);
        self.code.messages.truncate(messages);
        self.code.sites.truncate(sites);
        (self.known, self.alive, self.emitted) = (mark.known, mark.alive, mark.emitted);
        (self.taken, self.given) = mark.cursors;
        (self.uneven, self.left, self.roots) = (mark.uneven, mark.left, mark.roots);
        self.frame().locals = mark.locals;
    }

    /// Goes to the end of a block.
    fn leave(&mut self, label: Label) {
        if !self.alive {
            return;
        }
        self.flush_cursors(label);
        self.left.entry(label).or_default().push(self.known.clone());
        self.emit(St::Leave(label));
        self.alive = false;
    }

    /// A block has ended here.
    fn close(&mut self, label: Label) -> Outcome<()> {
        if self.alive {
            self.flush_cursors(label);
        }
        for other in self.left.remove(&label).unwrap_or_default() {
            if self.alive {
                self.known.join(&other);
            } else {
                self.known = other;
                self.alive = true;
            }
        }
        self.settle_cursors(label);
        self.budget()
    }
}

/// Where lowering stands.
struct Mark {
    lengths: (usize, usize, usize, usize, usize),
    known: Known,
    cursors: (Cursor, Cursor),
    alive: bool,
    emitted: usize,
    uneven: HashMap<Label, [Option<Var>; 2]>,
    left: HashMap<Label, Vec<Known>>,
    roots: HashMap<Root, Bind>,
    locals: Vec<Bind>,
}

/// Takes away leaving a block where it ends anyway.
fn strip(stmts: &mut Vec<St>, label: Label) {
    match stmts.last_mut() {
        Some(St::Leave(to)) if *to == label => {
            stmts.pop();
        }
        Some(St::If(_, then, otherwise)) => {
            strip(then, label);
            strip(otherwise, label);
        }
        Some(St::Block(_, inner)) => strip(inner, label),
        _ => {}
    }
}

/// Whether a block is left from inside.
fn leaves(stmts: &[St], label: Label) -> bool {
    let mut found = false;
    crate::ir::walk(stmts, &mut |st| found |= matches!(st, St::Leave(to) if *to == label));
    found
}
