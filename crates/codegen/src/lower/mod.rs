//! From resolved code to the [`Code`] of one firing: partial evaluation, statement by statement.
//!
//! The filter's parameters, constant fields and globals are constants, and so is a local as long as its last
//! assigned value is: [`known`] holds the facts about variables. Operators on constants are the interpreter's
//! own ([`Value`]). Of a constant condition only the taken branch is lowered; loops are unrolled where that
//! is cheap ([`loops`]); functions are inlined ([`call`]).
//!
//! **Items** are addressed relative to the firing's first: [`cursor`] tracks how many have been popped and
//! pushed, as a constant, or as a variable plus a constant after code with control flow that depends on data.
//!
//! **Order.** Operands are lowered from left to right; an operand is copied to a variable of its own where a
//! later one has effects.
//!
//! **Failures.** Indices, windows and divisors that [`range`] does not prove valid are checked.

mod assigned;
mod call;
mod cursor;
mod dynamic;
mod expr;
mod filters;
mod handlers;
mod known;
mod loops;
mod messages;
mod node;
mod operators;
mod place;
mod range;
mod recursion;
mod shape;
mod stmt;
mod waits;

use crate::ir::{
    Area, Code, Expr, Kind, Label, Mem, MemInfo, MemKind, Scalar, Site, Stmt, Var, VarInfo, Why,
};
use cursor::Cursor;
use known::Known;
use loops::UNROLL_LIMIT;
use std::collections::HashMap;
use std::rc::Rc;
use thalweg_lang::hir::{self, Body, Root, StreamBody};
use thalweg_lang::source::Span;
use thalweg_lang::tree::{self, Rate, Rates, Tree};
use thalweg_lang::value::{Shape, Value};

pub(crate) use dynamic::decides;
pub(crate) use filters::lower_all;
pub(crate) use handlers::sends_to_itself;
pub(crate) use node::{NodeCode, may_fail, printers};
pub(crate) use shape::{cell_of, cells_of, flatten, shape_of};
pub(crate) use waits::{fixed, may_idle, may_try, may_wait};

/// Why code cannot be compiled.
pub(crate) type Unable = String;
pub(crate) type Outcome<T> = Result<T, Unable>;

/// The most statements of a firing.
const MOST_STATEMENTS: usize = 60_000;

/// Which firing to lower.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Which {
    /// The first firing, where the filter has a `prework`.
    Prework,
    /// All other firings.
    Work,
}

/// Lowers a firing; loops over short arrays may be unrolled to `unroll_limit` statements.
fn lower(
    program: &hir::Program,
    tree: &Tree,
    filter: &tree::Filter,
    which: Which,
    unroll_limit: u64,
) -> Outcome<Code> {
    let tree::Code::Written { stream, params, fields } = &filter.code else {
        return Err("the filter has no source code".into());
    };
    let StreamBody::Filter(hir) = &program.streams[stream.0 as usize].body else {
        return Err("the stream is not a filter".into());
    };
    let (work, rates) = match which {
        Which::Prework => (
            hir.prework.as_ref().ok_or("the filter has no `prework`")?,
            filter.prework.unwrap_or(filter.work),
        ),
        Which::Work => (&hir.work, filter.work),
    };
    let mut lower = Lower::new(program, tree, hir, filter, (params, fields), rates)?;
    let declared = &program.streams[stream.0 as usize].params;
    lower.param_types = declared.iter().map(|(_, shaped)| shaped.ty.clone()).collect();
    lower.unroll_limit = unroll_limit;
    lower.firing(work)?;
    Ok(lower.code)
}

/// The storage of a local.
#[derive(Clone, Debug)]
enum Bind {
    /// It has not been declared yet.
    None,
    Scalar(Var),
    Area(Mem, Shape),
    Text(Vec<Part>),
}

/// A part of a string.
#[derive(Clone, PartialEq, Debug)]
enum Part {
    Text(String),
    Value(Vec<Expr>, hir::Type),
    /// The first parts where the condition holds, else the second. Both contain only constants and variables
    /// that never change, since the parts that are not chosen must not be evaluated.
    Choice(Expr, Vec<Part>, Vec<Part>),
}

/// The value of an expression.
#[derive(Clone, PartialEq, Debug)]
enum Val {
    Nothing,
    Scalar(Expr),
    /// A complex number, or a vector.
    Cells(Vec<Expr>),
    /// A larger value in memory: its area, its first cell, and its shape.
    Area(Area, Expr, Shape),
    Text(Vec<Part>),
}

/// A call that is being inlined.
struct Frame<'a> {
    body: &'a Body,
    locals: Vec<Bind>,
    /// Where `return` goes, and the variable of its value.
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
    /// Whether some rate of the filter is dynamic, so that firings report what they have moved.
    flows: bool,
    /// Whether this is a handler, with a message as its input.
    handles: bool,
    /// Fields that code changes.
    changing: Vec<bool>,
    /// The storage of fields and tables.
    roots: HashMap<Root, Bind>,
    code: Code,
    out: Vec<Stmt>,
    emitted: usize,
    /// The cost of inlining attempts that were undone.
    spent: usize,
    /// The most statements of an unrolled loop that turns a short array into variables.
    unroll_limit: u64,
    known: Known,
    taken: Cursor,
    given: Cursor,
    frames: Vec<Frame<'a>>,
    /// Functions that are being inlined.
    nested: Vec<hir::Callee>,
    /// The number of calls around all of them: 1 in a handler.
    around: usize,
    /// Groups of recursive functions that are being lowered, innermost last.
    regions: Vec<Rc<recursion::Region<'a>>>,
    /// The current limit of statements.
    most: usize,
    /// What is known at the jumps to each label.
    left: HashMap<Label, Vec<Known>>,
    /// Labels with incoming paths that may have moved different numbers of items.
    uneven: HashMap<Label, [Option<Var>; 2]>,
    /// Whether the current point is reachable.
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
            unroll_limit: UNROLL_LIMIT,
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

    /// Lowers the whole firing, and checks the number of pushed items.
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
        self.code.body = if leaves(&stmts, end) { vec![Stmt::Block(end, stmts)] } else { stmts };
        self.span = work.span;
        self.check_taken();
        self.check_given();
        self.tell_moved();
        self.code.body.append(&mut self.out);
        Ok(())
    }

    /// Checks that all items have been pushed. (Items that have not been popped are dropped.)
    fn check_given(&mut self) {
        let Rate::Static(said) = self.rates.push else { return self.check_within(false) };
        let (given, said) = (self.given.place(), i64::from(said));
        if given.as_int().map(i64::from) == Some(said) || !self.alive {
            return;
        }
        let why = format!("this firing pushes {{0}} items, but its rate says {said}");
        let wrong = self.compare(hir::BinaryOp::Ne, given.clone(), Expr::int(said));
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

    fn emit(&mut self, st: Stmt) {
        if self.alive {
            self.emitted += 1;
            self.out.push(st);
        }
    }

    fn budget(&self) -> Outcome<()> {
        if self.emitted > self.most {
            return Err(format!("a firing expands to more than {} statements", self.most));
        }
        Ok(())
    }

    /// Assigns a variable, and records what is known of its value.
    fn set(&mut self, var: Var, value: Expr) {
        if self.alive {
            let range = self.range(&value);
            self.known.set(var, value.constant(), range);
            self.emit(Stmt::Set(var, value));
        }
    }

    /// A variable with this value that is never assigned again.
    fn spill(&mut self, value: Expr) -> Expr {
        if let Expr::Const(_) = value {
            return value;
        }
        let var = self.var(value.kind(&self.code), "t");
        self.set(var, value);
        Expr::Var(var)
    }

    /// Emits a check that fails if the condition holds.
    fn check(&mut self, condition: Expr, why: String, args: Vec<Expr>) {
        if condition.constant() == Some(Scalar::Bool(false)) || !self.alive {
            return;
        }
        let dies = condition.constant() == Some(Scalar::Bool(true));
        self.code.sites.push(Site { span: self.span, why: Why(why) });
        self.emit(Stmt::Check(condition, self.code.sites.len() as u32 - 1, args));
        if dies {
            self.alive = false;
        }
    }

    /// Lowers into a separate list of statements.
    fn aside<T>(&mut self, lower: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<(Vec<Stmt>, T)> {
        let before = std::mem::take(&mut self.out);
        let done = lower(self);
        let stmts = std::mem::replace(&mut self.out, before);
        Ok((stmts, done?))
    }

    /// Saves the state of lowering.
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

    /// Restores a saved state. The caller discards the statements emitted since.
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

    /// Jumps to the end of a block.
    fn leave(&mut self, label: Label) {
        if !self.alive {
            return;
        }
        self.flush_cursors(label);
        self.left.entry(label).or_default().push(self.known.clone());
        self.emit(Stmt::Leave(label));
        self.alive = false;
    }

    /// Ends a block.
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

/// A saved state of lowering.
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

/// Removes jumps to the end of a block from where it ends anyway.
fn strip(stmts: &mut Vec<Stmt>, label: Label) {
    match stmts.last_mut() {
        Some(Stmt::Leave(to)) if *to == label => {
            stmts.pop();
        }
        Some(Stmt::If(_, then, otherwise)) => {
            strip(then, label);
            strip(otherwise, label);
        }
        Some(Stmt::Block(_, inner)) => strip(inner, label),
        _ => {}
    }
}

/// Whether statements leave this block.
fn leaves(stmts: &[Stmt], label: Label) -> bool {
    let mut found = false;
    crate::ir::walk(stmts, &mut |st| found |= matches!(st, Stmt::Leave(to) if *to == label));
    found
}
