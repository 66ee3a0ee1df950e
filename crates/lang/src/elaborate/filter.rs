//! Filters: first values of their fields, `init`, rates.

use super::Elaborator;
use super::stream::Making;
use crate::diagnostic::Diagnostic;
use crate::eval::{MAX_WORDS, Random};
use crate::hir;
use crate::tree::{Code, Filter, Rate, Rates, StreamKind};
use crate::value::{Shape, Value};

impl<'p> Elaborator<'p> {
    /// Makes a filter that hears these portals.
    pub(super) fn make_filter(
        &mut self,
        making: Making<'p, '_>,
        filter: &'p hir::Filter,
        portals: &[u32],
    ) -> Option<(Shape, Shape, StreamKind)> {
        let declared = self.declared(making)?;
        let mut fields = self.first_fields(making, filter)?;
        let work = self.rates(making, &mut fields, &filter.work);
        let prework = filter.prework.as_ref().map(|work| self.rates(making, &mut fields, work));
        let Some((input, output)) = declared else {
            let error = Diagnostic::new(making.stream.span, "the types of the filter are not known")
                .hint("write what it takes and gives before it: `int->int filter`");
            self.report(error);
            return None;
        };
        let (work, prework) = (work?, prework.map_or(Some(None), |rates| rates.map(Some))?);
        let fine = self.check_ends(making, filter, (&input, &output), (work, prework));
        let made = Filter {
            path: self.path().into(),
            span: making.span,
            input: input.clone(),
            output: output.clone(),
            code: Code::Written { stream: making.id, params: making.params.to_vec(), fields },
            prework,
            work,
        };
        let id = self.add_filter(made)?;
        self.hear(id, portals);
        fine.then_some((input, output, StreamKind::Filter(id)))
    }

    /// The fields after their first values are given and `init` is done.
    fn first_fields(&mut self, making: Making<'p, '_>, filter: &'p hir::Filter) -> Option<Vec<Value>> {
        let random = Random::of_init(self.filters.len() as u32);
        let around = std::mem::replace(&mut self.outside.random, random);
        let fields = self.run_init(making, filter);
        self.outside.random = around;
        fields
    }

    fn run_init(&mut self, making: Making<'p, '_>, filter: &'p hir::Filter) -> Option<Vec<Value>> {
        let params = making.params;
        self.keep(params.iter().map(Value::words).sum(), making.span)?;
        // What stands later can be seen, as zero.
        let mut fields: Vec<Value> =
            filter.fields.iter().map(|field| Value::zero_scalar(&field.ty.ty)).collect();
        for (at, field) in filter.fields.iter().enumerate() {
            let shape = self.machine(params, &mut fields, &filter.functions).shape(&field.ty);
            let shape = self.accept(shape, field.span)?;
            self.keep(shape.words(&self.structs, MAX_WORDS).unwrap_or(MAX_WORDS), field.span)?;
            fields[at] = Value::zero(&shape, &self.structs);
            if let Some(init) = &field.init {
                let mut machine = self.machine(params, &mut fields, &filter.functions);
                let value = machine.first_value(&shape, Some(init), field.span);
                fields[at] = self.accept(value, field.span)?;
            }
        }
        if let Some(init) = &filter.init {
            let done = self.machine(params, &mut fields, &filter.functions).run(init);
            self.accept(done, making.stream.span)?;
        }
        Some(fields)
    }

    /// Whether rates go with what the filter takes and gives.
    fn check_ends(
        &mut self,
        making: Making<'p, '_>,
        filter: &hir::Filter,
        (input, output): (&Shape, &Shape),
        (work, prework): (Rates, Option<Rates>),
    ) -> bool {
        let before = self.errors.len();
        let span = filter.work.span;
        self.check_void(input, output, work, "work", span);
        if let (Some(rates), Some(code)) = (prework, &filter.prework) {
            self.check_void(input, output, rates, "prework", code.span);
        }
        if !input.is_void() && work.pop.fixed() == Some(0) {
            let text = format!("`work` pops nothing, and the filter takes {}", self.shape_name(input));
            let error = Diagnostic::new(span, text).other(making.stream.span, "the filter");
            self.report(error.hint("declare how many items it takes: `pop 1`; or make its input `void`"));
        }
        if !output.is_void() && work.push.fixed() == Some(0) {
            let text = format!("`work` pushes nothing, and the filter gives {}", self.shape_name(output));
            let error = Diagnostic::new(span, text).other(making.stream.span, "the filter");
            self.report(error.hint("declare how many items it gives: `push 1`; or make its output `void`"));
        }
        self.errors.len() == before
    }

    /// Nothing moves where there is nothing.
    fn check_void(&mut self, input: &Shape, output: &Shape, rates: Rates, what: &str, span: crate::Span) {
        if input.is_void() && (rates.pop.fixed() != Some(0) || rates.peek != Rate::Static(0)) {
            let (pop, peek) = (rates.pop, rates.peek);
            let text = format!("`{what}` has pop {pop} and peek {peek}, and the filter takes nothing");
            self.advise(span, text, "change the rates, or the filter's type");
        }
        if output.is_void() && rates.push.fixed() != Some(0) {
            let text = format!("`{what}` has push {}, and the filter gives nothing", rates.push);
            self.advise(span, text, "change the rate, or the filter's type");
        }
    }
}
