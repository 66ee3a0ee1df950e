//! Functions, handlers, and other code with its own variables.

use super::Resolver;
use super::effects::Effects;
use super::frame::{Callable, Code, Context, Variable};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Body, Shaped, Type};

impl<'a> Resolver<'a> {
    /// Resolves code with its own variables, parameters first; also returns the code's final state.
    pub fn body(
        &mut self,
        code: Code,
        params: &'a [ast::Param],
        block: &'a ast::Block,
    ) -> (Option<Body>, Code) {
        let (stmts, code) = self.in_code(code, |this| {
            this.parameters(params);
            this.stmts(&block.stmts)
        });
        let local = |local: &Variable| Some((local.name.clone(), local.ty.clone()?));
        let locals = code.locals.iter().map(local).collect::<Option<Vec<_>>>();
        let body = stmts.zip(locals).map(|(stmts, locals)| Body { locals, stmts });
        (body, code)
    }

    fn parameters(&mut self, params: &'a [ast::Param]) {
        for param in params {
            let ty = self.value_type(&param.ty);
            let shape = ty.is_some().then(|| self.shaped(&param.ty)).flatten();
            let (name, span) = (param.name.text.clone(), param.name.span);
            self.declare_local(Variable { name, span, ty, shape });
        }
        self.code().params = params.len();
    }

    /// A function and its effects.
    pub fn function(
        &mut self,
        place: Context,
        function: &'a ast::Function,
        callable: &Callable<'a>,
    ) -> (Option<hir::Function>, Effects) {
        let mut code = Code::new(place);
        code.result = callable.result.clone();
        let (body, code) = self.body(code, &function.params, &function.body);
        if !code.returned && code.result.as_ref().is_some_and(|ty| *ty != Type::Void) {
            let name = &function.name;
            let error = Diagnostic::new(name.span, format!("missing `return` in `{}`", name.text))
                .label("this function never returns a value")
                .other(function.result.span, "its declared result type")
                .hint("add `return value;`, or declare the result as `void`");
            self.error::<()>(error);
        }
        let resolved = self.resolved_function(function, &code, body);
        (resolved, code.effects)
    }

    fn resolved_function(
        &mut self,
        function: &'a ast::Function,
        code: &Code,
        body: Option<Body>,
    ) -> Option<hir::Function> {
        let result = self.shaped(&function.result)?;
        let params = code.locals[..code.params].iter().map(|local| local.shape.clone());
        let params: Vec<Shaped> = params.collect::<Option<_>>()?;
        Some(hir::Function { name: function.name.text.clone(), params, result, body: body? })
    }
}
