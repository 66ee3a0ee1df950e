//! Filters.

use super::Resolver;
use super::effects::Effects;
use super::frame::{Callable, Code, Where};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Body, Callee};
use crate::source::Span;

/// A filter's functions, or handlers, and what each does.
type Functions = (Option<Vec<hir::Function>>, Vec<Effects>);

impl<'a> Resolver<'a> {
    /// A filter, in its frame.
    pub fn filter(&mut self, filter: &'a ast::Filter, span: Span) -> Option<hir::Filter> {
        self.filter_functions(filter);
        let fields = self.fields(filter);
        let init = self.init_block(filter);
        let functions = self.frame().functions.clone();
        let (functions, effects) = self.function_bodies(Where::Function, &filter.functions, &functions);
        let handlers = self.handler_callables(filter);
        let (handlers, handled) = self.function_bodies(Where::Handler, &filter.handlers, &handlers);
        let prework = self.prework(filter, &effects);
        let work = self.work_block(filter, span, &effects);
        let (prework, prework_effects) = prework?;
        let (work, work_effects) = work?;
        let keeps_state = !handled.is_empty() || prework_effects.state || work_effects.state;
        Some(hir::Filter {
            stateful: filter.stateful,
            keeps_state,
            fields: fields?,
            init: init?,
            prework,
            work,
            functions: functions?,
            handlers: handlers?,
        })
    }

    fn filter_functions(&mut self, filter: &'a ast::Filter) {
        for (at, function) in filter.functions.iter().enumerate() {
            let callee = Callee::Function(at as u32);
            let callable = self.callable(&function.result, &function.name, &function.params, callee);
            let twice = self.frame().add_function(callable);
            self.twice("function", &function.name, twice);
        }
    }

    fn handler_callables(&mut self, filter: &'a ast::Filter) -> Vec<Callable<'a>> {
        let callable = |this: &mut Self, handler: &'a ast::Function| {
            this.callable(&handler.result, &handler.name, &handler.params, Callee::Function(0))
        };
        filter.handlers.iter().map(|handler| callable(self, handler)).collect()
    }

    fn fields(&mut self, filter: &'a ast::Filter) -> Option<Vec<hir::Variable>> {
        let mut fields = Vec::new();
        for field in &filter.fields {
            let (variable, resolved) = self.state_variable(field);
            let twice = self.frame().add_field(variable);
            self.twice("field or parameter", &field.name, twice);
            fields.push(resolved);
        }
        fields.into_iter().collect()
    }

    #[expect(clippy::option_option, reason = "wrong and not there are two things")]
    fn init_block(&mut self, filter: &'a ast::Filter) -> Option<Option<Body>> {
        self.only_one("init", filter.inits.iter().map(|block| block.span));
        let Some(block) = filter.inits.first() else { return Some(None) };
        self.body(Code::new(Where::Init), &[], block).0.map(Some)
    }

    fn function_bodies(
        &mut self,
        place: Where,
        functions: &'a [ast::Function],
        callables: &[Callable<'a>],
    ) -> Functions {
        let both = functions.iter().zip(callables);
        let (functions, effects): (Vec<_>, _) =
            both.map(|(function, callable)| self.function(place, function, callable)).unzip();
        (functions.into_iter().collect(), effects)
    }

    #[expect(clippy::option_option, reason = "wrong and not there are two things")]
    fn prework(
        &mut self,
        filter: &'a ast::Filter,
        functions: &[Effects],
    ) -> Option<(Option<hir::Work>, Effects)> {
        self.only_one("prework", filter.preworks.iter().map(|work| work.span));
        let Some(work) = filter.preworks.first() else { return Some((None, Effects::default())) };
        let (work, effects) = self.work(Where::Prework, work, functions)?;
        Some((Some(work), effects))
    }

    fn work_block(
        &mut self,
        filter: &'a ast::Filter,
        span: Span,
        functions: &[Effects],
    ) -> Option<(hir::Work, Effects)> {
        self.only_one("work", filter.works.iter().map(|work| work.span));
        let Some(work) = filter.works.first() else {
            let error = Diagnostic::new(span, "a filter without `work`").label("it does nothing");
            return self.error(error.hint("say what a firing does: `work pop 1 push 1 { ... }`"));
        };
        self.work(Where::Work, work, functions)
    }

    fn work(
        &mut self,
        place: Where,
        work: &'a ast::Work,
        functions: &[Effects],
    ) -> Option<(hir::Work, Effects)> {
        let rates = self.rates(&work.rates, work.span);
        let (body, code) = self.body(Code::new(place), &[], &work.body);
        let effects = code.effects.closed(functions, &self.helper_effects);
        let (rates, body) = (rates?, body?);
        self.check_rates(place, work, &rates, &effects);
        let resolved = hir::Work { rates, body, span: work.span };
        self.check_counts(work, &resolved);
        Some((resolved, effects))
    }

    fn only_one(&mut self, what: &str, mut blocks: impl Iterator<Item = Span>) {
        let Some(first) = blocks.next() else { return };
        for again in blocks {
            let error = Diagnostic::new(again, format!("a filter has one `{what}`"))
                .label("this is another")
                .other(first, "this is the first");
            self.error::<()>(error);
        }
    }
}
