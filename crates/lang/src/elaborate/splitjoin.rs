//! Splitjoins.

use super::Elaborator;
use super::composite::believed;
use super::dealing::Side;
use super::names::Names;
use super::stream::{Idle, Making};
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Dealing, Piece, PieceKind};
use crate::tree::{Stream, StreamKind, Weights};
use crate::value::Shape;

/// What stands in a composite with a splitter and a joiner.
#[derive(Default)]
pub(super) struct Dealings {
    pub split: Option<(Dealing, Span)>,
    pub join: Option<(Dealing, Span)>,
}

impl Dealings {
    fn of(&mut self, side: Side) -> &mut Option<(Dealing, Span)> {
        match side {
            Side::Split => &mut self.split,
            Side::Join => &mut self.join,
        }
    }
}

impl<'p> Elaborator<'p> {
    /// Makes a splitjoin of what its code has asked for.
    pub(super) fn make_splitjoin(
        &mut self,
        making: Making<'p, '_>,
        declared: Option<(Shape, Shape)>,
        pieces: Vec<Piece<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        let (mut dealings, mut names, mut children) = (Dealings::default(), Names::default(), Vec::new());
        let (split, join) = (said(&pieces, Side::Split), said(&pieces, Side::Join));
        let is_nothing = |weights: &[i32], at| match weights {
            [each] => *each == 0,
            _ => weights.get(at) == Some(&0),
        };
        for piece in pieces {
            match piece.kind {
                PieceKind::Add(request) => {
                    let at = children.len();
                    let idle = Idle { input: is_nothing(&split, at), output: is_nothing(&join, at) };
                    children.push(self.child(&request, &mut names, idle));
                }
                PieceKind::Split(dealing) => self.deal(&mut dealings, Side::Split, dealing, piece.span),
                PieceKind::Join(dealing) => self.deal(&mut dealings, Side::Join, dealing, piece.span),
                other => self.misplaced(other.keyword(), "splitjoin", piece.span),
            }
        }
        if children.is_empty() {
            let hint = "`add` one, if nothing else `Identity<int>()`";
            self.advise(making.stream.span, "the splitjoin has no streams in it", hint);
        }
        let split = self.needed(dealings.split, Side::Split, making);
        let join = self.needed(dealings.join, Side::Join, making);
        let children = children.into_iter().collect::<Option<Vec<Stream>>>()?;
        if children.is_empty() {
            return None;
        }
        let found = (common(&children, |child| &child.input), common(&children, |child| &child.output));
        let (input, output) = match declared {
            Some(declared) => believed(making, declared, &found),
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

    /// Notes what `split` or `join` says, which may be said once.
    pub(super) fn deal(&mut self, dealings: &mut Dealings, side: Side, dealing: Dealing, span: Span) {
        let known = dealings.of(side);
        match known {
            None => *known = Some((dealing, span)),
            Some((_, first)) => {
                let text = format!("there is a second `{}`", side.keyword());
                let error = Diagnostic::new(span, text).other(*first, "the first");
                self.report(error.hint("leave one of them out"));
            }
        }
    }

    /// What `split` or `join` says, if it is there.
    pub(super) fn needed(
        &mut self,
        dealing: Option<(Dealing, Span)>,
        side: Side,
        making: Making<'p, '_>,
    ) -> Option<(Dealing, Span)> {
        if dealing.is_none() {
            let keyword = side.keyword();
            let error = Diagnostic::new(making.stream.span, format!("there is no `{keyword}` in it"))
                .hint(format!("write `{keyword} roundrobin;`, or what else is meant"));
            self.report(error);
        }
        dealing
    }

    /// Whether the children take what is dealt to them, or give what is asked of them.
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
            // A child with weight 0 may have an end that nothing comes to.
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
        let (inside, joiner, does) = match side {
            Side::Split => (self.shape_name(&child.input), format!("the splitter gives {outside}"), "takes"),
            Side::Join => (self.shape_name(&child.output), format!("the joiner takes {outside}"), "gives"),
        };
        let error = Diagnostic::new(child.span, format!("{joiner} and `{}` {does} {inside}", child.name))
            .label(format!("{does} {inside}"))
            .other(span, joiner);
        self.report(error);
    }
}

/// The weights that are said of each child, or of all.
fn said(pieces: &[Piece<'_>], side: Side) -> Vec<i32> {
    let weights = pieces.iter().find_map(|piece| match (&piece.kind, side) {
        (PieceKind::Split(Dealing::RoundRobin(weights)), Side::Split)
        | (PieceKind::Join(Dealing::RoundRobin(weights)), Side::Join) => Some(weights.clone()),
        _ => None,
    });
    weights.unwrap_or_default()
}

/// What children have in common: the first that is not nothing.
fn common(children: &[Stream], end: impl Fn(&Stream) -> &Shape) -> Shape {
    children.iter().map(end).find(|shape| !shape.is_void()).cloned().unwrap_or(Shape::VOID)
}
