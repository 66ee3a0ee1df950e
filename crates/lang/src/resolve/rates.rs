//! Rates, as they are written and against what is done.

use super::Resolver;
use super::constant::{is_zero, most, rate};
use super::effects::Effects;
use super::frame::Where;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Expr, ExprKind, Rate, Rates, Type};
use crate::interpret::counted;
use crate::source::Span;
use crate::value::Value;

impl<'a> Resolver<'a> {
    /// Rates as written; those that are not are 0.
    pub fn rates(&mut self, rates: &'a ast::Rates, span: Span) -> Option<Rates> {
        let push = self.rate_or_zero(rates.push.as_ref(), span);
        let pop = self.rate_or_zero(rates.pop.as_ref(), span);
        let peek = match &rates.peek {
            Some(peek) => self.rate(peek).map(Some),
            None => Some(None),
        };
        let (push, pop, peek) = (push?, pop?, peek?);
        // Published programs write `pop 4 peek 1`: what is taken is looked at, whatever is said.
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
                self.error(error.label(format!("this is {number}")).hint("with a rate of 0 nothing is moved"))
            }
            _ => Some(value),
        }
    }

    /// Rates against the filter's types, and against what is done at all.
    pub fn check_rates(&mut self, place: Where, work: &ast::Work, rates: &Rates, done: &Effects) {
        let (input, output) = (self.frame().input.clone(), self.frame().output.clone());
        let looks = rates.peek.as_ref().is_some_and(|peek| !is_zero(peek));
        let takes = !is_zero(&rates.pop) || looks;
        self.check_window(rates, done);
        let gives = !is_zero(&rates.push);
        if input == Some(Type::Void) && takes {
            self.void_rate(work, "takes items, but its input is `void`");
        }
        if output == Some(Type::Void) && gives {
            self.void_rate(work, "gives items, but its output is `void`");
        }
        if input != Some(Type::Void) {
            self.undeclared("pop", done.pop.filter(|_| is_zero(&rates.pop)), work.span);
            self.undeclared("peek", done.peek.filter(|_| !takes), work.span);
        }
        if output != Some(Type::Void) {
            self.undeclared("push", done.push.filter(|_| !gives), work.span);
        }
        if place == Where::Work {
            // A rate of 0 that is written is meant.
            let said = &work.rates;
            self.idle(
                work,
                "pop",
                input,
                said.pop.is_some() || said.peek.is_some() || done.pop.or(done.peek).is_some(),
            );
            self.idle(work, "push", output, said.push.is_some() || done.push.is_some());
        }
    }

    /// The farthest look ahead against how far can be looked, where both are known.
    fn check_window(&mut self, rates: &Rates, done: &Effects) {
        let window = most(&rates.pop).zip(most(rates.peek.as_ref().unwrap_or(&rates.pop)));
        let (Some((pop, peek)), Some((index, span))) = (window, done.farthest) else { return };
        let window = pop.max(peek);
        if window > 0 && index >= window {
            let message =
                format!("`peek({index})` where {} can look at {}", self.in_words(), counted(window.into()));
            let error = Diagnostic::new(span, message).label("this is beyond them");
            self.error::<()>(
                error.hint(format!("declare how many are looked at: `peek {}`", i64::from(index) + 1)),
            );
        }
    }

    /// The filter we are in, as errors name it.
    pub fn in_words(&mut self) -> String {
        self.frame().name.as_ref().map_or_else(|| "this filter".into(), |name| format!("`{name}`"))
    }

    fn void_rate(&mut self, work: &ast::Work, what: &str) {
        let error =
            Diagnostic::new(head(work), format!("{} {what}", self.in_words())).label("these rates are not 0");
        self.error::<()>(error.hint("change the rates, or the filter's type"));
    }

    fn undeclared(&mut self, what: &str, done: Option<Span>, work: Span) {
        let Some(span) = done else { return };
        let error =
            Diagnostic::new(span, format!("`{what}` where the rates of {} allow none", self.in_words()))
                .label("done here")
                .other(Span { end: work.start + 4, ..work }, "these rates are meant")
                .hint(format!("declare how many: `{what} 1`"));
        self.error::<()>(error);
    }

    fn idle(&mut self, work: &ast::Work, what: &str, item: Option<Type>, said: bool) {
        let Some(item) = item.filter(|item| *item != Type::Void && !said) else { return };
        let (verb, side) = if what == "pop" { ("takes", "input") } else { ("gives", "output") };
        let name = self.type_name(&item);
        let message = format!("{} {verb} nothing, but its {side} is `{name}`", self.in_words());
        let error = Diagnostic::new(head(work), message).label(format!("no `{what}` rate"));
        self.error::<()>(error.hint(format!("declare a rate (`{what} 1`), or make the {side} `void`")));
    }
}

/// From the keyword to the code.
fn head(work: &ast::Work) -> Span {
    let end = if work.body.span.start > work.span.start { work.body.span.start } else { work.span.end };
    Span { end, ..work.span }
}
