//! Predictions for other threads, capacities and tokens than those of the run.

use super::{Model, Unpredictable};
use std::fmt;
use std::str::FromStr;
use thalweg_queueing::{Limit, Pipeline, Prediction, Settings, Workers, paper, tandem};
use thalweg_trace::Report;

/// The maximum number of rows.
const MAX_ROWS: usize = 10_000;

/// The settings to predict for: each combination of these, and what is not named as in the run.
///
/// It is read from words such as `threads=1..8 capacity=8,64`:
///
/// | name | values |
/// |---|---|
/// | `threads` | threads that all nodes share |
/// | `pools` | threads of each parallel node, where the others have one each |
/// | `capacity` | the items that each channel holds |
/// | `tokens` | the items of the source under way |
///
/// A value is a number or a range such as `1..64`, both ends included; commas separate several.
///
/// ```
/// use thalweg_report::Grid;
///
/// let grid: Grid = "threads=1..4,8 capacity=20,100".parse()?;
/// assert_eq!(grid.rows(), 10);
/// let error = "thread=4".parse::<Grid>().unwrap_err().to_string();
/// assert!(error.contains("`thread` is none of `threads`, `pools`, `capacity`, `tokens`"));
/// # Ok::<(), thalweg_report::GridError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    threads: Vec<u64>,
    pools: Vec<u64>,
    capacity: Vec<u64>,
    tokens: Vec<u64>,
}

/// Why the settings to predict for cannot be read.
#[derive(Clone, PartialEq, Eq)]
pub struct GridError(String);

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

thalweg_graph::error_type!(GridError);

impl FromStr for Grid {
    type Err = GridError;

    fn from_str(text: &str) -> Result<Grid, GridError> {
        let mut grid = Grid::default();
        for word in text.split_whitespace() {
            let (name, values) = word.split_once('=').ok_or_else(|| {
                GridError(format!("expected NAME=VALUES such as `threads=1..8`, found `{word}`"))
            })?;
            let place = match name {
                "threads" => &mut grid.threads,
                "pools" => &mut grid.pools,
                "capacity" => &mut grid.capacity,
                "tokens" => &mut grid.tokens,
                _ => {
                    let names = "`threads`, `pools`, `capacity`, `tokens`";
                    return Err(GridError(format!("`{name}` is none of {names}")));
                }
            };
            place.extend(numbers(values)?);
        }
        match grid.checked_rows() {
            Some(rows) if rows <= MAX_ROWS => Ok(grid),
            _ => Err(GridError(format!("the settings have more than {MAX_ROWS} combinations"))),
        }
    }
}

/// The numbers of `4`, `1..8` or `1..8,16`.
fn numbers(text: &str) -> Result<Vec<u64>, GridError> {
    let number = |digits: &str| {
        let number = digits.parse::<u64>().ok().filter(|number| *number > 0);
        number.ok_or_else(|| GridError(format!("expected a number from 1, found `{digits}`")))
    };
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(GridError(format!("the range `{part}` is empty: write the smaller number first")));
        }
        if last - first >= MAX_ROWS as u64 {
            return Err(GridError(format!("the range `{part}` has more than {MAX_ROWS} numbers")));
        }
        all.extend(first..=last);
    }
    Ok(all)
}

impl Grid {
    /// The number of combinations.
    pub fn rows(&self) -> usize {
        self.checked_rows().unwrap_or(usize::MAX)
    }

    fn checked_rows(&self) -> Option<usize> {
        let workers = (self.threads.len() + self.pools.len()).max(1);
        workers.checked_mul(self.capacity.len().max(1))?.checked_mul(self.tokens.len().max(1))
    }

    /// The ways to give threads, `None` for that of the run.
    fn workers(&self) -> Vec<Option<Given>> {
        let threads = self.threads.iter().map(|count| Some(Given { pools: false, count: *count }));
        let all: Vec<_> = threads
            .chain(self.pools.iter().map(|count| Some(Given { pools: true, count: *count })))
            .collect();
        if all.is_empty() { vec![None] } else { all }
    }
}

/// Threads for all nodes, or for each parallel node.
#[derive(Clone, Copy)]
struct Given {
    pools: bool,
    count: u64,
}

/// Each value, or once none.
fn or_none(values: &[u64]) -> Vec<Option<u64>> {
    if values.is_empty() { vec![None] } else { values.iter().copied().map(Some).collect() }
}

/// The predictions for the settings of a [`Grid`].
#[derive(Clone, Debug, PartialEq)]
pub struct Predictions {
    pub(super) source: String,
    pub(super) measured: f64,
    pub(super) rows: Vec<Row>,
}

/// The prediction for one combination of settings. Throughputs are firings of the source per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    threads: u64,
    is_pools: bool,
    capacity: Option<u64>,
    tokens: Option<u64>,
    throughput: f64,
    bound: f64,
    limit: Option<String>,
    paper: f64,
}

impl Predictions {
    pub(crate) fn of(report: &Report, grid: &Grid) -> Result<Predictions, Unpredictable> {
        let model = Model::of(report)?;
        let mut rows = Vec::with_capacity(grid.rows());
        for capacity in or_none(&grid.capacity) {
            let pipeline = model.pipeline.with_capacities(|old| capacity.unwrap_or(old));
            let pipeline = pipeline.map_err(Unpredictable::Number)?;
            for tokens in or_none(&grid.tokens) {
                for given in grid.workers() {
                    let settings = settings(&model, given, tokens).ok_or(Unpredictable::Threads)?;
                    let row = Row::of(report, &model, &pipeline, &settings, (capacity, given));
                    rows.push(row.map_err(Unpredictable::Number)?);
                }
            }
        }
        let source = report.graph().node(model.source).name().to_string();
        Ok(Predictions { source, measured: model.measured(report), rows })
    }

    /// The name of the source whose firings the throughputs count.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The throughput that the run measured.
    pub fn measured(&self) -> f64 {
        self.measured
    }

    /// The rows: capacities, in each the tokens, in each the threads.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

/// The settings of a row; `None` where the threads are too many to count.
fn settings(model: &Model, given: Option<Given>, tokens: Option<u64>) -> Option<Settings> {
    let workers = match given {
        None => model.settings.workers.clone(),
        Some(Given { pools: false, count }) => Workers::Shared(u32::try_from(count).ok()?),
        Some(Given { pools: true, count }) => {
            let count = u32::try_from(count).ok()?;
            let stages = model.pipeline.stages().iter();
            Workers::Pools(stages.map(|stage| if stage.limit == Some(1) { 1 } else { count }).collect())
        }
    };
    Some(Settings { workers, tokens: tokens.or(model.settings.tokens) })
}

impl Row {
    fn of(
        report: &Report,
        model: &Model,
        pipeline: &Pipeline,
        settings: &Settings,
        (capacity, given): (Option<u64>, Option<Given>),
    ) -> Result<Row, thalweg_queueing::Error> {
        let predicted = tandem::predict(pipeline, settings)?;
        let (threads, is_pools) = match (&settings.workers, given) {
            (Workers::Pools(_), Some(given)) => (given.count, true),
            (Workers::Pools(pools), None) => (pools.iter().copied().max().unwrap_or(1).into(), true),
            (Workers::Shared(p), _) => (u64::from(*p), false),
            (Workers::Assigned(_), _) => (report.threads() as u64, false),
        };
        Ok(Row {
            threads,
            is_pools,
            capacity,
            tokens: settings.tokens,
            throughput: predicted.throughput,
            bound: predicted.bound,
            limit: limit(report, model, &predicted),
            paper: match settings.workers {
                Workers::Pools(_) => paper::closed(pipeline, settings)?,
                Workers::Shared(_) => paper::stealing(pipeline, settings)?,
                Workers::Assigned(_) => paper::ceiling(pipeline, settings)?,
            }
            .throughput,
        })
    }

    /// The threads for all nodes, or for each parallel node.
    pub fn threads(&self) -> u64 {
        self.threads
    }

    /// Whether each node has threads of its own.
    pub fn is_pools(&self) -> bool {
        self.is_pools
    }

    /// The capacity of each channel, in items; `None` where each has that of the run.
    pub fn capacity(&self) -> Option<u64> {
        self.capacity
    }

    /// The items of the source under way; `None` without a limit.
    pub fn tokens(&self) -> Option<u64> {
        self.tokens
    }

    /// The throughput by the model of `thalweg_queueing::tandem`.
    pub fn throughput(&self) -> f64 {
        self.throughput
    }

    /// The throughput that the threads allow without any wait (equations 9 and 10).
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The node that limits the throughput; `None` where the threads of all nodes or the tokens do.
    pub fn limit(&self) -> Option<&str> {
        self.limit.as_deref()
    }

    /// The throughput by the paper's model: equation 4 for pools, equations 7 and 8 for threads that all nodes share.
    pub fn paper(&self) -> f64 {
        self.paper
    }
}

fn limit(report: &Report, model: &Model, predicted: &Prediction) -> Option<String> {
    match predicted.limit {
        Limit::Stage(stage) => Some(report.graph().node(model.nodes[stage]).name().to_string()),
        _ => None,
    }
}
