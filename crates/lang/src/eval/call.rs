//! Calls.

use super::budget::SPARE;
use super::declare::check_lengths;
use super::files;
use super::machine::{Machine, Outcome, WithSpan, fail, failure, here};
use crate::hir::{Builtin, Callee, Expr, Function, Type};
use crate::source::Span;
use crate::value::Value;
use corosensei::on_stack;
use corosensei::stack::DefaultStack;

impl<'p> Machine<'p, '_> {
    /// The value of a call.
    pub(super) fn call(&mut self, callee: Callee, args: &'p [Expr], span: Span) -> Outcome<Value> {
        let program = self.code.program;
        let function = match callee {
            Callee::Builtin(builtin) => return self.call_builtin(builtin, args, span),
            Callee::Function(at) => self.code.functions.get(at as usize),
            Callee::Helper(at) => program.helpers.get(at as usize),
            Callee::Native(at) => {
                let name = program.natives.get(at as usize).map_or("", |native| &native.name);
                return fail(span, format!("the native function `{name}` is not part of the program"));
            }
        };
        let function = function.ok_or_else(|| failure(span, "there is no such function"))?;
        let frame = self.scratch.locals.len();
        for arg in args {
            let value = self.eval(arg)?;
            self.scratch.locals.push(value);
        }
        self.apply(function, frame, span)
    }

    /// Executes a function; its arguments are the locals from `frame` on.
    pub(super) fn apply(&mut self, function: &'p Function, frame: usize, span: Span) -> Outcome<Value> {
        self.enter_call(span)?;
        let result = if self.is_stack_half_used() {
            self.call_on_new_stack(function, frame, span)
        } else {
            self.execute(function, frame, span)
        };
        self.leave_call();
        result
    }

    /// Executes a function on a new stack, so that only `MAX_CALLS` limits nested calls.
    #[cold]
    fn call_on_new_stack(&mut self, function: &'p Function, frame: usize, span: Span) -> Outcome<Value> {
        let stack = DefaultStack::new(self.budget.stack + SPARE);
        let stack = stack.map_err(|error| failure(span, format!("no stack: {error}")))?;
        let top = self.stack_top;
        let result = on_stack(stack, || {
            self.stack_top = here();
            self.execute(function, frame, span)
        });
        self.stack_top = top;
        result
    }

    fn execute(&mut self, function: &'p Function, frame: usize, span: Span) -> Outcome<Value> {
        let caller = (self.frame, std::mem::take(&mut self.frame_words));
        self.enter(&function.body, frame);
        self.check_args(function, span)?;
        self.exec_all(&function.body.stmts)?;
        let result = self.take_result(function, span)?;
        self.leave(caller.0, caller.1);
        Ok(result)
    }

    /// Checks that array arguments have the declared lengths, and accounts for their memory.
    fn check_args(&mut self, function: &'p Function, span: Span) -> Outcome<()> {
        for (at, param) in function.params.iter().enumerate() {
            if !matches!(param.ty, Type::Array(_) | Type::Struct(_)) {
                continue;
            }
            let shape = self.shape(param)?;
            let given = self.scratch.locals.get(self.frame + at);
            let given = given.ok_or_else(|| failure(span, "missing argument"))?;
            check_lengths(given, &shape, self.code.structs, span)?;
            self.reserve_local(given.words(), span)?;
        }
        Ok(())
    }

    fn take_result(&mut self, function: &'p Function, span: Span) -> Outcome<Value> {
        let result = self.result.take();
        let ty = &function.result.ty;
        if !matches!(ty, Type::Array(_) | Type::Struct(_)) {
            return Ok(result.unwrap_or_else(|| Value::zero_scalar(ty)));
        }
        let shape = self.shape(&function.result)?;
        match result {
            None => Ok(Value::zero(&shape, self.code.structs)),
            Some(value) => {
                check_lengths(&value, &shape, self.code.structs, span)?;
                Ok(value)
            }
        }
    }

    fn call_builtin(&mut self, function: Builtin, args: &'p [Expr], span: Span) -> Outcome<Value> {
        match (function, args) {
            (Builtin::Random, []) => Ok(Value::Float(self.host.random())),
            (Builtin::LoadInts | Builtin::LoadFloats, [name, count]) => {
                self.load(function, name, count, span)
            }
            (_, [x]) => Value::builtin(function, &[self.eval(x)?]).with_span(span),
            (_, [x, y]) => Value::builtin(function, &[self.eval(x)?, self.eval(y)?]).with_span(span),
            _ => fail(span, format!("{function:?} does not take {} arguments", args.len())),
        }
    }

    fn load(&mut self, function: Builtin, name: &'p Expr, count: &'p Expr, span: Span) -> Outcome<Value> {
        let Value::String(path) = self.eval(name)? else {
            return fail(name.span, "expected a file name");
        };
        let length = self.length(count)?;
        if length > files::MAX_ELEMENTS {
            return fail(
                count.span,
                format!("cannot read {length} elements: the limit is {}", files::MAX_ELEMENTS),
            );
        }
        self.step(length as u64, span)?;
        let element = if function == Builtin::LoadInts { Type::Int } else { Type::Float };
        Ok(Value::Array(files::load(&path, length, &element).with_span(span)?))
    }
}
