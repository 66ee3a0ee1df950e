//! Calls.

use super::Resolver;
use super::builtins;
use super::frame::Callable;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Type};
use crate::source::Span;

impl<'a> Resolver<'a> {
    /// `function(arguments)`: functions of the filter take precedence over built-in ones.
    pub fn call(&mut self, name: &'a ast::Name, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        if let Some(&at) = self.frame().function_names.get(name.text.as_str()) {
            let callable = self.frame().functions[at as usize].clone();
            return self.call_of(&callable, args, span);
        }
        if let Some(call) = self.builtin(name, args, span) {
            return call;
        }
        self.values(args);
        let names = ["pop", "peek", "push"].into_iter().chain(builtins::names());
        let known = self.frames.iter().flat_map(|frame| frame.function_names.keys().copied());
        let error = self.unknown("function", &name.text, name.span, known.chain(names));
        self.error(error)
    }

    /// `Block.function(arguments)`.
    pub fn block_call(
        &mut self,
        block: &'a ast::Name,
        name: &'a ast::Name,
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        let natives = self.tables.natives.get(block.text.as_str());
        let helpers = self.tables.helpers.get(block.text.as_str());
        let native = natives.and_then(|functions| functions.get(name.text.as_str()));
        let helper = helpers.and_then(|functions| functions.get(name.text.as_str()));
        let callable = match (native, helper) {
            (Some(&(at, _)), _) => self.natives[at as usize].clone(),
            (None, Some(&(at, _))) => self.helpers[at as usize].clone(),
            (None, None) => {
                let error = self.unknown_block_function(block, name);
                self.values(args);
                return self.error(error);
            }
        };
        self.call_of(&callable, args, span)
    }

    fn unknown_block_function(&self, block: &ast::Name, name: &ast::Name) -> Diagnostic {
        let (natives, helpers) = (&self.tables.natives, &self.tables.helpers);
        let of = |block: &str| natives.get(block).into_iter().chain(helpers.get(block));
        let mut functions = of(&block.text).flat_map(|functions| functions.keys().copied()).peekable();
        if functions.peek().is_some() {
            return self.unknown("function", &name.text, name.span, functions);
        }
        let blocks = natives.keys().chain(helpers.keys()).copied();
        self.unknown("helper or native block", &block.text, block.span, blocks)
    }

    /// Resolves arguments to report the errors in them.
    pub fn values(&mut self, args: &'a [ast::Expr]) -> Vec<Option<Expr>> {
        args.iter().map(|arg| self.expr(arg)).collect()
    }

    fn call_of(&mut self, callable: &Callable<'a>, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        self.note_call(callable.callee);
        let args = self.arguments(callable.name, &callable.params, args, span)?;
        let ty = callable.result.clone()?;
        Some(Expr { kind: ExprKind::Call(callable.callee, args), ty, span })
    }

    /// Arguments for parameters of these types.
    pub fn arguments(
        &mut self,
        of: &ast::Name,
        params: &[Option<Type>],
        args: &'a [ast::Expr],
        span: Span,
    ) -> Option<Vec<Expr>> {
        let values = self.values(args);
        if values.len() != params.len() {
            let error = self.wrong_count(&of.text, params.len(), values.len(), span);
            return self.error(error.other(of.span, "declared here"));
        }
        let convert = |(value, ty): (Option<Expr>, &Option<Type>)| self.convert(value?, ty.as_ref()?);
        let converted: Vec<_> = values.into_iter().zip(params).map(convert).collect();
        converted.into_iter().collect()
    }

    /// The error for a wrong number of arguments.
    pub fn wrong_count(&self, name: &str, required: usize, given: usize, span: Span) -> Diagnostic {
        let plural = if required == 1 { "" } else { "s" };
        let message = format!("`{name}` takes {required} argument{plural}, found {given}");
        Diagnostic::new(span, message).label(format!("expected {required}"))
    }

    /// Whether a name is a native or helper block.
    pub fn is_block(&self, name: &str) -> bool {
        self.tables.natives.contains_key(name) || self.tables.helpers.contains_key(name)
    }
}
