//! Declared rates, and checks of rates against code.

use super::Resolver;
use super::constant::{is_zero, most, rate};
use super::effects::Effects;
use super::frame::Context;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Rate, Rates, Type};
use crate::interpret::counted;
use crate::source::Span;
use crate::value::Value;

impl<'a> Resolver<'a> {
    /// Resolves declared rates; omitted ones are 0.
    pub fn rates(&mut self, rates: &'a ast::Rates, span: Span) -> Option<Rates> {
        let push = self.rate_or_zero(rates.push.as_ref(), span);
        let pop = self.rate_or_zero(rates.pop.as_ref(), span);
        let peek = match &rates.peek {
            Some(peek) => self.rate(peek).map(Some),
            None => Some(None),
        };
        let (push, pop, peek) = (push?, pop?, peek?);
        // Published programs write `pop 4 peek 1`. The window always includes popped items, so a smaller peek
        // rate is ignored.
        let window = peek.filter(|peek| rate(peek).zip(rate(&pop)).is_none_or(|(peek, pop)| peek > pop));
        Some(Rates { push, pop, peek: window })
    }

    fn rate_or_zero(&mut self, rate: Option<&'a ast::Rate>, span: Span) -> Option<Rate> {
        let zero = || Expr { kind: ExprKind::Constant(Value::Int(0)), ty: Type::Int, span };
        match rate {
            Some(rate) => self.rate(rate),
            None => Some(Rate::Static(zero())),
        }
    }

    fn rate(&mut self, rate: &'a ast::Rate) -> Option<Rate> {
        Some(match rate {
            ast::Rate::Static(count) => Rate::Static(self.count(count)?),
            ast::Rate::Any(_) => Rate::Dynamic { min: None, average: None, max: None },
            ast::Rate::Range(range) => {
                let min = self.bound(&range.min);
                let average = range.average.as_ref().map_or(Some(None), |average| self.bound(average));
                let max = self.bound(&range.max);
                Rate::Dynamic { min: min?, average: average?, max: max? }
            }
        })
    }

    fn bound(&mut self, bound: &'a ast::Bound) -> Option<Option<Expr>> {
        match bound {
            ast::Bound::Any(_) => Some(None),
            ast::Bound::Number(count) => self.count(count).map(Some),
        }
    }

    fn count(&mut self, count: &'a ast::Expr) -> Option<Expr> {
        let value = self.expr(count)?;
        let value = self.integer(value)?;
        match super::constant::integer(&value) {
            Some(number) if number < 0 => {
                let error = Diagnostic::new(count.span, "a rate cannot be negative");
                self.error(error.label(format!("this is {number}")).hint("use 0 for no items"))
            }
            _ => Some(value),
        }
    }

    /// Checks rates against the filter's types and the operations in its code.
    pub fn check_rates(&mut self, place: Context, work: &ast::Work, rates: &Rates, done: &Effects) {
        let (input, output) = (self.frame().input.clone(), self.frame().output.clone());
        let peeks = rates.peek.as_ref().is_some_and(|peek| !is_zero(peek));
        let consumes = !is_zero(&rates.pop) || peeks;
        self.check_window(rates, done);
        let pushes = !is_zero(&rates.push);
        if input == Some(Type::Void) && consumes {
            self.void_rate(work, "consumes items, but its input is `void`");
        }
        if output == Some(Type::Void) && pushes {
            self.void_rate(work, "pushes items, but its output is `void`");
        }
        if input != Some(Type::Void) {
            self.undeclared("pop", done.pop.filter(|_| is_zero(&rates.pop)), work.span);
            self.undeclared("peek", done.peek.filter(|_| !consumes), work.span);
        }
        if output != Some(Type::Void) {
            self.undeclared("push", done.push.filter(|_| !pushes), work.span);
        }
        if place == Context::Work {
            // An explicit rate of 0 is intended.
            let declared = &work.rates;
            self.missing_rate(
                work,
                "pop",
                input,
                declared.pop.is_some() || declared.peek.is_some() || done.pop.or(done.peek).is_some(),
            );
            self.missing_rate(work, "push", output, declared.push.is_some() || done.push.is_some());
        }
    }

    /// Checks the greatest constant peek index against the window, if both are known.
    fn check_window(&mut self, rates: &Rates, done: &Effects) {
        let window = most(&rates.pop).zip(most(rates.peek.as_ref().unwrap_or(&rates.pop)));
        let (Some((pop, peek)), Some((index, span))) = (window, done.farthest) else { return };
        let window = pop.max(peek);
        if window > 0 && index >= window {
            let message = format!(
                "`peek({index})` is outside the window of {}, which is {}",
                self.filter_in_words(),
                counted(window.into())
            );
            let error = Diagnostic::new(span, message).label("index out of range");
            self.error::<()>(error.hint(format!("declare a larger window: `peek {}`", i64::from(index) + 1)));
        }
    }

    /// The current filter, as errors name it.
    pub fn filter_in_words(&mut self) -> String {
        self.frame().name.as_ref().map_or_else(|| "this filter".into(), |name| format!("`{name}`"))
    }

    fn void_rate(&mut self, work: &ast::Work, what: &str) {
        let error = Diagnostic::new(head(work), format!("{} {what}", self.filter_in_words()))
            .label("these rates are not 0");
        self.error::<()>(error.hint("change the rates, or the filter's type"));
    }

    fn undeclared(&mut self, what: &str, done: Option<Span>, work: Span) {
        let Some(span) = done else { return };
        let error = Diagnostic::new(
            span,
            format!("`{what}` in {}, but its `{what}` rate is 0", self.filter_in_words()),
        )
        .label("not allowed by the rates")
        .other(work.with_end(work.start() + 4), "rates declared here")
        .hint(format!("declare the rate: `{what} 1`"));
        self.error::<()>(error);
    }

    fn missing_rate(&mut self, work: &ast::Work, what: &str, item: Option<Type>, declared: bool) {
        let Some(item) = item.filter(|item| *item != Type::Void && !declared) else { return };
        let (verb, side) = if what == "pop" { ("pops", "input") } else { ("pushes", "output") };
        let name = self.type_name(&item);
        let message = format!("{} {verb} nothing, but its {side} is `{name}`", self.filter_in_words());
        let error = Diagnostic::new(head(work), message).label(format!("no `{what}` rate"));
        self.error::<()>(error.hint(format!("declare a rate (`{what} 1`), or make the {side} `void`")));
    }
}

/// From the keyword to the body.
fn head(work: &ast::Work) -> Span {
    let end =
        if work.body.span.start() > work.span.start() { work.body.span.start() } else { work.span.end() };
    work.span.with_end(end)
}
