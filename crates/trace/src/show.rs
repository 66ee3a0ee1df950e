//! Prints a report as text.

use crate::{ChannelReport, Report, WorkerReport, table::Table, units};
use std::fmt;
use std::time::Duration;
use thalweg_graph::{ChannelId, Footprint, NodeId, shown};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.threads == 1 { "" } else { "s" };
        let wall = units::time(self.wall);
        let dilated = self.dilated().map_or_else(String::new, |dilated| format!(", {dilated}"));
        writeln!(f, "{wall} on {} thread{s}, policy {}{dilated}\n", self.threads, shown(&self.policy))?;
        writeln!(f, "{}", self.worker_table())?;
        self.write_with_kernel(f)?;
        writeln!(f, "{}", self.node_table())?;
        self.write_jobs(f)?;
        write!(f, "{}", self.channel_table())?;
        self.write_held(f)?;
        self.write_growths(f)?;
        self.write_notes(f)
    }
}

impl Report {
    fn worker_table(&self) -> Table {
        let counts = ["activations", "refused", "attempts", "steals", "spins", "parks"];
        let head = ["worker"].into_iter().chain(WorkerReport::CATEGORIES).chain(["kernel"]).chain(counts);
        let mut table = Table::new(&head.collect::<Vec<_>>());
        for (i, worker) in self.workers.iter().enumerate() {
            let times = worker.categories().into_iter().chain([worker.kernel]).map(units::time);
            table.row(worker_row(i.to_string(), times, worker));
        }
        let shares = self.breakdown().into_iter().chain([self.with_kernel()[4]]).map(units::percent);
        table.row(worker_row("all".to_owned(), shares, &self.all_counts()));
        table
    }

    /// The counts of all workers, without times.
    pub fn all_counts(&self) -> WorkerReport {
        let mut all = WorkerReport::default();
        for worker in &self.workers {
            all.activations = all.activations.saturating_add(worker.activations);
            all.refused = all.refused.saturating_add(worker.refused);
            all.steal_attempts = all.steal_attempts.saturating_add(worker.steal_attempts);
            all.steals = all.steals.saturating_add(worker.steals);
            all.spins = all.spins.saturating_add(worker.spins);
            all.parks = all.parks.saturating_add(worker.parks);
        }
        all
    }

    /// Writes the categories of DANBI's Figure 4 as shares of the workers' time.
    fn write_with_kernel(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares =
            WorkerReport::WITH_KERNEL.iter().zip(self.with_kernel()).map(|(name, share)| match *name {
                "stall" if self.tickets.is_none() => "stall 0 % by construction".to_owned(),
                name => format!("{name} {}", units::percent(share)),
            });
        let shares = shares.collect::<Vec<_>>().join(", ");
        writeln!(f, "with the system's part: {shares} (counted in ticks: 0 in short runs)")?;
        self.ticket_waits().map_or(Ok(()), |waits| writeln!(f, "{waits}"))?;
        writeln!(f)
    }

    fn node_table(&self) -> Table {
        let ids = || self.graph.node_ids().zip(&self.nodes);
        let has_state = ids().any(|(id, _)| self.graph.footprint(id).bytes() > 0);
        let mut head = vec![
            "node",
            "kind",
            "firings",
            "activations",
            "moves",
            "busy",
            "per firing",
            "activation p99",
            "of wall",
            "gain",
            "longest wait",
        ];
        head.extend(has_state.then_some("state"));
        let mut table = Table::new(&head);
        for (id, stats) in ids() {
            let node = self.graph.node(id);
            let longest = stats.service.as_ref().and_then(|service| service.activation.quantile(0.99));
            let mut row = vec![
                shown(node.name()).to_string(),
                if node.blocking() { "blocking".to_owned() } else { node.kind().to_string() },
                stats.firings.to_string(),
                stats.activations.to_string(),
                stats.moves.to_string(),
                units::time(stats.busy),
                known(stats.per_firing(), units::time),
                known(longest, units::time),
                self.of_wall(stats.busy),
                known(self.known_gain(id), units::ratio),
                self.longest_wait(id),
            ];
            row.extend(has_state.then(|| state(self.graph.footprint(id))));
            table.row(row);
        }
        table
    }

    /// Writes the table of the nodes that executed loops or task graphs, if there are any.
    fn write_jobs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut jobs = self.jobs().peekable();
        if jobs.peek().is_none() {
            return Ok(());
        }
        let mut table = Table::new(&[
            "loops, graphs",
            "loops",
            "iterations",
            "graphs",
            "nodes",
            "members",
            "steals",
            "of attempts",
            "coloured",
            "of attempts",
            "accesses",
            "remote",
            "of accesses",
        ]);
        for (name, counts) in jobs {
            let all = counts.total();
            let members = counts.helpers() as u64;
            let begun = [all.loops, all.iterations, all.graphs, all.nodes, members, all.steals, all.attempts];
            let others = [all.coloured_steals, all.coloured_attempts, all.accesses, all.remote];
            let counts = begun.into_iter().chain(others).map(|count| count.to_string());
            let share = known(all.remote_share(), units::percent);
            let name = shown(name).to_string();
            table.row([name].into_iter().chain(counts).chain([share]).collect());
        }
        writeln!(f, "{table}")
    }

    /// The gain of a node that has outputs, if the report has all its channels.
    fn known_gain(&self, id: NodeId) -> Option<f64> {
        let whole = self.channels.len() == self.graph.channels().len();
        if whole && !self.graph.node(id).outputs().is_empty() { self.gain(id) } else { None }
    }

    /// What a node waited for longest, and for which share of the wall time.
    fn longest_wait(&self, id: NodeId) -> String {
        match self.known_waits(id).first() {
            Some((cause, time)) => format!("{} for {}", self.of_wall(*time), cause.describe(&self.graph)),
            None => "-".to_owned(),
        }
    }

    /// A time as a share of the wall time. It exceeds 100 % if several workers were in a parallel node.
    fn of_wall(&self, time: Duration) -> String {
        if self.wall.is_zero() {
            return "-".to_owned();
        }
        units::percent(time.as_secs_f64() / self.wall.as_secs_f64())
    }

    fn channel_table(&self) -> Table {
        let mut table = Table::new(&[
            "channel",
            "items",
            "rate",
            "remote",
            "of items",
            "bytes",
            "remote bytes",
            "capacity",
            "peak",
            "mean",
            "left over",
            "consumer waited",
            "producer waited",
        ]);
        for (id, stats) in self.graph.channel_ids().zip(&self.channels) {
            table.row(vec![
                shown(self.graph.channel_name(id)).to_string(),
                stats.items.to_string(),
                units::rate(self.rate(id)),
                stats.remote.to_string(),
                known(stats.remote_share(), units::percent),
                units::format_bytes(stats.bytes),
                units::format_bytes(stats.remote_bytes()),
                stats.capacity.to_string(),
                known(stats.peak, units::items),
                known(stats.mean, units::items),
                stats.leftover.to_string(),
                self.of_wall(stats.consumer_waited),
                self.of_wall(stats.producer_waited),
            ]);
        }
        table
    }

    /// What weighed channels have held.
    fn write_held(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = |(_, stats): &(ChannelId, &ChannelReport)| stats.peak_bytes > 0;
        let mut channels = self.graph.channel_ids().zip(&self.channels).filter(held).peekable();
        if channels.peek().is_some() {
            writeln!(f)?;
        }
        for (id, stats) in channels {
            let name = self.graph.channel_name(id);
            writeln!(f, "{} held at most {}", shown(name), units::format_bytes(stats.peak_bytes))?;
        }
        Ok(())
    }

    fn write_growths(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.growths.is_empty() {
            writeln!(f)?;
        }
        for growth in &self.growths {
            let name = self.graph.channel_name(growth.channel);
            let (name, from, to) = (shown(name), growth.from, growth.to);
            writeln!(f, "grew {name} from {from} to {to} {} after {}", growth.limit, units::time(growth.at))?;
        }
        Ok(())
    }

    fn write_notes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.notes.is_empty() {
            writeln!(f)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {}", shown(note)))
    }
}

fn worker_row(name: String, times: impl Iterator<Item = String>, counts: &WorkerReport) -> Vec<String> {
    let WorkerReport { activations, refused, steal_attempts, steals, spins, parks, .. } = *counts;
    let counts = [activations, refused, steal_attempts, steals, spins, parks].map(|count| count.to_string());
    [name].into_iter().chain(times).chain(counts).collect()
}

/// What is known of the state of a node.
fn state(footprint: Footprint) -> String {
    let bytes = units::format_bytes(footprint.bytes());
    match footprint {
        Footprint::AtLeast(0) => "-".to_owned(),
        Footprint::AtLeast(_) => format!(">= {bytes}"),
        _ => bytes,
    }
}

/// A quantity that may be unknown.
fn known<T>(quantity: Option<T>, show: impl Fn(T) -> String) -> String {
    quantity.map_or("-".to_owned(), show)
}
