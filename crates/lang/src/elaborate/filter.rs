//! Filters: initial values of their fields, `init`, rates.

use super::Elaborator;
use super::stream::Instance;
use crate::diagnostic::Diagnostic;
use crate::eval::{MAX_WORDS, Random};
use crate::hir;
use crate::tree::{Code, Filter, Rate, Rates, StreamKind};
use crate::value::{Shape, Value};

impl<'p> Elaborator<'p> {
    /// Instantiates a filter that is registered with these portals.
    pub(super) fn make_filter(
        &mut self,
        instance: Instance<'p, '_>,
        filter: &'p hir::Filter,
        portals: &[u32],
    ) -> Option<(Shape, Shape, StreamKind)> {
        let declared = self.declared(instance)?;
        let mut fields = self.first_fields(instance, filter)?;
        let work = self.rates(instance, &mut fields, &filter.work);
        let prework = filter.prework.as_ref().map(|work| self.rates(instance, &mut fields, work));
        let Some((input, output)) = declared else {
            let error = Diagnostic::new(instance.stream.span, "cannot infer the types of this filter")
                .hint("write its types: `int->int filter`");
            self.report(error);
            return None;
        };
        let (work, prework) = (work?, prework.map_or(Some(None), |rates| rates.map(Some))?);
        let fine = self.check_ends(instance, filter, (&input, &output), (work, prework));
        let made = Filter {
            path: self.path().into(),
            span: instance.span,
            input: input.clone(),
            output: output.clone(),
            code: Code::Written { stream: instance.id, params: instance.params.to_vec(), fields },
            prework,
            work,
        };
        let id = self.add_filter(made)?;
        self.register(id, portals);
        fine.then_some((input, output, StreamKind::Filter(id)))
    }

    /// The fields after initialisers and `init`.
    fn first_fields(&mut self, instance: Instance<'p, '_>, filter: &'p hir::Filter) -> Option<Vec<Value>> {
        let random = Random::of_init(self.filters.len() as u32);
        let around = std::mem::replace(&mut self.host.random, random);
        let fields = self.run_init(instance, filter);
        self.host.random = around;
        fields
    }

    fn run_init(&mut self, instance: Instance<'p, '_>, filter: &'p hir::Filter) -> Option<Vec<Value>> {
        let params = instance.params;
        self.reserve(params.iter().map(Value::words).sum(), instance.span)?;
        // Later fields are visible in initialisers, as zero.
        let mut fields: Vec<Value> =
            filter.fields.iter().map(|field| Value::zero_scalar(&field.ty.ty)).collect();
        for (at, field) in filter.fields.iter().enumerate() {
            let shape = self.machine(params, &mut fields, &filter.functions).shape(&field.ty);
            let shape = self.accept(shape, field.span)?;
            self.reserve(shape.words(&self.structs, MAX_WORDS).unwrap_or(MAX_WORDS), field.span)?;
            fields[at] = Value::zero(&shape, &self.structs);
            if let Some(init) = &field.init {
                let mut machine = self.machine(params, &mut fields, &filter.functions);
                let value = machine.first_value(&shape, Some(init), field.span);
                fields[at] = self.accept(value, field.span)?;
            }
        }
        if let Some(init) = &filter.init {
            let done = self.machine(params, &mut fields, &filter.functions).run(init);
            self.accept(done, instance.stream.span)?;
        }
        Some(fields)
    }

    /// Checks rates against the filter's types.
    fn check_ends(
        &mut self,
        instance: Instance<'p, '_>,
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
            let text =
                format!("`work` pops nothing, but the input of the filter is {}", self.shape_name(input));
            let error = Diagnostic::new(span, text).other(instance.stream.span, "the filter");
            self.report(error.hint("declare a pop rate (`pop 1`), or make the input `void`"));
        }
        if !output.is_void() && work.push.fixed() == Some(0) {
            let text =
                format!("`work` pushes nothing, but the output of the filter is {}", self.shape_name(output));
            let error = Diagnostic::new(span, text).other(instance.stream.span, "the filter");
            self.report(error.hint("declare a push rate (`push 1`), or make the output `void`"));
        }
        self.errors.len() == before
    }

    /// A `void` end must have rate 0.
    fn check_void(&mut self, input: &Shape, output: &Shape, rates: Rates, what: &str, span: crate::Span) {
        if input.is_void() && (rates.pop.fixed() != Some(0) || rates.peek != Rate::Static(0)) {
            let (pop, peek) = (rates.pop, rates.peek);
            let text =
                format!("`{what}` has pop {pop} and peek {peek}, but the input of the filter is `void`");
            self.error_with_hint(span, text, "change the rates, or the filter's type");
        }
        if output.is_void() && rates.push.fixed() != Some(0) {
            let text = format!("`{what}` has push {}, but the output of the filter is `void`", rates.push);
            self.error_with_hint(span, text, "change the rate, or the filter's type");
        }
    }
}
