//! What other settings would give: a table over threads, and one step more of each resource.

use crate::{Error, Limit, Pipeline, Prediction, Settings, Workers, paper, tandem};

/// The predictions for one number of threads, in items of the source per second.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// Threads for all stages; or the threads of each parallel stage, where sequential stages have one each.
    pub threads: u32,
    /// Our model with threads for all stages ([`Model::Workers`](crate::Model::Workers)).
    pub shared: Prediction,
    /// Our model with pools ([`Model::Tandem`](crate::Model::Tandem), or [`Model::Pair`](crate::Model::Pair)).
    pub pools: Prediction,
    /// The paper's work stealing ([`Model::Stealing`](crate::Model::Stealing)).
    pub stealing: f64,
    /// The paper's central queue ([`Model::Ideal`](crate::Model::Ideal)).
    pub ideal: f64,
    /// The paper's pools ([`Model::Closed`](crate::Model::Closed)).
    pub closed: f64,
}

/// One row for each number of threads, such as `1..=64`. `tokens` limits the items under way.
///
/// # Errors
/// A number out of range.
pub fn table(
    pipeline: &Pipeline,
    threads: impl IntoIterator<Item = u32>,
    tokens: Option<u64>,
) -> Result<Vec<Row>, Error> {
    threads.into_iter().map(|threads| row(pipeline, threads, tokens)).collect()
}

fn row(pipeline: &Pipeline, threads: u32, tokens: Option<u64>) -> Result<Row, Error> {
    let shared = Settings { tokens, ..Settings::shared(threads) };
    let pools = Settings { tokens, ..Settings::pools(vec![threads; pipeline.stages().len()]) };
    Ok(Row {
        threads,
        shared: tandem::predict(pipeline, &shared)?,
        pools: tandem::predict(pipeline, &pools)?,
        stealing: paper::stealing(pipeline, &shared)?.throughput,
        ideal: paper::central(pipeline, &shared)?.throughput,
        closed: paper::closed(pipeline, &pools)?.throughput,
    })
}

/// What one step more of each resource would give, by our model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Steps {
    /// The pipeline as it is.
    pub now: Prediction,
    /// With one more thread: for the stage that limits throughput, or for all stages. `None` where a sequential stage
    /// limits it.
    pub thread: Option<f64>,
    /// With all capacities doubled; a capacity of 0 becomes 1.
    pub capacity: f64,
    /// With the tokens doubled; `None` without a limit.
    pub tokens: Option<f64>,
}

/// Predicts what one step more of each resource gives, in items of the source per second.
///
/// # Errors
/// A number out of range, also of the settings after a step.
pub fn steps(pipeline: &Pipeline, settings: &Settings) -> Result<Steps, Error> {
    let now = tandem::predict(pipeline, settings)?;
    let with =
        |settings: &Settings| tandem::predict(pipeline, settings).map(|prediction| prediction.throughput);
    let thread = more_threads(pipeline, settings, now.limit);
    let wider = pipeline.with_capacities(|capacity| (2 * capacity).max(1))?;
    let tokens = settings.tokens.map(|tokens| settings.clone().tokens(tokens.saturating_mul(2)));
    Ok(Steps {
        thread: thread.map(|settings| with(&settings)).transpose()?,
        capacity: tandem::predict(&wider, settings)?.throughput,
        tokens: tokens.map(|settings| with(&settings)).transpose()?,
        now,
    })
}

/// The settings with one more thread where it may help.
fn more_threads(pipeline: &Pipeline, settings: &Settings, limit: Limit) -> Option<Settings> {
    let mut more = settings.clone();
    match (&mut more.workers, limit) {
        (_, Limit::Stage(stage)) if pipeline.stages()[stage].limit == Some(1) => return None,
        (Workers::Shared(p), _) => *p = p.saturating_add(1),
        (Workers::Pools(pools), Limit::Stage(stage)) => pools[stage] = pools[stage].saturating_add(1),
        (Workers::Pools(_) | Workers::Assigned(_), _) => return None,
    }
    Some(more)
}
