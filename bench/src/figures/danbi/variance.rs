//! What stalls come from: RG on the virtual host, whose firings last equally long or not, and whose queues and policies cost next
//! to nothing. Its values are the shares of the time of 40 virtual workers for which they stall.

use thalweg::embed::graph::Link;
use thalweg_policy::{Policy, registry};
use thalweg_sim::{Cost, Model, Ratio, Report, Settings, run as simulate};

use super::{MAX_WORKERS, POLICIES};
use crate::line::Measure;
use crate::session::Session;

/// The time of a row, in ticks, and of a transposition of an image.
const ROW: u64 = 10_000;
const IMAGE: u64 = 20 * ROW;

/// Images of this many rows and columns.
const IMAGES: u64 = 200;
const QUICK: u64 = 20;
const ROWS: u32 = 48;
const COLUMNS: u32 = 64;

/// The time of a wait for a ticket.
const WAIT: u64 = ROW / 1000;

/// The cost of a node by its mean and the number of its stream.
type CostOf = fn(u64, u64) -> Cost;

/// Costs by the coefficient of variation: standard deviation over mean. A spread of the mean has 1 over the root of 3.
const COSTS: [(&str, CostOf); 5] = [
    ("equal", |mean, _| Cost::Fixed(mean)),
    ("0.1", |mean, stream| Cost::Spread { mean, spread: mean * 17 / 100, stream }),
    ("0.3", |mean, stream| Cost::Spread { mean, spread: mean * 52 / 100, stream }),
    ("0.6", |mean, stream| Cost::Spread { mean, spread: mean, stream }),
    ("1", |mean, stream| Cost::Exponential { mean, stream }),
];

/// Runs the selected figures.
pub(super) fn run(session: &mut Session) {
    for policy in POLICIES {
        let name = format!("danbi.variance.rg.{policy}");
        if !session.selects(&name) {
            continue;
        }
        let images = if session.options.quick { QUICK } else { IMAGES };
        let values = COSTS.map(|(label, cost)| Ok((label, stall(policy, &rg(images, cost))?)));
        match values.into_iter().collect::<Result<Vec<_>, String>>() {
            Ok(values) => session.counted(&name, Measure::Counted("%"), &values),
            Err(error) => session.errors.push(format!("{name}: {error}")),
        }
    }
}

/// RG with queues of the paper's sizes.
fn rg(images: u64, cost: impl Fn(u64, u64) -> Cost) -> Model {
    let mut model = Model::new();
    let source = model.source("source", images * u64::from(ROWS), Cost::Fixed(WAIT));
    let nodes = [("rows", ROW), ("transposition", IMAGE), ("columns", ROW), ("back", IMAGE)];
    let [rows, there, columns, back] =
        std::array::from_fn(|at| model.parallel(nodes[at].0, cost(nodes[at].1, at as u64)));
    let sink = model.sequential("sink", Cost::Fixed(WAIT));
    let of = |items| Ratio::new(items, 1);
    for (from, push, to, pop) in [
        (source, 1, rows, 1),
        (rows, 1, there, ROWS),
        (there, COLUMNS, columns, 1),
        (columns, 1, back, COLUMNS),
        (back, 1, sink, 1),
    ] {
        let items = push.max(pop) as usize * MAX_WORKERS;
        model.join_rated((from, of(push)), (to, of(pop)), Link::default().with_capacity(items));
    }
    model
}

struct Run<'a>(&'a Model);

impl registry::Visit for Run<'_> {
    type Out = Result<Report, String>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        let settings = Settings {
            workers: MAX_WORKERS,
            ticket_wait: WAIT,
            run: 1,
            window: 4 * MAX_WORKERS,
            decide: 1,
            overhead: 1,
            migrate: 0,
            transfer: 0,
            wake: WAIT,
            spin: WAIT,
            slice: 1,
            steps: u64::MAX,
            ..Settings::default()
        };
        simulate(policy, self.0, &settings).map_err(|error| error.to_string())
    }
}

/// The share of the workers' time for which they stall, in per cent.
fn stall(policy: &str, model: &Model) -> Result<f64, String> {
    let report = registry::dispatch(policy, Run(model)).map_err(|error| error.to_string())??;
    let total = report.makespan as f64 * report.stall.len() as f64;
    Ok(100.0 * report.stall.iter().sum::<u64>() as f64 / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firings_that_differ_make_workers_stall() {
        let stall = |at: usize| stall("qes", &rg(10, COSTS[at].1)).unwrap();
        let (equal, varied) = (stall(0), stall(2));
        assert!(equal < 3.0 && varied > equal + 3.0, "{equal} % and {varied} %");
    }
}
