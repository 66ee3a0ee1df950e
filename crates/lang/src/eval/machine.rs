//! The evaluator's state: variables, budget and failures.

use super::{Budget, Directive, Fault, Host, MAX_CALLS};
use crate::hir::{Body, Expr, Function, Program, Root};
use crate::source::Span;
use crate::value::{Shape, Value};

/// A failure of code, with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The reason.
    pub fault: Fault,
    /// The expression or statement.
    pub span: Span,
}

/// The result of code. A failure is boxed to keep results small.
pub type Outcome<T> = Result<T, Box<Failure>>;

/// The context of code: the program (`'p`), and its elaborated values.
#[derive(Clone, Copy)]
pub struct Code<'p, 'a> {
    /// The program.
    pub program: &'p Program,
    /// Field shapes of its structures.
    pub structs: &'a [Vec<Shape>],
    /// Parameters of the stream.
    pub params: &'a [Value],
    /// Functions of the filter.
    pub functions: &'p [Function],
    /// The output type of the filter.
    pub output: &'a Shape,
}

/// Variables of `static` blocks.
pub enum Globals<'a> {
    /// Read-only: at run time.
    Fixed(&'a [Value]),
    /// Mutable: during elaboration.
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

/// Storage for variables, reused between runs.
#[derive(Default, Debug)]
pub struct Scratch {
    /// Locals of all active calls, and arguments of the next call.
    pub(super) locals: Vec<Value>,
    /// Evaluated indices of places in use.
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
    /// The start of the innermost call's locals.
    pub(super) frame: usize,
    /// Their memory, in words.
    pub(super) frame_words: u64,
    /// The value of `return`.
    pub(super) result: Option<Value>,
    /// Requests of a composite; `None` in other code.
    pub(super) directives: Option<Vec<Directive<'p>>>,
    /// The number of the next portal.
    pub(super) next_portal: u32,
    calls: u32,
    pub(super) stack_top: usize,
}

impl<'p, 'a> Machine<'p, 'a> {
    /// A machine for the code of one stream.
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
            directives: None,
            next_portal: 0,
            calls: 0,
            stack_top: here(),
        }
    }

    /// Executes code without parameters: a firing, or `init`.
    ///
    /// # Errors
    /// The code fails.
    pub fn run(&mut self, body: &'p Body) -> Outcome<()> {
        self.reset();
        self.enter(body, 0);
        let done = self.exec_all(&body.stmts);
        self.leave(0, 0);
        self.result = None;
        done.map(drop)
    }

    /// Executes a function or handler with arguments, and returns its result.
    ///
    /// # Errors
    /// The code fails.
    pub fn run_function(&mut self, function: &'p Function, args: Vec<Value>) -> Outcome<Value> {
        self.reset();
        self.scratch.locals.extend(args);
        self.apply(function, 0, Span::default())
    }

    /// Evaluates an expression without locals.
    ///
    /// # Errors
    /// The code fails.
    pub fn evaluate(&mut self, expr: &'p Expr) -> Outcome<Value> {
        self.reset();
        self.eval(expr)
    }

    /// Clears what a failed run may have left.
    pub(super) fn reset(&mut self) {
        self.stack_top = here();
        self.scratch.locals.clear();
        self.scratch.indices.clear();
        (self.frame, self.calls, self.result) = (0, 0, None);
        self.budget.release(std::mem::take(&mut self.frame_words));
    }

    /// Starts a frame: the locals from `frame` on are the arguments; adds the other locals of the body.
    pub(super) fn enter(&mut self, body: &Body, frame: usize) {
        self.frame = frame;
        self.scratch.locals.resize(frame + body.locals.len(), Value::Int(0));
    }

    /// Drops the innermost frame and returns to the caller's.
    pub(super) fn leave(&mut self, frame: usize, frame_words: u64) {
        self.scratch.locals.truncate(self.frame);
        self.budget.release(self.frame_words);
        (self.frame, self.frame_words) = (frame, frame_words);
    }

    /// Counts a call, up to the limit.
    pub(super) fn enter_call(&mut self, span: Span) -> Outcome<()> {
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return fail(span, format!("more than {MAX_CALLS} calls are nested"));
        }
        Ok(())
    }

    /// Whether half of the stack is in use; the rest is for nested code within one call.
    pub(super) fn is_stack_half_used(&self) -> bool {
        self.stack_top.abs_diff(here()) > self.budget.stack / 2
    }

    pub(super) fn leave_call(&mut self) {
        self.calls -= 1;
    }

    /// Consumes steps.
    #[inline]
    pub(super) fn step(&mut self, steps: u64, span: Span) -> Outcome<()> {
        if self.budget.step(steps) { Ok(()) } else { self.step_further(steps, span) }
    }

    /// Requests more steps when the budget is used up.
    #[cold]
    fn step_further(&mut self, steps: u64, span: Span) -> Outcome<()> {
        match self.host.further_steps().with_span(span)? {
            Some(more) => {
                self.budget.steps = more.saturating_sub(steps);
                Ok(())
            }
            None => fail(span, "step limit exceeded: this may not terminate"),
        }
    }

    /// Fails if nested code would overflow the stack.
    #[inline]
    pub(super) fn guard(&self, span: Span) -> Outcome<()> {
        if self.stack_top.abs_diff(here()) < self.budget.stack {
            return Ok(());
        }
        fail(span, "calls, statements or expressions are nested too deeply")
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
        value.ok_or_else(|| failure(span, "unknown variable"))
    }

    /// A mutable variable.
    #[inline]
    pub(super) fn root_mut(&mut self, root: Root, span: Span) -> Outcome<&mut Value> {
        let value = match (root, &mut self.globals) {
            (Root::Local(at), _) => self.scratch.locals.get_mut(self.frame + at as usize),
            (Root::Field(at), _) => self.fields.get_mut(at as usize),
            (Root::Param(_), _) => return fail(span, "a parameter of a stream cannot be changed"),
            (Root::Global(at), Globals::Changing(values)) => values.get_mut(at as usize),
            (Root::Global(_), Globals::Fixed(_)) => {
                return fail(span, "a `static` variable cannot be changed while the program runs");
            }
        };
        value.ok_or_else(|| failure(span, "unknown variable"))
    }
}

/// An address near the top of the current stack.
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

/// Adds the place to a fault.
pub(super) trait WithSpan<T> {
    /// Adds this place.
    fn with_span(self, span: Span) -> Outcome<T>;
}

impl<T> WithSpan<T> for Result<T, Fault> {
    #[inline]
    fn with_span(self, span: Span) -> Outcome<T> {
        self.map_err(|fault| Box::new(Failure { fault, span }))
    }
}
