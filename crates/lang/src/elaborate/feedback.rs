//! Feedback loops.

use super::Elaborator;
use super::names::Names;
use super::splitjoin::DeclaredWeights;
use super::stream::{Instance, UnusedEnds};
use super::weights::Side;
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Directive, DirectiveKind, RawWeights, Request};
use crate::tree::{Stream, StreamKind, Weights};
use crate::value::{Shape, Value};

/// The requests of a feedback loop's code.
#[derive(Default)]
struct Parts {
    body: Option<Stream>,
    back: Option<Stream>,
    declared_weights: DeclaredWeights,
    enqueued: Vec<(Value, Span)>,
    failed: bool,
}

impl<'p> Elaborator<'p> {
    /// Instantiates a feedback loop from its requests.
    pub(super) fn make_feedback(
        &mut self,
        instance: Instance<'p, '_>,
        declared: Option<(Shape, Shape)>,
        directives: Vec<Directive<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        if is_without_feedback(&directives) {
            return self.make_without_feedback(instance, declared, directives);
        }
        let mut parts = self.feedback_parts(directives);
        let declared_weights = std::mem::take(&mut parts.declared_weights);
        let split = self.require_weights(declared_weights.split, Side::Split, instance);
        let join = self.require_weights(declared_weights.join, Side::Join, instance);
        self.require_child(parts.body.is_some() || parts.failed, "body", instance);
        self.require_child(parts.back.is_some() || parts.failed, "loop", instance);
        let (body, back) = (parts.body?, parts.back?);
        let (split, join) = (split?, join?);
        let join_weights = self.two_weights(Side::Join, &join)?;
        let split_weights = self.two_weights(Side::Split, &split)?;
        let found = (outside(&join_weights, &body.input), outside(&split_weights, &body.output));
        let (input, output) = self.ends(instance, declared, found)?;
        let types_match = self.check_round(&body, &back);
        let enqueued = self.check_enqueued(parts.enqueued, &body.input);
        let kind = StreamKind::FeedbackLoop {
            join: join_weights,
            body: Box::new(body),
            split: split_weights,
            back: Box::new(back),
            enqueued: enqueued?,
        };
        (types_match && !parts.failed).then_some((input, output, kind))
    }

    /// A loop that carries no items is its body alone: its loop stream never fires, whatever its rates. (A
    /// published program has one.)
    fn make_without_feedback(
        &mut self,
        instance: Instance<'p, '_>,
        declared: Option<(Shape, Shape)>,
        mut directives: Vec<Directive<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        directives.retain(|directive| !matches!(directive.kind, DirectiveKind::Loop(_)));
        let parts = self.feedback_parts(directives);
        self.require_child(parts.body.is_some() || parts.failed, "body", instance);
        let body = parts.body?;
        let (input, output) = self.ends(instance, declared, (body.input.clone(), body.output.clone()))?;
        (!parts.failed).then(|| (input, output, StreamKind::Pipeline(vec![body])))
    }

    fn feedback_parts(&mut self, directives: Vec<Directive<'p>>) -> Parts {
        let (mut parts, mut names) = (Parts::default(), Names::default());
        for directive in directives {
            let span = directive.span;
            match directive.kind {
                DirectiveKind::Body(request) => {
                    let child = self.only_child(&parts.body, &request, &mut names, span);
                    parts.failed |= child.is_none();
                    parts.body = parts.body.or(child);
                }
                DirectiveKind::Loop(request) => {
                    let child = self.only_child(&parts.back, &request, &mut names, span);
                    parts.failed |= child.is_none();
                    parts.back = parts.back.or(child);
                }
                DirectiveKind::Split(weights) => {
                    self.note_weights(&mut parts.declared_weights, Side::Split, weights, span)
                }
                DirectiveKind::Join(weights) => {
                    self.note_weights(&mut parts.declared_weights, Side::Join, weights, span)
                }
                DirectiveKind::Enqueue(item) => parts.enqueued.push((item, span)),
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
            let text = "a feedback loop has only one `body` and one `loop`";
            let error = Diagnostic::new(span, text).other(known.span, "the first");
            self.report(error);
            return None;
        }
        self.child(request, names, UnusedEnds::default())
    }

    fn require_child(&mut self, found: bool, keyword: &str, instance: Instance<'p, '_>) {
        if !found {
            let text = format!("missing `{keyword}`");
            self.error_with_hint(
                instance.stream.span,
                text,
                format!("add `{keyword} Identity<int>();`, or another stream"),
            );
        }
    }

    /// The weights of a joiner or splitter of a loop: of the outside, then of the loop.
    fn two_weights(&mut self, side: Side, declared: &(RawWeights, Span)) -> Option<Weights> {
        let weights = self.weights(side, declared, 2, false)?;
        if let Weights::RoundRobin(weights) = &weights
            && weights[1] == 0
        {
            let keyword = side.keyword();
            let error =
                Diagnostic::new(declared.1, format!("the weight of the loop in `{keyword} roundrobin` is 0"))
                    .hint("the first weight is for the outside, the second for the loop");
            self.report(error);
            return None;
        }
        Some(weights)
    }

    /// Whether the types around the loop match.
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
                let expected = self.shape_name(item);
                let found = if let Value::Array(_) = value {
                    format!("an array {}", value.lengths())
                } else {
                    value.kind().to_owned()
                };
                let text = format!("`enqueue` expects {expected}, found {found}");
                self.error_with_hint(*span, text, "enqueued items have the input type of the body");
                fine = false;
            }
        }
        fine.then(|| items.into_iter().map(|(value, _)| value).collect())
    }
}

/// Whether both joiner and splitter move items outside and none around the loop.
fn is_without_feedback(directives: &[Directive<'_>]) -> bool {
    let open = |weights: &RawWeights| match weights {
        RawWeights::RoundRobin(weights) => matches!(weights[..], [outside, 0] if outside > 0),
        RawWeights::Duplicate => false,
    };
    let splits = directives
        .iter()
        .any(|directive| matches!(&directive.kind, DirectiveKind::Split(weights) if open(weights)));
    let joins = directives
        .iter()
        .any(|directive| matches!(&directive.kind, DirectiveKind::Join(weights) if open(weights)));
    splits && joins
}

/// The outer type of a loop's joiner or splitter: `void` if its outer weight is 0.
fn outside(weights: &Weights, item: &Shape) -> Shape {
    match weights {
        Weights::RoundRobin(weights) if weights[0] == 0 => Shape::VOID,
        _ => item.clone(),
    }
}
