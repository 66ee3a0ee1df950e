//! Our model: pipelines with finite channels, any number of stages, and service times that are not exponential.
//!
//! A stage takes items from its channel, works, and passes results on; where the channel behind it is full a thread keeps
//! its result and waits (blocking after service), or leaves it in the stage's reorder window. The source always has
//! items. [`predict`] picks:
//!
//! - [`exact`]: two stages of one thread each, by the exact Markov chain of times fitted by two moments ([`phase`]);
//! - [`decompose`]: any other pools, by two-station lines ([`pair`]) that agree on their throughput;
//! - [`assigned`]: threads that each have stages of their own, by pools for the stages of each;
//! - [`workers`]: threads for all stages, by the pipeline without their limit and the threads without the pipeline's;
//! - [`tokens`]: a limit of the items under way; [`window`]: what ordered output costs.
//!
//! What the pipeline model's equations leave out is here: equation 4 sees one stage at a time with exponential times, and the
//! equations of work stealing see no channels.

pub mod assigned;
pub mod decompose;
pub mod exact;
pub mod line;
pub mod pair;
pub mod phase;
pub mod tokens;
pub mod window;
pub mod workers;

use crate::{Error, Limit, Model, Pipeline, Prediction, Settings, Workers};
use decompose::Flow;
use line::Line;

/// The maximum number of places and of phases of a stage for which the exact chain is used.
const MAX_EXACT: (u64, usize) = (64, 6);

/// Predicts throughput, utilisation and waiting.
///
/// # Errors
/// A number out of range, a wrong number of pools.
pub fn predict(pipeline: &Pipeline, settings: &Settings) -> Result<Prediction, Error> {
    let threads = settings.threads(pipeline)?;
    let line = Line::new(pipeline, &threads)?;
    let with = |model, throughput| Prediction::new(model, pipeline, settings, &threads, throughput);
    let mut prediction = match &settings.workers {
        Workers::Pools(_) => pools(pipeline, settings, &threads, &line),
        Workers::Shared(p) => with(Model::Workers, workers::throughput(pipeline, *p, &threads)?),
        Workers::Assigned(lists) => with(Model::Assigned, assigned::throughput(pipeline, lists)?),
    };
    let by_tokens = settings.tokens.map_or(f64::INFINITY, |tokens| tokens::throughput(&line, tokens));
    if by_tokens < prediction.throughput {
        prediction = Prediction::new(prediction.model, pipeline, settings, &threads, by_tokens);
        prediction.limit = Limit::Tokens;
    }
    crate::error::positive("throughput", prediction.throughput)?;
    Ok(prediction)
}

fn pools(pipeline: &Pipeline, settings: &Settings, threads: &[u32], line: &Line) -> Prediction {
    let flow = flow(line);
    let exact = exact_pair(pipeline, threads);
    let model = if exact.is_some() { Model::Pair } else { Model::Tandem };
    let throughput = exact.unwrap_or(flow.throughput);
    let mut prediction = Prediction::new(model, pipeline, settings, threads, throughput);
    waits(&mut prediction, line, &flow);
    prediction
}

/// The flow through a line, also of one without buffers.
fn flow(line: &Line) -> Flow {
    if !line.buffers.is_empty() {
        return decompose::solve(line);
    }
    let throughput = line.active().map(|(_, station)| station.rate()).fold(f64::INFINITY, f64::min);
    let none = vec![0.0; line.stations.len()];
    Flow { throughput, starved: none.clone(), blocked: none, queues: Vec::new() }
}

/// The exact throughput, where the chain applies and is small.
fn exact_pair(pipeline: &Pipeline, threads: &[u32]) -> Option<f64> {
    let ([first, second], [edge]) = (pipeline.stages(), pipeline.edges()) else { return None };
    let room = edge.capacity.filter(|capacity| *capacity <= MAX_EXACT.0)?;
    let fits = |squared: f64| squared >= 1.0 / MAX_EXACT.1 as f64;
    let squared = (first.variation.powi(2), second.variation.powi(2));
    if threads != [1, 1] || (edge.pushes, edge.pops) != (1.0, 1.0) || !fits(squared.0) || !fits(squared.1) {
        return None;
    }
    let room = match edge.in_place {
        true if room == 1 => return Some(1.0 / (first.service + second.service)), // they take turns
        true => room - 2,
        false => room,
    };
    let up = phase::fit(first.service, squared.0, MAX_EXACT.1);
    let down = phase::fit(second.service, squared.1, MAX_EXACT.1);
    Some(exact::throughput(&up, &down, room as usize))
}

/// Adds the waits of the flow, in the shares that it has, to what the throughput leaves of each stage's time.
fn waits(prediction: &mut Prediction, line: &Line, flow: &Flow) {
    for (i, stage) in prediction.stages.iter_mut().enumerate() {
        let (starved, blocked) = (flow.starved[i], flow.blocked[i]);
        let idle = 1.0 - stage.utilisation;
        let share = if starved + blocked > 0.0 { starved / (starved + blocked) } else { 1.0 };
        (stage.starved, stage.blocked) = (Some(idle * share), Some(idle * (1.0 - share)));
    }
    for (buffer, queue) in line.buffers.iter().zip(&flow.queues) {
        let time = queue / (prediction.throughput * buffer.units);
        let waiting = &mut prediction.stages[buffer.to].waiting;
        *waiting = Some(waiting.map_or(time, |other| other.max(time)));
    }
}
