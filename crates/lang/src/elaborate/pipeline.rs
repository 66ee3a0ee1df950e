//! Pipelines.

use super::Elaborator;
use super::names::Names;
use super::stream::{Idle, Making};
use crate::eval::{Piece, PieceKind};
use crate::tree::{Stream, StreamKind};
use crate::value::Shape;

impl<'p> Elaborator<'p> {
    /// Makes a pipeline of what its code has asked for.
    pub(super) fn make_pipeline(
        &mut self,
        making: Making<'p, '_>,
        declared: Option<(Shape, Shape)>,
        pieces: Vec<Piece<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        let mut names = Names::default();
        let mut children = Vec::new();
        for piece in pieces {
            match &piece.kind {
                PieceKind::Add(request) => children.push(self.child(request, &mut names, Idle::default())),
                other => {
                    self.misplaced(other.keyword(), "pipeline", piece.span);
                    children.push(None);
                }
            }
        }
        let joined = self.check_neighbours(&children);
        let children = children.into_iter().collect::<Option<Vec<Stream>>>()?;
        let (Some(first), Some(last)) = (children.first(), children.last()) else {
            let hint = "`add` one, if nothing else `Identity<int>()`";
            self.advise(making.stream.span, "the pipeline has no streams in it", hint);
            return None;
        };
        let found = (first.input.clone(), last.output.clone());
        let (input, output) = self.ends(making, declared, found)?;
        joined.then_some((input, output, StreamKind::Pipeline(children)))
    }

    /// Whether each child, as far as they could be made, takes what the one before it gives.
    fn check_neighbours(&mut self, children: &[Option<Stream>]) -> bool {
        let mut fine = true;
        for pair in children.windows(2) {
            if let [Some(giver), Some(taker)] = pair
                && (giver.output != taker.input || giver.output.is_void())
            {
                self.mismatch(giver, taker);
                fine = false;
            }
        }
        fine
    }
}
