//! Splitjoins.

use super::Elaborator;
use super::composite::effective_ends;
use super::names::Names;
use super::stream::{Instance, UnusedEnds};
use super::weights::Side;
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Directive, DirectiveKind, RawWeights};
use crate::tree::{Stream, StreamKind, Weights};
use crate::value::Shape;

/// The weights declared in a composite with a splitter and a joiner.
#[derive(Default)]
pub(super) struct DeclaredWeights {
    pub split: Option<(RawWeights, Span)>,
    pub join: Option<(RawWeights, Span)>,
}

impl DeclaredWeights {
    fn of(&mut self, side: Side) -> &mut Option<(RawWeights, Span)> {
        match side {
            Side::Split => &mut self.split,
            Side::Join => &mut self.join,
        }
    }
}

impl<'p> Elaborator<'p> {
    /// Instantiates a splitjoin from its requests.
    pub(super) fn make_splitjoin(
        &mut self,
        instance: Instance<'p, '_>,
        declared: Option<(Shape, Shape)>,
        directives: Vec<Directive<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        let (mut declared_weights, mut names, mut children) =
            (DeclaredWeights::default(), Names::default(), Vec::new());
        let (split, join) =
            (declared_weights_of(&directives, Side::Split), declared_weights_of(&directives, Side::Join));
        let is_nothing = |weights: &[i32], at| match weights {
            [each] => *each == 0,
            _ => weights.get(at) == Some(&0),
        };
        for directive in directives {
            match directive.kind {
                DirectiveKind::Add(request) => {
                    let at = children.len();
                    let unused = UnusedEnds { input: is_nothing(&split, at), output: is_nothing(&join, at) };
                    children.push(self.child(&request, &mut names, unused));
                }
                DirectiveKind::Split(weights) => {
                    self.note_weights(&mut declared_weights, Side::Split, weights, directive.span)
                }
                DirectiveKind::Join(weights) => {
                    self.note_weights(&mut declared_weights, Side::Join, weights, directive.span)
                }
                other => self.misplaced(other.keyword(), "splitjoin", directive.span),
            }
        }
        if children.is_empty() {
            let hint = "add a stream, such as `add Identity<int>();`";
            self.error_with_hint(instance.stream.span, "the splitjoin has no streams", hint);
        }
        let split = self.require_weights(declared_weights.split, Side::Split, instance);
        let join = self.require_weights(declared_weights.join, Side::Join, instance);
        let children = children.into_iter().collect::<Option<Vec<Stream>>>()?;
        if children.is_empty() {
            return None;
        }
        let found = (common(&children, |child| &child.input), common(&children, |child| &child.output));
        let (input, output) = match declared {
            Some(declared) => effective_ends(instance, declared, &found),
            None => found,
        };
        let (split, join) = (split?, join?);
        let split_weights = self.weights(Side::Split, &split, children.len(), input.is_void());
        let join_weights = self.weights(Side::Join, &join, children.len(), output.is_void());
        let (split_weights, join_weights) = (split_weights?, join_weights?);
        let taken = self.check_side(Side::Split, &split_weights, split.1, &children, &input);
        let given = self.check_side(Side::Join, &join_weights, join.1, &children, &output);
        let kind = StreamKind::SplitJoin { split: split_weights, children, join: join_weights };
        (taken && given).then_some((input, output, kind))
    }

    /// Records the weights of `split` or `join`; reports a second one.
    pub(super) fn note_weights(
        &mut self,
        declared_weights: &mut DeclaredWeights,
        side: Side,
        weights: RawWeights,
        span: Span,
    ) {
        let known = declared_weights.of(side);
        match known {
            None => *known = Some((weights, span)),
            Some((_, first)) => {
                let text = format!("duplicate `{}`", side.keyword());
                let error = Diagnostic::new(span, text).other(*first, "the first");
                self.report(error.hint("remove one of them"));
            }
        }
    }

    /// The weights of `split` or `join`; reports a missing one.
    pub(super) fn require_weights(
        &mut self,
        weights: Option<(RawWeights, Span)>,
        side: Side,
        instance: Instance<'p, '_>,
    ) -> Option<(RawWeights, Span)> {
        if weights.is_none() {
            let keyword = side.keyword();
            let error = Diagnostic::new(instance.stream.span, format!("missing `{keyword}`"))
                .hint(format!("add `{keyword} roundrobin;`, with the weights it needs"));
            self.report(error);
        }
        weights
    }

    /// Whether the children's types match those of the splitter or joiner.
    fn check_side(
        &mut self,
        side: Side,
        weights: &Weights,
        span: Span,
        children: &[Stream],
        outside: &Shape,
    ) -> bool {
        let mut fine = true;
        for (at, child) in children.iter().enumerate() {
            let moves = match weights {
                Weights::Duplicate => true,
                Weights::RoundRobin(weights) => weights[at] > 0,
            };
            let inside = if side == Side::Split { &child.input } else { &child.output };
            // A child with weight 0 may have a `void` end.
            let fits = if moves { inside == outside } else { inside.is_void() || !outside.is_void() };
            if !fits {
                self.report_side(side, span, child, moves, outside);
                fine = false;
            }
        }
        fine
    }

    fn report_side(&mut self, side: Side, span: Span, child: &Stream, moves: bool, outside: &Shape) {
        let outside = if moves { self.shape_name(outside) } else { "nothing".to_owned() };
        let (inside, peer, verb) = match side {
            Side::Split => (self.shape_name(&child.input), format!("the splitter pushes {outside}"), "pops"),
            Side::Join => (self.shape_name(&child.output), format!("the joiner pops {outside}"), "pushes"),
        };
        let error = Diagnostic::new(child.span, format!("{peer}, but `{}` {verb} {inside}", child.name))
            .label(format!("{verb} {inside}"))
            .other(span, peer);
        self.report(error);
    }
}

/// The declared weights: one per child, or a single one for all.
fn declared_weights_of(directives: &[Directive<'_>], side: Side) -> Vec<i32> {
    let weights = directives.iter().find_map(|directive| match (&directive.kind, side) {
        (DirectiveKind::Split(RawWeights::RoundRobin(weights)), Side::Split)
        | (DirectiveKind::Join(RawWeights::RoundRobin(weights)), Side::Join) => Some(weights.clone()),
        _ => None,
    });
    weights.unwrap_or_default()
}

/// The common item type of the children: the first that is not `void`.
fn common(children: &[Stream], end: impl Fn(&Stream) -> &Shape) -> Shape {
    children.iter().map(end).find(|shape| !shape.is_void()).cloned().unwrap_or(Shape::VOID)
}
