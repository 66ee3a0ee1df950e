//! Prints a report as text.

use crate::{Report, WorkerReport, table::Table, units};
use std::fmt;
use thalweg_graph::Kind;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.threads == 1 { "" } else { "s" };
        let wall = units::time(self.wall);
        writeln!(f, "{wall} on {} thread{s}, policy {}\n", self.threads, self.policy.escape_debug())?;
        writeln!(f, "{}", self.worker_table())?;
        writeln!(f, "{}", self.node_table())?;
        writeln!(f, "{}", self.channel_table())?;
        self.write_growths(f)?;
        writeln!(f, "{}", self.advice())
    }
}

impl Report {
    fn worker_table(&self) -> Table {
        let counts = ["activations", "refused", "steals", "spins", "parks"];
        let head = ["worker"].into_iter().chain(WorkerReport::CATEGORIES).chain(counts);
        let mut table = Table::new(&head.collect::<Vec<_>>());
        for (i, worker) in self.workers.iter().enumerate() {
            table.row(worker_row(i.to_string(), worker.categories().map(units::time), worker));
        }
        let mut all = WorkerReport::default();
        for worker in &self.workers {
            all.activations = all.activations.saturating_add(worker.activations);
            all.refused = all.refused.saturating_add(worker.refused);
            all.steals = all.steals.saturating_add(worker.steals);
            all.spins = all.spins.saturating_add(worker.spins);
            all.parks = all.parks.saturating_add(worker.parks);
        }
        table.row(worker_row("all".to_owned(), self.breakdown().map(units::percent), &all));
        table
    }

    fn node_table(&self) -> Table {
        let mut table =
            Table::new(&["node", "kind", "firings", "activations", "moves", "busy", "per firing", "of wall"]);
        for (node, stats) in self.graph.nodes().iter().zip(&self.nodes) {
            let kind = match node.kind {
                _ if node.blocking => "blocking",
                Kind::Sequential => "sequential",
                Kind::Parallel => "parallel",
                Kind::Process => "process",
            };
            let each = stats.per_firing().map_or("-".to_owned(), units::time);
            table.row(vec![
                node.name.escape_debug().to_string(),
                kind.to_owned(),
                stats.firings.to_string(),
                stats.activations.to_string(),
                stats.moves.to_string(),
                units::time(stats.busy),
                each,
                self.of_wall(stats.busy),
            ]);
        }
        table
    }

    /// A busy time as a share of the wall time. It exceeds 100 % if several workers were in a parallel node.
    fn of_wall(&self, busy: std::time::Duration) -> String {
        if self.wall.is_zero() {
            return "-".to_owned();
        }
        units::percent(busy.as_secs_f64() / self.wall.as_secs_f64())
    }

    fn channel_table(&self) -> Table {
        let mut table =
            Table::new(&["channel", "items", "remote", "bytes", "capacity", "peak", "mean", "left over"]);
        for (id, stats) in self.graph.channel_ids().zip(&self.channels) {
            table.row(vec![
                self.graph.channel_name(id).escape_debug().to_string(),
                stats.items.to_string(),
                stats.remote.to_string(),
                units::bytes(stats.bytes),
                stats.capacity.to_string(),
                units::items(stats.peak),
                units::items(stats.mean),
                stats.leftover.to_string(),
            ]);
        }
        table
    }

    fn write_growths(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for growth in &self.growths {
            let name = self.graph.channel_name(growth.channel);
            let (name, from, to) = (name.escape_debug(), growth.from, growth.to);
            writeln!(f, "grew {name} from {from} to {to} {}", growth.limit)?;
        }
        if !self.growths.is_empty() {
            writeln!(f)?;
        }
        Ok(())
    }
}

fn worker_row(name: String, times: [String; 5], counts: &WorkerReport) -> Vec<String> {
    let counts = [counts.activations, counts.refused, counts.steals, counts.spins, counts.parks];
    let counts = counts.iter().map(u64::to_string);
    [name].into_iter().chain(times).chain(counts).collect()
}
