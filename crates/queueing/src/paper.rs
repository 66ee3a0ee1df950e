//! The pipeline model's equations for a [`Pipeline`] (A. Navarro, R. Asenjo, S. Tabik and C. Caşcaval, Load Balancing Using
//! Work-stealing for Pipeline Parallelism in Emerging Applications, IBM Research Report, 2009).
//!
//! Where a stage fires other than once for an item of the source, times are per item of the source. Every function says
//! which equations it applies; [`crate::tandem`] has what they leave out.

use crate::closed::Closed;
use crate::ideal::{ideal, serial_bound};
use crate::open::Open;
use crate::prediction::bound;
use crate::sizes::upper_bound;
use crate::stealing::Stealing;
use crate::{Error, Limit, Model, Pipeline, Prediction, Settings, Workers};

/// Case 1, equations 4, 2 and 3: pools, each stage a closed M/M/c/N/K with `K = N`.
///
/// `N` is the capacity of the channel before the stage, the smallest of several, and for the source of the channel
/// behind it; at least 1. `Tarr` is the longest time of a stage. The paper's figure 7 has this model.
///
/// # Errors
/// A number out of range, a wrong number of pools.
pub fn closed(pipeline: &Pipeline, settings: &Settings) -> Result<Prediction, Error> {
    let threads = settings.threads(pipeline)?;
    let arrival = pipeline.demands().fold(0.0, f64::max);
    let population = populations(pipeline);
    let (mut throughput, mut waiting) = (f64::INFINITY, Vec::new());
    for ((service, c), n) in pipeline.demands().zip(&threads).zip(population) {
        if service == 0.0 {
            waiting.push(None);
            continue;
        }
        let stage = Closed { service, arrival, threads: f64::from(*c), population: n }.solve()?;
        throughput = throughput.min(stage.throughput);
        waiting.push(Some(stage.waiting));
    }
    let mut prediction = Prediction::new(Model::Closed, pipeline, settings, &threads, throughput);
    for (stage, waiting) in prediction.stages.iter_mut().zip(waiting) {
        stage.waiting = waiting;
    }
    Ok(prediction)
}

/// The items that circulate at each stage.
fn populations(pipeline: &Pipeline) -> Vec<u64> {
    let unlimited = crate::error::MAX_ITEMS;
    let (mut before, mut behind) = (vec![None; pipeline.stages().len()], vec![None; pipeline.stages().len()]);
    let least =
        |place: &mut Option<u64>, capacity: u64| *place = Some(place.map_or(capacity, |c| c.min(capacity)));
    for edge in pipeline.edges() {
        let capacity = edge.capacity.unwrap_or(unlimited).max(1);
        least(&mut before[edge.to], capacity);
        least(&mut behind[edge.from], capacity);
    }
    before.into_iter().zip(behind).map(|(before, behind)| before.or(behind).unwrap_or(unlimited)).collect()
}

/// Case 2, equations 5, 6, 2 and 3: pools, each stage an open M/M/c, with `rate` items a second at each stage without
/// input.
///
/// Corrections (errata, F7): a stage passes on at most `c / Tser`, which equation 6 lacks, so stages behind an overloaded
/// one see its capacity; equation 2 takes the minimum per item of the source. Where a stage is overloaded, its waiting
/// has no bound and is `None`.
///
/// # Errors
/// A number out of range, a wrong number of pools.
pub fn open(pipeline: &Pipeline, settings: &Settings, rate: f64) -> Result<Prediction, Error> {
    crate::error::positive("rate", rate)?;
    let threads = settings.threads(pipeline)?;
    let arrivals = arrivals(pipeline, &threads, rate)?;
    let slowest = bound(pipeline, settings, &threads);
    let mut prediction = Prediction::new(Model::Open, pipeline, settings, &threads, slowest.0.min(rate));
    if rate < slowest.0 {
        prediction.limit = Limit::Arrivals;
    }
    for (i, stage) in prediction.stages.iter_mut().enumerate() {
        let (service, c) = (pipeline.stages()[i].service, threads[i]);
        let highest = upper_bound(service, c)?;
        stage.rate = arrivals[i].min(highest);
        stage.busy = stage.rate * service;
        stage.utilisation = (stage.busy / f64::from(c)).min(1.0);
        let state = Open::exponential(arrivals[i], service, c).solve();
        stage.waiting = state.ok().map(|state| state.waiting);
    }
    Ok(prediction)
}

/// Equation 5, with the bound that equation 6 lacks: what arrives at each stage, in firings per second.
fn arrivals(pipeline: &Pipeline, threads: &[u32], rate: f64) -> Result<Vec<f64>, Error> {
    let mut edges: Vec<_> = pipeline.edges().iter().collect();
    edges.sort_by_key(|edge| edge.from);
    let mut arriving: Vec<Option<f64>> = vec![None; threads.len()];
    for edge in edges {
        let highest = upper_bound(pipeline.stages()[edge.from].service, threads[edge.from])?;
        let more = edge.branching() * arriving[edge.from].unwrap_or(rate).min(highest);
        let join = pipeline.stages()[edge.to].join;
        arriving[edge.to] = Some(arriving[edge.to].map_or(more, |sum| join.merge(sum, more)));
    }
    Ok(arriving.into_iter().map(|arriving| arriving.unwrap_or(rate)).collect())
}

/// Case 3, equations 7, 8, 2 and 3: threads for all stages that steal, clamped as [`Stealing`] says.
///
/// `tokens` of the settings, or else [`TOKENS_PER_THREAD`] for each thread. Sequential stages bound the result (equation
/// 8, for all of them and not for the first and the last alone).
///
/// # Errors
/// A number out of range; pools.
pub fn stealing(pipeline: &Pipeline, settings: &Settings) -> Result<Prediction, Error> {
    let (p, tokens) = shared(settings)?;
    let state = Stealing { service: pipeline.work(), threads: p, tokens }.solve()?;
    bounded(Model::Stealing, pipeline, settings, state.throughput)
}

/// M/M/P/PN/PN and equation 8: one central queue for all threads.
///
/// # Errors
/// A number out of range; pools.
pub fn central(pipeline: &Pipeline, settings: &Settings) -> Result<Prediction, Error> {
    let (p, tokens) = shared(settings)?;
    bounded(Model::Ideal, pipeline, settings, ideal(pipeline.work(), p, tokens)?.throughput)
}

/// Equations 9 and 10: what the threads allow without any wait.
///
/// # Errors
/// A number out of range, a wrong number of pools.
pub fn ceiling(pipeline: &Pipeline, settings: &Settings) -> Result<Prediction, Error> {
    let threads = settings.threads(pipeline)?;
    let throughput = bound(pipeline, settings, &threads).0;
    Ok(Prediction::new(Model::Bound, pipeline, settings, &threads, throughput))
}

/// The tokens a thread where the settings have no limit: the paper's for ferret.
pub const TOKENS_PER_THREAD: u64 = 5;

fn shared(settings: &Settings) -> Result<(u32, u64), Error> {
    let not_shared = |pools| Err(Error::Pipeline(crate::PipelineFault::NotShared { pools }));
    let p = match &settings.workers {
        Workers::Shared(p) => crate::error::threads(*p)?,
        Workers::Pools(pools) => return not_shared(pools.len()),
        Workers::Assigned(lists) => return not_shared(lists.len()),
    };
    Ok((p, settings.tokens.unwrap_or(TOKENS_PER_THREAD * u64::from(p))))
}

fn bounded(
    model: Model,
    pipeline: &Pipeline,
    settings: &Settings,
    throughput: f64,
) -> Result<Prediction, Error> {
    let threads = settings.threads(pipeline)?;
    let stages = pipeline.stages().iter().zip(pipeline.demands());
    let serial: Vec<f64> =
        stages.filter(|(stage, time)| stage.limit == Some(1) && *time > 0.0).map(|(_, time)| time).collect();
    let throughput = serial_bound(throughput, &serial)?;
    Ok(Prediction::new(model, pipeline, settings, &threads, throughput))
}
