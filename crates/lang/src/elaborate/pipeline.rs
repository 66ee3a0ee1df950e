//! Pipelines.

use super::Elaborator;
use super::names::Names;
use super::stream::{Instance, UnusedEnds};
use crate::eval::{Directive, DirectiveKind};
use crate::tree::{Stream, StreamKind};
use crate::value::Shape;

impl<'p> Elaborator<'p> {
    /// Instantiates a pipeline from its requests.
    pub(super) fn make_pipeline(
        &mut self,
        instance: Instance<'p, '_>,
        declared: Option<(Shape, Shape)>,
        directives: Vec<Directive<'p>>,
    ) -> Option<(Shape, Shape, StreamKind)> {
        let mut names = Names::default();
        let mut children = Vec::new();
        for directive in directives {
            match &directive.kind {
                DirectiveKind::Add(request) => {
                    children.push(self.child(request, &mut names, UnusedEnds::default()))
                }
                other => {
                    self.misplaced(other.keyword(), "pipeline", directive.span);
                    children.push(None);
                }
            }
        }
        let joined = self.check_neighbours(&children);
        let children = children.into_iter().collect::<Option<Vec<Stream>>>()?;
        let (Some(first), Some(last)) = (children.first(), children.last()) else {
            let hint = "add a stream, such as `add Identity<int>();`";
            self.error_with_hint(instance.stream.span, "the pipeline has no streams", hint);
            return None;
        };
        let found = (first.input.clone(), last.output.clone());
        let (input, output) = self.ends(instance, declared, found)?;
        joined.then_some((input, output, StreamKind::Pipeline(children)))
    }

    /// Checks the item types between neighbours, as far as they could be instantiated.
    fn check_neighbours(&mut self, children: &[Option<Stream>]) -> bool {
        let mut fine = true;
        for pair in children.windows(2) {
            if let [Some(producer), Some(consumer)] = pair
                && (producer.output != consumer.input || producer.output.is_void())
            {
                self.mismatch(producer, consumer);
                fine = false;
            }
        }
        fine
    }
}
