//! What composites have in common: their code, their children, the types of their ends.

use super::Elaborator;
use super::names::Names;
use super::stream::{Idle, Making};
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Piece, Request};
use crate::hir::Body;
use crate::tree::Stream;
use crate::value::Shape;

/// Room that a stream takes, in words.
const STREAM: u64 = 64;

impl<'p> Elaborator<'p> {
    /// Executes a composite's code: what it asks for.
    pub(super) fn pieces(&mut self, making: Making<'p, '_>, body: &'p Body) -> Option<Vec<Piece<'p>>> {
        let mut next_portal = self.next_portal;
        let pieces = self.machine(making.params, &mut [], &[]).run_composite(body, &mut next_portal);
        self.keep(8 * u64::from(next_portal - self.next_portal), making.span)?;
        self.next_portal = next_portal;
        self.portals.resize(next_portal as usize, Vec::new());
        self.accept(pieces, making.span)
    }

    /// Makes one child.
    pub(super) fn child(&mut self, request: &Request<'p>, names: &mut Names, idle: Idle) -> Option<Stream> {
        self.keep(STREAM, request.creator.span)?;
        let name = names.next(self.name_of(request));
        self.make(request, name, idle)
    }

    /// Reports what does not belong into such a composite.
    pub(super) fn misplaced(&mut self, what: &str, kind: &str, span: Span) {
        self.error(span, format!("`{what}` does not belong into a {kind}"));
    }

    /// Reports that one stream does not give what the next takes.
    pub(super) fn mismatch(&mut self, giver: &Stream, taker: &Stream) {
        let (gives, takes) = (self.shape_name(&giver.output), self.shape_name(&taker.input));
        let text = match (giver.output.is_void(), taker.input.is_void()) {
            (true, true) => format!("nothing flows from `{}` to `{}`", giver.name, taker.name),
            _ => format!("`{}` gives {gives} and `{}`, which follows, takes {takes}", giver.name, taker.name),
        };
        let error = Diagnostic::new(taker.span, text)
            .label(format!("takes {takes}"))
            .other(giver.span, format!("gives {gives}"));
        let hint = "put a filter between them, or give both one type";
        self.report(error.hint(hint));
    }

    /// A composite's ends: as declared, which must be what it is made of; or that, where nothing is
    /// declared. An end that has nothing to do may be none, whatever is declared: published programs have sources
    /// so, behind a weight of 0.
    pub(super) fn ends(
        &mut self,
        making: Making<'p, '_>,
        declared: Option<(Shape, Shape)>,
        found: (Shape, Shape),
    ) -> Option<(Shape, Shape)> {
        let Some(declared) = declared else { return Some(found) };
        let mut declared = believed(making, declared, &found);
        if making.idle.input && found.0.is_void() {
            declared.0 = Shape::VOID;
        }
        if making.idle.output && found.1.is_void() {
            declared.1 = Shape::VOID;
        }
        let mut fine = true;
        for (declared, found, does) in [(&declared.0, &found.0, "take"), (&declared.1, &found.1, "give")] {
            if declared != found {
                let (declared, found) = (self.shape_name(declared), self.shape_name(found));
                let text =
                    format!("it is declared to {does} {declared}, and what it is made of {does}s {found}");
                self.error(making.stream.span, text);
                fine = false;
            }
        }
        fine.then_some(declared)
    }
}

/// What is declared, but for the ends of a stream without a name that is said to take or to give
/// nothing and does: published programs say so, and mean what the stream is made of.
pub(super) fn believed(
    making: Making<'_, '_>,
    (input, output): (Shape, Shape),
    found: &(Shape, Shape),
) -> (Shape, Shape) {
    if !making.stream.is_anonymous() {
        return (input, output);
    }
    let end = |declared: Shape, found: &Shape| if declared.is_void() { found.clone() } else { declared };
    (end(input, &found.0), end(output, &found.1))
}
