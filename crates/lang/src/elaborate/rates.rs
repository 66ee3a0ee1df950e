//! Evaluation of rates.

use super::Elaborator;
use super::stream::Instance;
use crate::Span;
use crate::eval::{Failure, Fault, Machine, Outcome};
use crate::hir::{self, Expr};
use crate::tree::{Rate, Rates};
use crate::value::Value;

/// A rate before validation; it may be negative.
#[derive(Clone, Copy)]
enum Raw {
    Static(i32),
    Dynamic { min: Option<i32>, average: Option<i32>, max: Option<i32> },
}

impl<'p> Elaborator<'p> {
    /// Evaluates the rates of a firing; `None` if they are invalid, which has been reported. They may use the
    /// fields with their values after `init`: published programs do.
    pub(super) fn rates(
        &mut self,
        instance: Instance<'p, '_>,
        fields: &mut [Value],
        work: &'p hir::Work,
    ) -> Option<Rates> {
        let mut machine = self.machine(instance.params, fields, &[]);
        let push = raw(&mut machine, &work.rates.push);
        let pop = raw(&mut machine, &work.rates.pop);
        let peek = work.rates.peek.as_ref().map(|rate| raw(&mut machine, rate)).transpose();
        let push = self.rate(push, "push", work.span);
        let pop = self.rate(pop, "pop", work.span);
        let peek = match self.accept(peek, work.span)? {
            Some(peek) => Some(self.rate(Ok(peek), "peek", work.span)?),
            None => None,
        };
        let (push, pop) = (push?, pop?);
        Some(Rates { push, pop, peek: window(pop, peek) })
    }

    fn rate(&mut self, rate: Outcome<Raw>, what: &str, span: Span) -> Option<Rate> {
        let rate = self.accept(rate, span)?;
        let mut number = |value: i32| {
            if value < 0 {
                let text = format!("the {what} rate {value} is negative");
                self.error_with_hint(span, text, "use 0 for no items");
            }
            u32::try_from(value).ok()
        };
        match rate {
            Raw::Static(count) => Some(Rate::Static(number(count)?)),
            Raw::Dynamic { min, average, max } => {
                let min = number(min.unwrap_or(0))?;
                let average = average.map_or(Some(None), |value| number(value).map(Some))?;
                let max = max.map_or(Some(None), |value| number(value).map(Some))?;
                let rate = Rate::Dynamic { min, average, max };
                self.check_range(rate, what, span)
            }
        }
    }

    fn check_range(&mut self, rate: Rate, what: &str, span: Span) -> Option<Rate> {
        let Rate::Dynamic { min, average, max } = rate else { return Some(rate) };
        let top = max.unwrap_or(u32::MAX);
        let middle = average.unwrap_or(min);
        if min <= middle && middle <= top && top > 0 {
            return Some(rate);
        }
        let text = format!("the {what} rate {rate} is not a valid range");
        self.error_with_hint(
            span,
            text,
            "write `[min, max]` or `[min, average, max]` in ascending order, with a positive maximum",
        );
        None
    }
}

/// The window: at least the popped items, even if `peek` is omitted or smaller. (Published programs write
/// `pop 4 peek 1`.)
fn window(pop: Rate, peek: Option<Rate>) -> Rate {
    let Some(peek) = peek else { return pop };
    let min = pop.least().max(peek.least());
    let max = pop.most().zip(peek.most()).map(|(pop, peek)| pop.max(peek));
    if (min, max) == (pop.least(), pop.most()) {
        pop
    } else if max == Some(min) {
        Rate::Static(min)
    } else {
        let average = if let Rate::Dynamic { average, .. } = peek { average } else { None };
        Rate::Dynamic { min, average: average.map(|average| average.max(min)), max }
    }
}

fn raw<'p>(machine: &mut Machine<'p, '_>, rate: &'p hir::Rate) -> Outcome<Raw> {
    match rate {
        hir::Rate::Static(count) => Ok(Raw::Static(integer(machine, count)?)),
        hir::Rate::Dynamic { min, average, max } => {
            let mut bound =
                |expr: &'p Option<Expr>| expr.as_ref().map(|expr| integer(machine, expr)).transpose();
            Ok(Raw::Dynamic { min: bound(min)?, average: bound(average)?, max: bound(max)? })
        }
    }
}

fn integer<'p>(machine: &mut Machine<'p, '_>, expr: &'p Expr) -> Outcome<i32> {
    match machine.evaluate(expr)? {
        Value::Bool(value) => Ok(value.into()),
        Value::Int(value) => Ok(value),
        other => {
            let fault = Fault(format!("expected a rate, found {}", other.kind()));
            Err(Box::new(Failure { fault, span: expr.span }))
        }
    }
}
