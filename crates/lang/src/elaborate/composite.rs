//! Common parts of composites: execution of their code, children, types of their ends.

use super::Elaborator;
use super::names::Names;
use super::stream::{Instance, UnusedEnds};
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Directive, Request};
use crate::hir::Body;
use crate::tree::Stream;
use crate::value::Shape;

/// Memory that a stream takes, in words.
const STREAM: u64 = 64;

impl<'p> Elaborator<'p> {
    /// Executes the code of a composite; returns its requests.
    pub(super) fn directives(
        &mut self,
        instance: Instance<'p, '_>,
        body: &'p Body,
    ) -> Option<Vec<Directive<'p>>> {
        let mut next_portal = self.next_portal;
        let directives = self.machine(instance.params, &mut [], &[]).run_composite(body, &mut next_portal);
        self.reserve(8 * u64::from(next_portal - self.next_portal), instance.span)?;
        self.next_portal = next_portal;
        self.portals.resize(next_portal as usize, Vec::new());
        self.accept(directives, instance.span)
    }

    /// Instantiates one child.
    pub(super) fn child(
        &mut self,
        request: &Request<'p>,
        names: &mut Names,
        unused: UnusedEnds,
    ) -> Option<Stream> {
        self.reserve(STREAM, request.creator.span)?;
        let name = names.next(self.name_of(request));
        self.make(request, name, unused)
    }

    /// Reports a statement that is not allowed in this kind of composite.
    pub(super) fn misplaced(&mut self, what: &str, kind: &str, span: Span) {
        self.error(span, format!("`{what}` is not allowed in a {kind}"));
    }

    /// Reports a type mismatch between neighbours.
    pub(super) fn mismatch(&mut self, producer: &Stream, consumer: &Stream) {
        let (pushes, pops) = (self.shape_name(&producer.output), self.shape_name(&consumer.input));
        let text = match (producer.output.is_void(), consumer.input.is_void()) {
            (true, true) => {
                format!("`{}` has no output and `{}` has no input", producer.name, consumer.name)
            }
            _ => format!("`{}` pushes {pushes}, but `{}` after it pops {pops}", producer.name, consumer.name),
        };
        let error = Diagnostic::new(consumer.span, text)
            .label(format!("pops {pops}"))
            .other(producer.span, format!("pushes {pushes}"));
        let hint = "insert a filter between them, or use one type for both";
        self.report(error.hint(hint));
    }

    /// The end types of a composite: the declared types, which must match those of the children, or the
    /// children's types if none are declared. An unused end may be `void` whatever is declared: published
    /// programs have sources behind a weight of 0.
    pub(super) fn ends(
        &mut self,
        instance: Instance<'p, '_>,
        declared: Option<(Shape, Shape)>,
        found: (Shape, Shape),
    ) -> Option<(Shape, Shape)> {
        let Some(declared) = declared else { return Some(found) };
        let mut declared = effective_ends(instance, declared, &found);
        if instance.unused.input && found.0.is_void() {
            declared.0 = Shape::VOID;
        }
        if instance.unused.output && found.1.is_void() {
            declared.1 = Shape::VOID;
        }
        let mut fine = true;
        let sides = [(&declared.0, &found.0, "input", "pop"), (&declared.1, &found.1, "output", "push")];
        for (declared, found, side, verb) in sides {
            if declared != found {
                let (declared, found) = (self.shape_name(declared), self.shape_name(found));
                let text =
                    format!("the declared {side} type is {declared}, but the streams in it {verb} {found}");
                self.error(instance.stream.span, text);
                fine = false;
            }
        }
        fine.then_some(declared)
    }
}

/// The declared types, except that an anonymous stream declared with `void` ends gets the types of its children:
/// published programs rely on it.
pub(super) fn effective_ends(
    instance: Instance<'_, '_>,
    (input, output): (Shape, Shape),
    found: &(Shape, Shape),
) -> (Shape, Shape) {
    if !instance.stream.is_anonymous() {
        return (input, output);
    }
    let end = |declared: Shape, found: &Shape| if declared.is_void() { found.clone() } else { declared };
    (end(input, &found.0), end(output, &found.1))
}
