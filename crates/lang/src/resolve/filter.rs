//! Filters.

use super::Resolver;
use super::effects::Effects;
use super::frame::{Callable, Code, Context};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Body, Callee, Root};
use crate::source::Span;

/// Functions or handlers of a filter, and the effects of each.
type Functions = (Option<Vec<hir::Function>>, Vec<Effects>);

/// Functions followed by handlers, in the numbering that calls use.
fn with_handlers(
    functions: Option<Vec<hir::Function>>,
    handlers: &Option<Vec<hir::Function>>,
) -> Option<Vec<hir::Function>> {
    let mut all = functions?;
    all.extend(handlers.iter().flatten().cloned());
    Some(all)
}

impl<'a> Resolver<'a> {
    /// Resolves a filter in its frame.
    pub fn filter(&mut self, filter: &'a ast::Filter, span: Span) -> Option<hir::Filter> {
        self.filter_functions(filter);
        let fields = self.fields(filter);
        let (init, init_effects) = self.init_block(filter);
        let callables = self.frame().functions.clone();
        let (callables, handlers) = callables.split_at(filter.functions.len());
        let (functions, mut effects) = self.function_bodies(Context::Function, &filter.functions, callables);
        let (handlers, handled) = self.function_bodies(Context::Handler, &filter.handlers, handlers);
        effects.extend(handled);
        self.check_init(&init_effects.closed(&effects, &self.helper_effects));
        let prework = self.prework(filter, &effects);
        let work = self.work_block(filter, span, &effects);
        let (prework, prework_effects) = prework?;
        let (work, work_effects) = work?;
        // Whether handlers are called as functions is known only after all bodies are resolved.
        let called = self.frame().calls_handlers;
        let functions = if called { with_handlers(functions, &handlers) } else { functions };
        let keeps_state = !filter.handlers.is_empty() || prework_effects.state || work_effects.state;
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

    /// Declares functions, followed by handlers, which can also be called as functions.
    fn filter_functions(&mut self, filter: &'a ast::Filter) {
        for (at, function) in filter.functions.iter().chain(&filter.handlers).enumerate() {
            let callee = Callee::Function(at as u32);
            let callable = self.callable(&function.result, &function.name, &function.params, callee);
            let frame = self.frame();
            let earlier = frame.add_function(callable);
            frame.plain_functions = filter.functions.len() as u32;
            self.report_duplicate("function", &function.name, earlier);
        }
    }

    fn fields(&mut self, filter: &'a ast::Filter) -> Option<Vec<hir::Variable>> {
        let mut fields = Vec::new();
        for field in &filter.fields {
            let (variable, resolved) = self.state_variable(field);
            let before = self.frame().add_field(variable);
            self.amend_early_uses(&field.name.text, field.name.span);
            match before {
                Some((Root::Param(_), param)) => {
                    self.shadows_parameter(&field.name.text, field.name.span, param)
                }
                before => self.report_duplicate("field", &field.name, before.map(|(_, first)| first)),
            }
            fields.push(resolved);
        }
        fields.into_iter().collect()
    }

    fn init_block(&mut self, filter: &'a ast::Filter) -> (Option<Option<Body>>, Effects) {
        self.only_one("init", filter.inits.iter().map(|block| block.span));
        let Some(block) = filter.inits.first() else { return (Some(None), Effects::default()) };
        let (body, code) = self.body(Code::new(Context::Init), &[], block);
        (body.map(Some), code.effects)
    }

    /// Reports items moved in functions that `init` calls; those moved in `init` itself have been reported.
    fn check_init(&mut self, done: &Effects) {
        for (what, done) in [("push", done.push), ("pop", done.pop), ("peek", done.peek)] {
            let Some(span) = done else { continue };
            let message = format!("`{what}` in a function that `init` calls");
            let error = Diagnostic::new(span, message)
                .label("items cannot be moved during `init`")
                .hint("use `prework`, which runs once before `work`");
            self.error::<()>(error);
        }
    }

    fn function_bodies(
        &mut self,
        place: Context,
        functions: &'a [ast::Function],
        callables: &[Callable<'a>],
    ) -> Functions {
        // Rates of functions are documentation; items that functions move count for their callers.
        functions.iter().for_each(|function| {
            self.rates(&function.rates, function.name.span);
        });
        let (functions, effects): (Vec<_>, _) = functions
            .iter()
            .zip(callables)
            .map(|(function, callable)| self.function(place, function, callable))
            .unzip();
        (functions.into_iter().collect(), effects)
    }

    fn prework(
        &mut self,
        filter: &'a ast::Filter,
        functions: &[Effects],
    ) -> Option<(Option<hir::Work>, Effects)> {
        self.only_one("prework", filter.preworks.iter().map(|work| work.span));
        let Some(work) = filter.preworks.first() else { return Some((None, Effects::default())) };
        let (work, effects) = self.work(Context::Prework, work, functions)?;
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
            let error = Diagnostic::new(span, "a filter without `work`").label("missing `work`");
            return self.error(error.hint("add `work pop 1 push 1 { ... }`"));
        };
        self.work(Context::Work, work, functions)
    }

    fn work(
        &mut self,
        place: Context,
        work: &'a ast::Work,
        functions: &[Effects],
    ) -> Option<(hir::Work, Effects)> {
        let rates = self.rates(&work.rates, work.span);
        let (body, code) = self.body(Code::new(place), &[], &work.body);
        let effects = code.effects.closed(functions, &self.helper_effects);
        let rates = rates?;
        self.check_rates(place, work, &rates, &effects);
        let body = body?;
        let resolved = hir::Work { rates, body, span: work.span };
        self.check_counts(work, &resolved);
        self.check_peeks(&resolved);
        Some((resolved, effects))
    }

    fn only_one(&mut self, what: &str, mut blocks: impl Iterator<Item = Span>) {
        let Some(first) = blocks.next() else { return };
        for again in blocks {
            let error = Diagnostic::new(again, format!("duplicate `{what}` in a filter"))
                .label("declared again here")
                .other(first, "first declared here")
                .hint("merge them into one");
            self.error::<()>(error);
        }
    }
}
