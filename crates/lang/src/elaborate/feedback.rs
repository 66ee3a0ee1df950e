//! Feedback loops.

use super::Elaborator;
use super::dealing::Side;
use super::names::Names;
use super::splitjoin::Dealings;
use super::stream::{Idle, Making};
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Dealing, Piece, PieceKind, Request};
use crate::tree::{Stream, StreamKind, Weights};
use crate::value::{Shape, Value};

/// What the code of a feedback loop has asked for.
#[derive(Default)]
struct Parts {
    body: Option<Stream>,
    back: Option<Stream>,
    dealings: Dealings,
    enqueued: Vec<(Value, Span)>,
    failed: bool,
}

impl<'p> Elaborator<'p> {
    /// Makes a feedback loop of what its code has asked for.
    pub(super) fn make_feedback(
        &mut self,
        making: Making<'p, '_>,
        declared: Option<(Shape, Shape)>,
        pieces: Vec<Piece<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        if is_open(&pieces) {
            return self.make_open(making, declared, pieces);
        }
        let mut parts = self.feedback_parts(pieces);
        let dealings = std::mem::take(&mut parts.dealings);
        let split = self.needed(dealings.split, Side::Split, making);
        let join = self.needed(dealings.join, Side::Join, making);
        self.needed_child(parts.body.is_some() || parts.failed, "body", making);
        self.needed_child(parts.back.is_some() || parts.failed, "loop", making);
        let (body, back) = (parts.body?, parts.back?);
        let (split, join) = (split?, join?);
        let join_weights = self.two_weights(Side::Join, &join)?;
        let split_weights = self.two_weights(Side::Split, &split)?;
        let found = (outside(&join_weights, &body.input), outside(&split_weights, &body.output));
        let (input, output) = self.ends(making, declared, found)?;
        let round = self.check_round(&body, &back);
        let enqueued = self.check_enqueued(parts.enqueued, &body.input);
        let kind = StreamKind::FeedbackLoop {
            join: join_weights,
            body: Box::new(body),
            split: split_weights,
            back: Box::new(back),
            enqueued: enqueued?,
        };
        (round && !parts.failed).then_some((input, output, kind))
    }

    /// A loop that nothing goes round is its body: what would be the way back never has anything to do,
    /// whatever its rates are. (Published programs have one.)
    fn make_open(
        &mut self,
        making: Making<'p, '_>,
        declared: Option<(Shape, Shape)>,
        mut pieces: Vec<Piece<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        pieces.retain(|piece| !matches!(piece.kind, PieceKind::Loop(_)));
        let parts = self.feedback_parts(pieces);
        self.needed_child(parts.body.is_some() || parts.failed, "body", making);
        let body = parts.body?;
        let (input, output) = self.ends(making, declared, (body.input.clone(), body.output.clone()))?;
        (!parts.failed).then(|| (input, output, StreamKind::Pipeline(vec![body])))
    }

    fn feedback_parts(&mut self, pieces: Vec<Piece<'p>>) -> Parts {
        let (mut parts, mut names) = (Parts::default(), Names::default());
        for piece in pieces {
            let span = piece.span;
            match piece.kind {
                PieceKind::Body(request) => {
                    let child = self.only_child(&parts.body, &request, &mut names, span);
                    parts.failed |= child.is_none();
                    parts.body = parts.body.or(child);
                }
                PieceKind::Loop(request) => {
                    let child = self.only_child(&parts.back, &request, &mut names, span);
                    parts.failed |= child.is_none();
                    parts.back = parts.back.or(child);
                }
                PieceKind::Split(dealing) => self.deal(&mut parts.dealings, Side::Split, dealing, span),
                PieceKind::Join(dealing) => self.deal(&mut parts.dealings, Side::Join, dealing, span),
                PieceKind::Enqueue(item) => parts.enqueued.push((item, span)),
                other => self.misplaced(other.keyword(), "feedback loop", span),
            }
        }
        parts
    }

    fn only_child(
        &mut self,
        known: &Option<Stream>,
        request: &Request<'p>,
        names: &mut Names,
        span: Span,
    ) -> Option<Stream> {
        if let Some(known) = known {
            let text = "a feedback loop has one stream forward and one back, and this is one more";
            let error = Diagnostic::new(span, text).other(known.span, "the first");
            self.report(error);
            return None;
        }
        self.child(request, names, Idle::default())
    }

    fn needed_child(&mut self, there: bool, keyword: &str, making: Making<'p, '_>) {
        if !there {
            let text = format!("there is no `{keyword}` in it");
            self.advise(
                making.stream.span,
                text,
                format!("write `{keyword} Identity<int>();`, or another stream"),
            );
        }
    }

    /// What a joiner or splitter of a loop says: for the outside, then for the way back.
    fn two_weights(&mut self, side: Side, dealing: &(Dealing, Span)) -> Option<Weights> {
        let weights = self.weights(side, dealing, 2, false)?;
        if let Weights::RoundRobin(weights) = &weights
            && weights[1] == 0
        {
            let keyword = side.keyword();
            let error =
                Diagnostic::new(dealing.1, format!("`{keyword} roundrobin` moves nothing round the loop"))
                    .hint("the second weight is the loop's, the first that of the outside");
            self.report(error);
            return None;
        }
        Some(weights)
    }

    /// Whether what goes round has the same type everywhere.
    fn check_round(&mut self, body: &Stream, back: &Stream) -> bool {
        let mut fine = true;
        if body.output != back.input || body.output.is_void() {
            self.mismatch(body, back);
            fine = false;
        }
        if back.output != body.input || back.output.is_void() {
            self.mismatch(back, body);
            fine = false;
        }
        fine
    }

    fn check_enqueued(&mut self, items: Vec<(Value, Span)>, item: &Shape) -> Option<Vec<Value>> {
        let mut fine = true;
        for (value, span) in &items {
            if !value.fits(item, &self.structs) {
                let wanted = self.shape_name(item);
                let given = if let Value::Array(_) = value {
                    format!("an array {}", value.lengths())
                } else {
                    value.kind().to_owned()
                };
                let text = format!("{given} is enqueued where items are {wanted}");
                self.advise(*span, text, "what is enqueued goes round the loop: it is what the body takes");
                fine = false;
            }
        }
        fine.then(|| items.into_iter().map(|(value, _)| value).collect())
    }
}

/// Whether both joiner and splitter move something outside and nothing round the loop.
fn is_open(pieces: &[Piece<'_>]) -> bool {
    let open = |dealing: &Dealing| match dealing {
        Dealing::RoundRobin(weights) => matches!(weights[..], [outside, 0] if outside > 0),
        Dealing::Duplicate => false,
    };
    let splits = pieces.iter().any(|piece| matches!(&piece.kind, PieceKind::Split(dealing) if open(dealing)));
    let joins = pieces.iter().any(|piece| matches!(&piece.kind, PieceKind::Join(dealing) if open(dealing)));
    splits && joins
}

/// What is outside of a loop's joiner or splitter: nothing, where it moves nothing there.
fn outside(weights: &Weights, item: &Shape) -> Shape {
    match weights {
        Weights::RoundRobin(weights) if weights[0] == 0 => Shape::VOID,
        _ => item.clone(),
    }
}
