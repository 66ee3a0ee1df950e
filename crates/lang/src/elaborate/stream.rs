//! Instantiation of one stream: kind, name, arguments.

use super::Elaborator;
use crate::Span;
use crate::ast::Composite;
use crate::diagnostic::Diagnostic;
use crate::eval::Request;
use crate::hir::{self, Made, StreamBody, StreamId};
use crate::tree::{Code, Filter, FilterId, Rate, Rates, Stream, StreamKind};
use crate::value::{Shape, Value};
use smol_str::SmolStr;

/// Whether the enclosing stream gives this one no input, or uses none of its output.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct UnusedEnds {
    pub input: bool,
    pub output: bool,
}

/// A stream being instantiated.
#[derive(Clone, Copy)]
pub(super) struct Instance<'p, 'a> {
    /// Its definition.
    pub stream: &'p hir::Stream,
    /// Its number.
    pub id: StreamId,
    /// Its parameters.
    pub params: &'a [Value],
    /// Where it was created.
    pub span: Span,
    /// Its unused ends.
    pub unused: UnusedEnds,
}

impl<'p> Elaborator<'p> {
    /// Instantiates the whole program.
    pub(super) fn make_top(&mut self) -> Option<Stream> {
        let top = self.program.top;
        let stream = self.program.streams.get(top.0 as usize)?;
        self.make_written((top, UnusedEnds::default()), &[], &[], stream.name.clone(), stream.span)
    }

    /// The name of a requested stream, before it is made unique.
    pub(super) fn name_of(&self, request: &Request<'_>) -> SmolStr {
        match &request.creator.made {
            Made::Stream(id) => self
                .program
                .streams
                .get(id.0 as usize)
                .map_or_else(SmolStr::default, |stream| stream.name.clone()),
            Made::Identity(_) => SmolStr::new_static("Identity"),
            Made::FileReader(_) => SmolStr::new_static("FileReader"),
            Made::FileWriter(_) => SmolStr::new_static("FileWriter"),
        }
    }

    /// Instantiates a requested stream; `None` if it fails, which has been reported.
    pub(super) fn make(
        &mut self,
        request: &Request<'p>,
        name: SmolStr,
        unused: UnusedEnds,
    ) -> Option<Stream> {
        let span = request.creator.span;
        match &request.creator.made {
            Made::Stream(id) => self.make_written((*id, unused), &request.args, &request.portals, name, span),
            made => {
                self.enter(name.clone(), None, span)?;
                let stream = self.make_builtin(made, request, name, span);
                self.path.pop();
                stream
            }
        }
    }

    fn make_written(
        &mut self,
        (id, unused): (StreamId, UnusedEnds),
        params: &[Value],
        portals: &[u32],
        name: SmolStr,
        span: Span,
    ) -> Option<Stream> {
        let stream = self.program.streams.get(id.0 as usize)?;
        self.enter(name.clone(), Some(id), span)?;
        let instance = Instance { stream, id, params, span, unused };
        let made = self.check_params(instance).and_then(|()| self.make_body(instance, portals));
        self.path.pop();
        made.map(|(input, output, kind)| Stream { name, span, input, output, kind })
    }

    fn make_body(
        &mut self,
        instance: Instance<'p, '_>,
        portals: &[u32],
    ) -> Option<(Shape, Shape, StreamKind)> {
        let (kind, body) = match &instance.stream.body {
            StreamBody::Filter(filter) => return self.make_filter(instance, filter, portals),
            StreamBody::Composite(kind, body) => (kind, body),
        };
        if !portals.is_empty() {
            let hint = "register the filters in it: `add Filter() to p;`";
            self.error_with_hint(instance.span, "only filters receive messages", hint);
        }
        let declared = self.declared(instance)?;
        let directives = self.directives(instance, body)?;
        match kind {
            Composite::Pipeline => self.make_pipeline(instance, declared, directives),
            Composite::SplitJoin => self.make_splitjoin(instance, declared, directives),
            Composite::FeedbackLoop => self.make_feedback(instance, declared, directives),
        }
    }

    /// Counts a stream; `None` if a limit on number or nesting is exceeded.
    fn enter(&mut self, name: SmolStr, id: Option<StreamId>, span: Span) -> Option<()> {
        if self.stopped {
            return None;
        }
        self.streams += 1;
        if self.streams > self.limits.streams {
            self.error(span, format!("the program has more than {} streams", self.limits.streams));
            self.stopped = true;
            return None;
        }
        if self.path.len() >= self.limits.depth as usize {
            self.report_depth(name, id, span);
            self.stopped = true;
            return None;
        }
        self.path.push((name, id));
        Some(())
    }

    /// Reports excessive nesting, with the recursive stream if there is one.
    fn report_depth(&mut self, name: SmolStr, id: Option<StreamId>, span: Span) {
        let depth = self.limits.depth;
        let mut error = Diagnostic::new(span, format!("streams are nested more than {depth} deep"));
        // `report` would prefix the whole path, which is too long here.
        let mut path = std::mem::take(&mut self.path);
        path.push((name, id));
        if let Some(cycle) = innermost_cycle(&path) {
            error.message = format!("{}: {cycle} is recursive without end", error.message);
            error = error.hint("put the recursive `add` under a condition that eventually fails");
        }
        self.report(error);
        path.pop();
        self.path = path;
    }

    /// Checks that arguments have the lengths that the parameters declare.
    fn check_params(&mut self, instance: Instance<'p, '_>) -> Option<()> {
        let (expected, found) = (instance.stream.params.len(), instance.params.len());
        if expected != found {
            self.error(instance.span, format!("expected {expected} arguments, found {found}"));
            return None;
        }
        let mut fine = Some(());
        for ((name, ty), value) in instance.stream.params.iter().zip(instance.params) {
            let shape = self.machine(instance.params, &mut [], &[]).shape(ty);
            let shape = self.accept(shape, instance.stream.span)?;
            if !value.fits(&shape, &self.structs) {
                let declared = self.shape_name(&shape);
                let lengths = value.lengths();
                let text = format!(
                    "parameter `{name}` is declared as {declared}, but the argument is an array {lengths}"
                );
                self.error_with_hint(
                    instance.span,
                    text,
                    "arguments must have the lengths that the parameters declare",
                );
                fine = None;
            }
        }
        fine
    }

    /// The shapes of the declared input and output types.
    pub(super) fn declared(&mut self, instance: Instance<'p, '_>) -> Option<Option<(Shape, Shape)>> {
        let Some((input, output)) = &instance.stream.types else { return Some(None) };
        let mut machine = self.machine(instance.params, &mut [], &[]);
        let input = machine.shape(input);
        let output = machine.shape(output);
        let input = self.accept(input, instance.stream.span);
        let output = self.accept(output, instance.stream.span);
        Some(Some((input?, output?)))
    }

    fn make_builtin(
        &mut self,
        made: &Made,
        request: &Request<'_>,
        name: SmolStr,
        span: Span,
    ) -> Option<Stream> {
        let item = request.item.clone()?;
        let file = match request.args.first() {
            Some(Value::String(text)) => text.to_string(),
            _ => String::new(),
        };
        let rate = match request.args.get(1) {
            Some(Value::Int(rate)) => Some(self.sample_rate(*rate, span)?),
            _ => None,
        };
        let (code, input, output) = match made {
            Made::FileReader(_) => (Code::FileReader(file), Shape::VOID, item),
            Made::FileWriter(_) => (Code::FileWriter(file, rate), item, Shape::VOID),
            _ => (Code::Identity, item.clone(), item),
        };
        if input.is_void() && output.is_void() {
            self.error(span, "the item type cannot be `void`");
            return None;
        }
        let one = |shape: &Shape| u32::from(!shape.is_void());
        let (pop, push) = (one(&input), one(&output));
        let work = Rates { push: Rate::Static(push), pop: Rate::Static(pop), peek: Rate::Static(pop) };
        let shapes = (input.clone(), output.clone());
        let filter = Filter { path: self.path().into(), span, input, output, code, prework: None, work };
        let id = self.add_filter(filter)?;
        self.register(id, &request.portals);
        Some(Stream { name, span, input: shapes.0, output: shapes.1, kind: StreamKind::Filter(id) })
    }

    /// The argument of a `FileWriter` that is a sample rate. Reports one that is not positive.
    fn sample_rate(&mut self, rate: i32, span: Span) -> Option<u32> {
        let positive = u32::try_from(rate).ok().filter(|rate| *rate > 0);
        if positive.is_none() {
            self.error(span, format!("the sample rate is {rate}, expected at least 1"));
        }
        positive
    }

    /// Stores a filter; returns its id.
    pub(super) fn add_filter(&mut self, filter: Filter) -> Option<FilterId> {
        self.reserve(filter.path.len() as u64 / 4 + 64, filter.span)?;
        self.filters.push(filter);
        Some(FilterId(self.filters.len() as u32 - 1))
    }

    /// Registers a filter with portals.
    pub(super) fn register(&mut self, filter: FilterId, portals: &[u32]) {
        for portal in portals {
            // No message is sent to a portal variable that was never declared.
            if let Some(receivers) = self.portals.get_mut(*portal as usize) {
                receivers.push(filter);
            }
        }
    }
}

/// The innermost cycle of a path: `A > B > A`.
fn innermost_cycle(path: &[(SmolStr, Option<StreamId>)]) -> Option<String> {
    (0..path.len()).rev().find_map(|last| {
        let id = path[last].1?;
        let first = path[..last].iter().rposition(|known| known.1 == Some(id))?;
        let names: Vec<String> = path[first..=last].iter().map(|(name, _)| format!("`{name}`")).collect();
        Some(names.join(" > "))
    })
}
