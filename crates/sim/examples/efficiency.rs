//! Prints, for every policy in virtual time, the ratio of the shortest possible makespan to the actual one, and the
//! mean number of firings of an activation, as `efficiency/firings`.
//!
//! `cargo run --release -p thalweg-sim --example efficiency [CAPACITY]`

use thalweg_policy::{Policy, registry};
use thalweg_sim::{Cost, Model, Report, Settings, run, shapes};

struct Run<'a>(&'a Model, Settings);

impl registry::Visit for Run<'_> {
    type Out = Report;

    fn visit<P: Policy>(self, policy: &P) -> Report {
        run(policy, self.0, &self.1).expect("the run ends")
    }
}

fn models(capacity: usize) -> Vec<(String, Model)> {
    let mut models = Vec::new();
    for nodes in [4, 8, 16] {
        models.push((format!("chain of {nodes}"), shapes::chain_of(nodes, 200_000, 100)));
    }
    for nodes in [4, 16] {
        models.push((format!("tailed {nodes}"), shapes::tailed_chain(nodes, 200_000, 60)));
    }
    models.push(("slow node".to_owned(), slow(200_000)));
    for work in [200, 1_000, 10_000] {
        models.push((format!("farm {work}"), shapes::farm(100_000, 20, work)));
    }
    models.push(("dedup".to_owned(), shapes::dedup(10_000, 200)));
    models.into_iter().map(|(name, model)| (name, model.capacity(capacity))).collect()
}

/// A chain of eight in which one stage is four times as slow as the others.
fn slow(firings: u64) -> Model {
    let mut model = shapes::tailed_chain(8, firings, 60);
    model.nodes[5].cost = Cost::Tailed(240);
    model
}

fn main() {
    let capacity = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(1024);
    let names: Vec<&str> = registry::names().collect();
    println!("{:<12} {:>7}  {}", "graph", "workers", names.map_columns());
    for (shape, model) in models(capacity) {
        for workers in [1, 2, 4, 8, 16] {
            let settings = Settings { workers, ..Settings::default() };
            let cells = names.iter().map(|name| {
                let report =
                    registry::dispatch(name, Run(&model, settings)).expect("the name is of the registry");
                format!("{:.3}/{:.0}", report.efficiency(&model), report.mean_activation())
            });
            println!("{shape:<12} {workers:>7}  {}", cells.collect::<Vec<_>>().map_columns());
        }
    }
}

/// Formats cells with equal widths.
trait Columns {
    fn map_columns(&self) -> String;
}

impl<S: AsRef<str>> Columns for Vec<S> {
    fn map_columns(&self) -> String {
        self.iter().map(|cell| format!("{:>11}", cell.as_ref())).collect()
    }
}
