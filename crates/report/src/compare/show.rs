//! Prints a comparison as text.

use super::{Change, ChannelChange, Comparison, NodeChange};
use std::cmp::Reverse;
use std::fmt;
use std::time::Duration;
use thalweg_graph::shown;
use thalweg_trace::{WorkerReport, table::Table, units};

/// The most nodes, channels or names that are printed of each kind.
const SHOWN: usize = 10;

/// The most nodes whose waits are printed.
const SHOWN_WAITS: usize = 5;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_settings(f)?;
        writeln!(
            f,
            "wall time {}, ratio {}",
            self.wall.map(|wall| units::time(*wall)),
            ratio(self.wall.ratio())
        )?;
        write!(f, "\n{}", self.time_table())?;
        self.write_steals(f)?;
        self.write_nodes(f)?;
        self.write_waits(f)?;
        self.write_channels(f)?;
        self.write_others(f)
    }
}

impl fmt::Display for Change<String> {
    /// Writes one text where both are equal, otherwise `before -> after`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.before == self.after {
            f.write_str(&self.after)
        } else {
            write!(f, "{} -> {}", self.before, self.after)
        }
    }
}

impl Comparison {
    /// Writes the settings that differ: the times below may differ for that reason alone.
    fn write_settings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.policy.before != self.policy.after {
            writeln!(f, "policy {}", self.policy.map(|policy| shown(policy).to_string()))?;
        }
        if self.threads.before != self.threads.after {
            writeln!(f, "threads {}", self.threads.map(usize::to_string))?;
        }
        Ok(())
    }

    fn time_table(&self) -> Table {
        let mut table = Table::new(&["time of workers", "before", "after"]);
        for (i, category) in WorkerReport::CATEGORIES.into_iter().enumerate() {
            let share = self.breakdown.map(|breakdown| units::percent(breakdown[i]));
            table.row(vec![category.to_owned(), share.before, share.after]);
        }
        table
    }

    fn write_steals(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steals.before == self.steals.after {
            return Ok(());
        }
        let [attempts, steals] = [0, 1].map(|i| self.steals.map(|counts| counts[i].to_string()));
        writeln!(f, "\nsteal attempts {attempts}, steals {steals}")
    }

    /// Writes the waits of the nodes whose waits differ most. Nothing where none differs, as between reports of versions
    /// that did not measure them.
    fn write_waits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differs = |change: &&NodeChange| change.waited.before != change.waited.after;
        let mut changed: Vec<&NodeChange> = self.nodes.iter().filter(differs).collect();
        if changed.is_empty() {
            return Ok(());
        }
        changed.sort_by_key(|change| Reverse(change.waited.after.abs_diff(change.waited.before)));
        let mut table = Table::new(&["node", "waited", "longest for"]);
        changed.iter().take(SHOWN_WAITS).for_each(|change| table.row(wait_row(change)));
        write!(f, "\n{table}")
    }

    fn write_nodes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed: Vec<&NodeChange> = self.nodes.iter().filter(|change| change.differs()).collect();
        let mut table = Table::new(&["node", "firings", "busy", "per firing", "ratio", "deviation"]);
        changed.iter().take(SHOWN).for_each(|change| table.row(node_row(change)));
        write_table(f, &table, changed.len(), "nodes")
    }

    fn write_channels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let changed: Vec<&ChannelChange> =
            self.channels.iter().filter(|change| change.factor() > 1.0).collect();
        let mut table = Table::new(&["channel", "capacity", "mean"]);
        changed.iter().take(SHOWN).for_each(|change| table.row(channel_row(change)));
        write_table(f, &table, changed.len(), "channels")
    }

    fn write_others(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write_names(&mut text, "nodes", &self.other_nodes)?;
        write_names(&mut text, "channels", &self.other_channels)?;
        if text.is_empty() { Ok(()) } else { write!(f, "\n{text}") }
    }
}

fn node_row(change: &NodeChange) -> Vec<String> {
    let NodeChange { name, node, .. } = change;
    let each = |time: &Option<_>| time.map_or("-".to_owned(), units::time);
    let deviation = |variance: &f64| units::time(Duration::from_nanos(variance.sqrt().round() as u64));
    vec![
        shown(name).to_string(),
        node.map(|node| node.firings().to_string()).to_string(),
        node.map(|node| units::time(node.busy())).to_string(),
        change.per_firing().map(each).to_string(),
        ratio(change.ratio()),
        change.variance().map_or("-".to_owned(), |variance| variance.map(deviation).to_string()),
    ]
}

fn wait_row(NodeChange { name, waited, longest_wait, .. }: &NodeChange) -> Vec<String> {
    vec![
        shown(name).to_string(),
        waited.map(|waited| units::time(*waited)).to_string(),
        longest_wait.map(|cause| cause.clone().unwrap_or("nothing".to_owned())).to_string(),
    ]
}

fn channel_row(ChannelChange { name, channel }: &ChannelChange) -> Vec<String> {
    vec![
        shown(name).to_string(),
        channel.map(|channel| channel.capacity().to_string()).to_string(),
        channel.map(|channel| channel.mean().map_or("-".to_owned(), units::items)).to_string(),
    ]
}

/// Writes a table of those of `changed` entries that changed most, and the number of the others.
fn write_table(f: &mut fmt::Formatter<'_>, table: &Table, changed: usize, of: &str) -> fmt::Result {
    match changed {
        0 => return writeln!(f, "\nno changes of {of}"),
        _ => write!(f, "\n{table}")?,
    }
    if changed > SHOWN {
        writeln!(f, "and {} more {of} that changed less", changed - SHOWN)?;
    }
    Ok(())
}

/// Writes the names that only one of the reports has.
fn write_names(f: &mut impl fmt::Write, of: &str, names: &Change<Vec<String>>) -> fmt::Result {
    for (report, names) in [("first", &names.before), ("second", &names.after)] {
        if names.is_empty() {
            continue;
        }
        let quoted = names.iter().take(SHOWN).map(|name| format!("`{}`", shown(name)));
        write!(f, "{of} of the {report} report alone: {}", quoted.collect::<Vec<_>>().join(", "))?;
        if names.len() > SHOWN {
            write!(f, " and {} more", names.len() - SHOWN)?;
        }
        writeln!(f)?;
    }
    Ok(())
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), units::ratio)
}
