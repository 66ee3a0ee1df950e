//! What executes code: its variables, what it may use up, and how it fails.

use super::{Budget, Fault, Host, MAX_CALLS, Piece};
use crate::hir::{Body, Expr, Function, Program, Root};
use crate::source::Span;
use crate::value::{Shape, Value};

/// Why code cannot go on, and where that was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// Why.
    pub fault: Fault,
    /// The expression or statement.
    pub span: Span,
}

/// What comes of code; a failure is boxed so that values stay small on their way.
pub type Outcome<T> = Result<T, Box<Failure>>;

/// The program around the code: what stands in it (`'p`), and what has been made of it.
#[derive(Clone, Copy)]
pub struct Code<'p, 'a> {
    /// The whole of it.
    pub program: &'p Program,
    /// What its structures look like.
    pub structs: &'a [Vec<Shape>],
    /// The stream's parameters.
    pub params: &'a [Value],
    /// The filter's functions.
    pub functions: &'p [Function],
    /// What the filter gives.
    pub output: &'a Shape,
}

/// Variables of `static` blocks.
pub enum Globals<'a> {
    /// They have their values.
    Fixed(&'a [Value]),
    /// They can be changed: while streams are made.
    Changing(&'a mut [Value]),
}

impl Globals<'_> {
    fn values(&self) -> &[Value] {
        match self {
            Globals::Fixed(values) => values,
            Globals::Changing(values) => values,
        }
    }
}

/// Room for variables, kept from one run to the next.
#[derive(Default, Debug)]
pub struct Scratch {
    /// Locals of all calls that are on their way, and arguments of the next.
    pub(super) locals: Vec<Value>,
    /// Indices of places that have been evaluated and not yet used.
    pub(super) indices: Vec<i32>,
}

/// Executes code.
pub struct Machine<'p, 'a> {
    pub(super) code: Code<'p, 'a>,
    pub(super) globals: Globals<'a>,
    pub(super) fields: &'a mut [Value],
    pub(super) host: &'a mut dyn Host,
    pub(super) scratch: &'a mut Scratch,
    pub(super) budget: &'a mut Budget,
    /// Where the locals of the innermost call begin.
    pub(super) frame: usize,
    /// Room that they take.
    pub(super) frame_words: u64,
    /// What `return` has said.
    pub(super) result: Option<Value>,
    /// What a composite has asked for; none where code makes no streams.
    pub(super) pieces: Option<Vec<Piece<'p>>>,
    /// The number of the next portal.
    pub(super) next_portal: u32,
    calls: u32,
    pub(super) stack_top: usize,
}

impl<'p, 'a> Machine<'p, 'a> {
    /// A machine for code of one stream.
    pub fn new(
        code: Code<'p, 'a>,
        globals: Globals<'a>,
        fields: &'a mut [Value],
        host: &'a mut dyn Host,
        scratch: &'a mut Scratch,
        budget: &'a mut Budget,
    ) -> Machine<'p, 'a> {
        scratch.locals.clear();
        scratch.indices.clear();
        Machine {
            code,
            globals,
            fields,
            host,
            scratch,
            budget,
            frame: 0,
            frame_words: 0,
            result: None,
            pieces: None,
            next_portal: 0,
            calls: 0,
            stack_top: here(),
        }
    }

    /// Executes code that has no parameters: a firing, or `init`.
    ///
    /// # Errors
    /// It cannot go on.
    pub fn run(&mut self, body: &'p Body) -> Outcome<()> {
        self.begin();
        self.enter(body, 0);
        let done = self.exec_all(&body.stmts);
        self.leave(0, 0);
        self.result = None;
        done.map(drop)
    }

    /// Executes a function or a handler with arguments; what it gives, if it gives anything.
    ///
    /// # Errors
    /// It cannot go on.
    pub fn run_function(&mut self, function: &'p Function, args: Vec<Value>) -> Outcome<Value> {
        self.begin();
        self.scratch.locals.extend(args);
        self.apply(function, 0, Span::default())
    }

    /// Evaluates an expression outside of any code: it has no locals.
    ///
    /// # Errors
    /// It cannot go on.
    pub fn evaluate(&mut self, expr: &'p Expr) -> Outcome<Value> {
        self.begin();
        self.eval(expr)
    }

    /// Nothing is left of what ran before, whose failure may have left something.
    pub(super) fn begin(&mut self) {
        self.stack_top = here();
        self.scratch.locals.clear();
        self.scratch.indices.clear();
        (self.frame, self.calls, self.result) = (0, 0, None);
        self.budget.give(std::mem::take(&mut self.frame_words));
    }

    /// Makes room for a body's locals, of which the first are there, and takes it that they begin at
    /// `frame`.
    pub(super) fn enter(&mut self, body: &Body, frame: usize) {
        self.frame = frame;
        self.scratch.locals.resize(frame + body.locals.len(), Value::Int(0));
    }

    /// Drops the innermost call's locals, and goes back to those of its caller.
    pub(super) fn leave(&mut self, frame: usize, frame_words: u64) {
        self.scratch.locals.truncate(self.frame);
        self.budget.give(self.frame_words);
        (self.frame, self.frame_words) = (frame, frame_words);
    }

    /// Counts a call in, if there are not too many.
    pub(super) fn call_in(&mut self, span: Span) -> Outcome<()> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return fail(span, format!("more than {MAX_CALLS} calls are nested"));
        }
        Ok(())
    }

    /// Whether half of the stack is used up: the rest is for what is nested in one call.
    pub(super) fn is_far_down(&self) -> bool {
        self.stack_top.abs_diff(here()) > self.budget.stack / 2
    }

    pub(super) fn call_out(&mut self) {
        self.calls -= 1;
    }

    /// Counts steps.
    #[inline]
    pub(super) fn step(&mut self, steps: u64, span: Span) -> Outcome<()> {
        if self.budget.step(steps) { Ok(()) } else { self.step_further(steps, span) }
    }

    /// Counts steps that the budget has no room for.
    #[cold]
    fn step_further(&mut self, steps: u64, span: Span) -> Outcome<()> {
        match self.host.further_steps().at(span)? {
            Some(more) => {
                self.budget.steps = more.saturating_sub(steps);
                Ok(())
            }
            None => fail(span, "this takes too long: it may not end"),
        }
    }

    /// Sees to it that the stack suffices, whatever the nesting.
    #[inline]
    pub(super) fn guard(&self, span: Span) -> Outcome<()> {
        if self.stack_top.abs_diff(here()) < self.budget.stack {
            return Ok(());
        }
        fail(span, "calls, statements or expressions are nested too deep")
    }

    /// The value of a variable.
    #[inline]
    pub(super) fn root(&self, root: Root, span: Span) -> Outcome<&Value> {
        let value = match root {
            Root::Local(at) => self.scratch.locals.get(self.frame + at as usize),
            Root::Param(at) => self.code.params.get(at as usize),
            Root::Field(at) => self.fields.get(at as usize),
            Root::Global(at) => self.globals.values().get(at as usize),
        };
        value.ok_or_else(|| failure(span, "there is no such variable here"))
    }

    /// A variable to be changed.
    #[inline]
    pub(super) fn root_mut(&mut self, root: Root, span: Span) -> Outcome<&mut Value> {
        let value = match (root, &mut self.globals) {
            (Root::Local(at), _) => self.scratch.locals.get_mut(self.frame + at as usize),
            (Root::Field(at), _) => self.fields.get_mut(at as usize),
            (Root::Param(_), _) => return fail(span, "a stream's parameter cannot be changed"),
            (Root::Global(at), Globals::Changing(values)) => values.get_mut(at as usize),
            (Root::Global(_), Globals::Fixed(_)) => {
                return fail(span, "variables of `static` blocks cannot be changed by work");
            }
        };
        value.ok_or_else(|| failure(span, "there is no such variable here"))
    }
}

/// Where on the stack we are.
#[inline]
pub(super) fn here() -> usize {
    let marker = 0u8;
    std::ptr::from_ref(std::hint::black_box(&marker)).addr()
}

#[cold]
pub(super) fn failure(span: Span, why: impl Into<String>) -> Box<Failure> {
    Box::new(Failure { fault: Fault(why.into()), span })
}

#[cold]
pub(super) fn fail<T>(span: Span, why: impl Into<String>) -> Outcome<T> {
    Err(failure(span, why))
}

/// Says where a fault was.
pub(super) trait At<T> {
    /// At this place.
    fn at(self, span: Span) -> Outcome<T>;
}

impl<T> At<T> for Result<T, Fault> {
    #[inline]
    fn at(self, span: Span) -> Outcome<T> {
        self.map_err(|fault| Box::new(Failure { fault, span }))
    }
}
