//! Collapsed forms: neighbouring parallel stages as one, section 2.3 of the pipeline model.

use crate::{Edge, Error, Pipeline, Stage};

/// Makes one stage of each run of parallel stages that single channels join. An item's time in the new stage is the sum of
/// its times in the old ones, and so is its variance. The channels inside the run go away.
///
/// # Errors
/// A number that leaves the accepted range where times are added.
pub fn collapse(pipeline: &Pipeline) -> Result<Pipeline, Error> {
    let degrees = Degrees::new(pipeline);
    let joins = |heads: &[usize], i: usize| degrees.joins(pipeline, i).map(|edge| heads[edge.from]);
    merged(pipeline, joins).map(|(collapsed, _)| collapsed)
}

/// Makes one stage of each group of stages, and forgets the channels inside of it. `joins` says which group stage `i` is in, by the
/// group's first stage, from those of the stages before; `None` begins one. With the first stage of each group.
///
/// # Errors
/// A number that leaves the accepted range where times are added.
pub(crate) fn merged(
    pipeline: &Pipeline,
    joins: impl Fn(&[usize], usize) -> Option<usize>,
) -> Result<(Pipeline, Vec<usize>), Error> {
    let (mut stages, mut heads): (Vec<Stage>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut place = vec![0; pipeline.stages().len()];
    // The first stage of the group that each stage is in.
    let mut head: Vec<usize> = (0..pipeline.stages().len()).collect();
    for (i, stage) in pipeline.stages().iter().enumerate() {
        match joins(&head, i) {
            Some(first) => {
                (head[i], place[i]) = (first, place[first]);
                let times = pipeline.firings()[i] / pipeline.firings()[first];
                absorb(&mut stages[place[i]], stage, times);
            }
            None => {
                place[i] = stages.len();
                heads.push(i);
                stages.push(*stage);
            }
        }
    }
    let outside = pipeline.edges().iter().filter(|edge| place[edge.from] != place[edge.to]);
    let edges = outside.map(|edge| {
        let times = pipeline.firings()[edge.from] / pipeline.firings()[head[edge.from]];
        Edge { from: place[edge.from], to: place[edge.to], pushes: edge.pushes * times, ..*edge }
    });
    Ok((Pipeline::new(stages, edges.collect())?, heads))
}

/// The edges at each stage.
struct Degrees {
    outputs: Vec<usize>,
    inputs: Vec<Vec<usize>>,
}

impl Degrees {
    fn new(pipeline: &Pipeline) -> Self {
        let count = pipeline.stages().len();
        let (mut outputs, mut inputs) = (vec![0; count], vec![Vec::new(); count]);
        for (index, edge) in pipeline.edges().iter().enumerate() {
            outputs[edge.from] += 1;
            inputs[edge.to].push(index);
        }
        Self { outputs, inputs }
    }

    /// The edge by which stage `i` continues a run of parallel stages.
    fn joins<'a>(&self, pipeline: &'a Pipeline, i: usize) -> Option<&'a Edge> {
        let [index] = self.inputs[i][..] else { return None };
        let edge = &pipeline.edges()[index];
        let parallel = |stage: usize| pipeline.stages()[stage].limit.is_none();
        let fires = pipeline.firings()[edge.from] > 0.0 && edge.pushes > 0.0;
        (self.outputs[edge.from] == 1 && fires && parallel(i) && parallel(edge.from)).then_some(edge)
    }
}

/// Adds `times` firings of `other` to each firing of `stage`.
fn absorb(stage: &mut Stage, other: &Stage, times: f64) {
    let variance = |s: &Stage| (s.service * s.variation).powi(2);
    let sum = variance(stage) + times * variance(other);
    stage.service += times * other.service;
    stage.variation = sum.sqrt() / stage.service;
    stage.window = other.window;
}
