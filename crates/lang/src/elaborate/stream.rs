//! Making one stream: what it is, its name, its arguments.

use super::Elaborator;
use crate::Span;
use crate::ast::Composite;
use crate::diagnostic::Diagnostic;
use crate::eval::Request;
use crate::hir::{self, Made, StreamBody, StreamId};
use crate::tree::{Code, Filter, FilterId, Rate, Rates, Stream, StreamKind};
use crate::value::{Shape, Value};
use smol_str::SmolStr;

/// Whether nothing comes to a stream from what it is in, or nothing is taken from it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Idle {
    pub input: bool,
    pub output: bool,
}

/// A stream that is being made.
#[derive(Clone, Copy)]
pub(super) struct Making<'p, 'a> {
    /// What the program says of it.
    pub stream: &'p hir::Stream,
    /// Its number.
    pub id: StreamId,
    /// Its parameters.
    pub params: &'a [Value],
    /// Where it was asked for.
    pub span: Span,
    /// Which of its ends have nothing to do.
    pub idle: Idle,
}

impl<'p> Elaborator<'p> {
    /// Makes the whole program.
    pub(super) fn make_top(&mut self) -> Option<Stream> {
        let top = self.program.top;
        let stream = self.program.streams.get(top.0 as usize)?;
        self.make_written((top, Idle::default()), &[], &[], stream.name.clone(), stream.span)
    }

    /// The name of what is asked for, before it is made different from its neighbours'.
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

    /// Makes what is asked for; nothing if it cannot be made, which has been reported.
    pub(super) fn make(&mut self, request: &Request<'p>, name: SmolStr, idle: Idle) -> Option<Stream> {
        let span = request.creator.span;
        match &request.creator.made {
            Made::Stream(id) => self.make_written((*id, idle), &request.args, &request.portals, name, span),
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
        (id, idle): (StreamId, Idle),
        params: &[Value],
        portals: &[u32],
        name: SmolStr,
        span: Span,
    ) -> Option<Stream> {
        let stream = self.program.streams.get(id.0 as usize)?;
        self.enter(name.clone(), Some(id), span)?;
        let making = Making { stream, id, params, span, idle };
        let made = self.check_params(making).and_then(|()| self.make_body(making, portals));
        self.path.pop();
        made.map(|(input, output, kind)| Stream { name, span, input, output, kind })
    }

    fn make_body(&mut self, making: Making<'p, '_>, portals: &[u32]) -> Option<(Shape, Shape, StreamKind)> {
        let (kind, body) = match &making.stream.body {
            StreamBody::Filter(filter) => return self.make_filter(making, filter, portals),
            StreamBody::Composite(kind, body) => (kind, body),
        };
        if !portals.is_empty() {
            let hint = "register the filters in it: `add Filter() to p;`";
            self.advise(making.span, "only filters hear messages, and this is none", hint);
        }
        let declared = self.declared(making)?;
        let pieces = self.pieces(making, body)?;
        match kind {
            Composite::Pipeline => self.make_pipeline(making, declared, pieces),
            Composite::SplitJoin => self.make_splitjoin(making, declared, pieces),
            Composite::FeedbackLoop => self.make_feedback(making, declared, pieces),
        }
    }

    /// Counts a stream in; nothing if there are too many, or too many in each other.
    fn enter(&mut self, name: SmolStr, id: Option<StreamId>, span: Span) -> Option<()> {
        if self.stopped {
            return None;
        }
        self.streams += 1;
        if self.streams > self.limits.streams {
            self.error(span, format!("there are more than {} streams", self.limits.streams));
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

    /// Says which stream comes back in itself.
    fn report_depth(&mut self, name: SmolStr, id: Option<StreamId>, span: Span) {
        let depth = self.limits.depth;
        let mut error = Diagnostic::new(span, format!("streams are nested more than {depth} deep"));
        // The path is put aside: it is too long to be shown before the text.
        let mut path = std::mem::take(&mut self.path);
        path.push((name, id));
        if let Some(round) = last_round(&path) {
            error.message = format!("{}, and {round} comes back without end", error.message);
            error =
                error.hint("a stream may make itself only under a condition that in the end does not hold");
        }
        self.report(error);
        path.pop();
        self.path = path;
    }

    /// Arguments have the lengths that the parameters declare.
    fn check_params(&mut self, making: Making<'p, '_>) -> Option<()> {
        let (wanted, given) = (making.stream.params.len(), making.params.len());
        if wanted != given {
            self.error(making.span, format!("{given} arguments are given, and {wanted} are needed"));
            return None;
        }
        let mut fine = Some(());
        for ((name, ty), value) in making.stream.params.iter().zip(making.params) {
            let shape = self.machine(making.params, &mut [], &[]).shape(ty);
            let shape = self.accept(shape, making.stream.span)?;
            if !value.fits(&shape, &self.structs) {
                let declared = self.shape_name(&shape);
                let lengths = value.lengths();
                let text =
                    format!("parameter `{name}` is declared {declared}, and is given an array {lengths}");
                self.advise(making.span, text, "the lengths of arguments are those that parameters declare");
                fine = None;
            }
        }
        fine
    }

    /// The shapes of what a stream is said to take and to give.
    pub(super) fn declared(&mut self, making: Making<'p, '_>) -> Option<Option<(Shape, Shape)>> {
        let Some((input, output)) = &making.stream.types else { return Some(None) };
        let mut machine = self.machine(making.params, &mut [], &[]);
        let input = machine.shape(input);
        let output = machine.shape(output);
        let input = self.accept(input, making.stream.span);
        let output = self.accept(output, making.stream.span);
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
        let (code, input, output) = match made {
            Made::FileReader(_) => (Code::FileReader(file), Shape::VOID, item),
            Made::FileWriter(_) => (Code::FileWriter(file), item, Shape::VOID),
            _ => (Code::Identity, item.clone(), item),
        };
        if input.is_void() && output.is_void() {
            self.error(span, "it has no type: items of `void` are none");
            return None;
        }
        let one = |shape: &Shape| u32::from(!shape.is_void());
        let (pop, push) = (one(&input), one(&output));
        let work = Rates { push: Rate::Static(push), pop: Rate::Static(pop), peek: Rate::Static(pop) };
        let shapes = (input.clone(), output.clone());
        let filter = Filter { path: self.path().into(), span, input, output, code, prework: None, work };
        let id = self.add_filter(filter)?;
        self.hear(id, &request.portals);
        Some(Stream { name, span, input: shapes.0, output: shapes.1, kind: StreamKind::Filter(id) })
    }

    /// Keeps a filter; its number.
    pub(super) fn add_filter(&mut self, filter: Filter) -> Option<FilterId> {
        self.keep(filter.path.len() as u64 / 4 + 64, filter.span)?;
        self.filters.push(filter);
        Some(FilterId(self.filters.len() as u32 - 1))
    }

    /// A filter hears portals.
    pub(super) fn hear(&mut self, filter: FilterId, portals: &[u32]) {
        for portal in portals {
            // One that nobody has declared is never sent to.
            if let Some(hearers) = self.portals.get_mut(*portal as usize) {
                hearers.push(filter);
            }
        }
    }
}

/// The innermost streams from one to where it comes again: `A > B > A`.
fn last_round(path: &[(SmolStr, Option<StreamId>)]) -> Option<String> {
    (0..path.len()).rev().find_map(|last| {
        let id = path[last].1?;
        let first = path[..last].iter().rposition(|known| known.1 == Some(id))?;
        let names: Vec<String> = path[first..=last].iter().map(|(name, _)| format!("`{name}`")).collect();
        Some(names.join(" > "))
    })
}
