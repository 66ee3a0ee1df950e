//! The text of the live view: a table of nodes and channels that fits into a terminal, or a line.
//!
//! Names are escaped, so a terminal obeys none of them. All text is ASCII but the names.

use thalweg::embed::graph::{ChannelId, NodeId, shown};
use thalweg::embed::trace::Rates;
use thalweg::trace::{Cause, NodeStatus, Snapshot};

use super::screen::Size;

/// The most nodes that a line names.
const NAMED: usize = 8;

/// The table: at most `rows - 1` lines of at most `columns - 1` characters.
pub(crate) fn table(now: &Snapshot, rates: &Rates, size: Size) -> Vec<String> {
    let (width, mut rows) = (size.columns.saturating_sub(1), size.rows.saturating_sub(1));
    let mut lines = vec![head(now)];
    rows = rows.saturating_sub(1);
    let (nodes, channels) = (now.nodes().len(), now.channels().len());
    // Each part has a heading. If they do not fit, the nodes have half of the rows, or more if the channels need less.
    let for_channels = (channels + 1).min(rows.saturating_sub(nodes + 1).max(rows / 2));
    let for_nodes = rows.saturating_sub(for_channels);
    lines.extend(node_table(now, rates, width, for_nodes));
    lines.extend(channel_table(now, rates, width, for_channels));
    lines.truncate(size.rows.saturating_sub(1));
    lines.into_iter().map(|line| clipped(&line, width)).collect()
}

/// A line with the rates of the most active nodes.
pub(crate) fn line(now: &Snapshot, rates: &Rates) -> String {
    let shown = by_activity(now, rates).into_iter().take(NAMED);
    let node = |id: NodeId| {
        let (rate, state) = (rates.nodes()[id.index()], state(now, id));
        format!("{} {}/s {} {state}", name(now, id), short(rate.firings()), percent(rate.busy()))
    };
    let mut parts: Vec<String> = [head(now)].into_iter().chain(shown.map(node)).collect();
    if now.nodes().len() > NAMED {
        parts.push(format!("{} more nodes", now.nodes().len() - NAMED));
    }
    parts.join("; ")
}

/// The time, and what concerns the whole run.
fn head(now: &Snapshot) -> String {
    let s = |count: u64| if count == 1 { "" } else { "s" };
    let mut text = format!(
        "{:.1} s, {} worker{}, {} asleep",
        now.at().as_secs_f64(),
        now.workers(),
        s(now.workers() as u64),
        now.asleep()
    );
    if now.growths() > 0 {
        text.push_str(&format!(", {} growth{}", now.growths(), s(now.growths())));
    }
    text
}

/// The heading and the nodes: in the order of the graph if they fit into the rows, otherwise the most active first.
fn node_table(now: &Snapshot, rates: &Rates, width: usize, rows: usize) -> Vec<String> {
    let all = now.nodes().len();
    let (ids, more) = chosen(all, rows, || by_activity(now, rates), || now.graph().node_ids().collect());
    let names: Vec<String> = ids.iter().map(|id| name(now, *id)).collect();
    let column = widest(names.iter().map(String::as_str).chain(["node"]), width / 3);
    let (rate_head, rate_width) = if width < 60 { ("/s", 5) } else { ("firings/s", 9) };
    let rest = width.saturating_sub(column + rate_width + 11);
    let long: Vec<String> = ids.iter().map(|id| now.describe(*id)).collect();
    let fits = long.iter().all(|state| state.chars().count() <= rest);
    let mut lines = vec![format!("{:<column$}  {rate_head:>rate_width$}  {:>5}  state", "node", "busy")];
    for ((id, name), long) in ids.iter().zip(&names).zip(long) {
        let rate = rates.nodes()[id.index()];
        let (name, busy) = (clipped(name, column), percent(rate.busy()));
        let state = if fits { long } else { state(now, *id) };
        lines.push(format!("{name:<column$}  {:>rate_width$}  {busy:>5}  {state}", short(rate.firings())));
    }
    lines.extend(more.map(|more| format!("{more} more nodes")));
    lines
}

/// The heading and the channels: in the order of the graph if they fit into the rows, otherwise the fullest first.
fn channel_table(now: &Snapshot, rates: &Rates, width: usize, rows: usize) -> Vec<String> {
    let all = now.channels().len();
    if all == 0 {
        return Vec::new();
    }
    let (ids, more) = chosen(all, rows, || by_fill(now, rates), || now.graph().channel_ids().collect());
    let names: Vec<String> = ids.iter().map(|id| shown(now.graph().channel_name(*id)).to_string()).collect();
    let level = |id: &ChannelId| {
        let channel = now.channels()[id.index()];
        format!("{}/{}", short(channel.items() as f64), short(channel.capacity() as f64))
    };
    let levels: Vec<String> = ids.iter().map(level).collect();
    let levels_width = widest(levels.iter().map(String::as_str).chain(["items"]), width);
    let bar = if width < 60 { 5 } else { 10 };
    let column = width.saturating_sub(bar + levels_width + 17);
    let column = widest(names.iter().map(String::as_str).chain(["channel"]), column);
    let head = format!(
        "{:<column$}  {:<b$}  {:>levels_width$}  {:>9}",
        "channel",
        "",
        "items",
        "items/s",
        b = bar + 2
    );
    let mut lines = vec![clipped(&head, width)];
    for ((id, name), level) in ids.iter().zip(&names).zip(&levels) {
        let (channel, name) = (now.channels()[id.index()], clipped(name, column));
        let full = fill(channel.items(), channel.capacity(), bar);
        let rate = short(rates.channels()[id.index()]);
        lines.push(format!("{name:<column$}  [{full}]  {level:>levels_width$}  {rate:>9}"));
    }
    lines.extend(more.map(|more| format!("{more} more channels")));
    lines
}

/// The ids to show in `rows` rows, one of which is a heading, and the number of those left out if there are any; they then
/// take a row too.
fn chosen<T>(
    all: usize,
    rows: usize,
    ranked: impl FnOnce() -> Vec<T>,
    in_order: impl FnOnce() -> Vec<T>,
) -> (Vec<T>, Option<usize>) {
    if all < rows {
        return (in_order(), None);
    }
    let mut ids = ranked();
    ids.truncate(rows.saturating_sub(2));
    let more = all - ids.len();
    (ids, Some(more))
}

/// The nodes by busy share; of those that were not busy, first what runs or is ready, then what waits, then what has ended.
fn by_activity(now: &Snapshot, rates: &Rates) -> Vec<NodeId> {
    let rank = |id: &NodeId| match now.nodes()[id.index()].status() {
        NodeStatus::Running | NodeStatus::Ready => 0,
        NodeStatus::Ended => 2,
        _ => 1,
    };
    let busy = |id: &NodeId| rates.nodes()[id.index()].busy();
    let mut ids: Vec<NodeId> = now.graph().node_ids().collect();
    ids.sort_by(|a, b| busy(b).total_cmp(&busy(a)).then(rank(a).cmp(&rank(b))));
    ids
}

/// The channels, the fullest first.
fn by_fill(now: &Snapshot, rates: &Rates) -> Vec<ChannelId> {
    let level = |id: &ChannelId| {
        let channel = now.channels()[id.index()];
        channel.items() as f64 / channel.capacity().max(1) as f64
    };
    let rate = |id: &ChannelId| rates.channels()[id.index()];
    let mut ids: Vec<ChannelId> = now.graph().channel_ids().collect();
    ids.sort_by(|a, b| level(b).total_cmp(&level(a)).then(rate(b).total_cmp(&rate(a))));
    ids
}

/// What a node does, in a few words.
fn state(now: &Snapshot, node: NodeId) -> String {
    match now.nodes()[node.index()].status() {
        NodeStatus::Running => "runs".to_owned(),
        NodeStatus::Ready => "ready".to_owned(),
        NodeStatus::Ended => "ended".to_owned(),
        NodeStatus::Waits(Cause::Outside) => "waits for the outside".to_owned(),
        _ => now.blocked_by(node).map_or("waits".to_owned(), |by| format!("waits for {}", name(now, by))),
    }
}

/// The name of a node, escaped.
fn name(now: &Snapshot, node: NodeId) -> String {
    shown(now.graph().node(node).name()).to_string()
}

/// A bar of `width` characters. It shows something if the channel has an item, and a gap unless it is full.
fn fill(items: usize, capacity: usize, width: usize) -> String {
    let share = items as f64 / capacity.max(1) as f64;
    let full = match items {
        0 => 0,
        _ if items >= capacity => width,
        _ => ((share * width as f64) as usize).clamp(1, width - 1),
    };
    format!("{}{}", "#".repeat(full), "-".repeat(width - full))
}

/// The number of characters of the longest text, at most `most`.
fn widest<'a>(texts: impl IntoIterator<Item = &'a str>, most: usize) -> usize {
    texts.into_iter().map(|text| text.chars().count()).max().unwrap_or(0).min(most)
}

/// The text, cut to `width` characters.
fn clipped(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let dots = width.min(2);
    text.chars().take(width - dots).chain(".".repeat(dots).chars()).collect()
}

/// A number in at most five characters, up to 999T.
fn short(value: f64) -> String {
    let (mut value, mut unit) = (value, "");
    for next in ["k", "M", "G", "T"] {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    let whole = value >= 99.95 || value.fract() == 0.0;
    if whole { format!("{value:.0}{unit}") } else { format!("{value:.1}{unit}") }
}

/// A share in per cent.
fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::time::Duration;
    use thalweg::embed::graph::{InPort, Item, Link, OutPort};
    use thalweg::graph::{GraphData, Node};

    /// A chain of `count` nodes, of which node `i` has fired `i` times 1000 in a second.
    fn chain(count: usize, name: impl Fn(usize) -> String) -> (Snapshot, Rates) {
        let mut graph = GraphData::new();
        let (item, mut last) = (Item::of::<u8>(), None);
        for i in 0..count {
            let node =
                Node::sequential(name(i)).input(InPort::new("in", item)).output(OutPort::new("out", item));
            let node = graph.add(node);
            if let Some(last) = last.replace(node) {
                graph.connect((last, 0), (node, 0), Link::default()).unwrap();
            }
        }
        let start = Snapshot::new(Arc::new(graph));
        let mut now = start.clone();
        (*now.at_mut(), *now.workers_mut()) = (Duration::from_secs(1), 2);
        for (i, node) in now.nodes_mut().iter_mut().enumerate() {
            (*node.firings_mut(), *node.busy_mut()) = (1000 * i as u64, Duration::from_millis(i as u64));
            *node.status_mut() = if i == 0 {
                NodeStatus::Running
            } else {
                NodeStatus::Waits(Cause::Items(ChannelId(i as u32 - 1)))
            };
        }
        for (i, channel) in now.channels_mut().iter_mut().enumerate() {
            (*channel.items_mut(), *channel.capacity_mut(), *channel.pushed_mut()) = (i, 2 * count, 10);
        }
        let rates = now.since(&start);
        (now, rates)
    }

    #[test]
    fn a_graph_that_fits_is_shown_in_its_order() {
        let (now, rates) = chain(3, |i| ["read", "hash", "write"][i].to_owned());
        let lines = table(&now, &rates, Size { columns: 80, rows: 24 });
        assert_eq!(
            lines,
            [
                "1.0 s, 2 workers, 0 asleep",
                "node   firings/s   busy  state",
                "read           0    0 %  runs",
                "hash          1k    0 %  waits for items of read.out",
                "write         2k    0 %  waits for items of hash.out",
                "channel                             items    items/s",
                "read.out -> hash.in   [----------]    0/6         10",
                "hash.out -> write.in  [#---------]    1/6         10",
            ]
        );
    }

    #[test]
    fn a_table_never_exceeds_the_terminal() {
        for count in [1, 3, 10, 100] {
            let (now, rates) = chain(count, |i| format!("a node with a long name {i} \u{1b}[2J\n"));
            for columns in [1, 2, 10, 20, 40, 80, 200] {
                for rows in [1, 2, 3, 5, 8, 24, 300] {
                    let lines = table(&now, &rates, Size { columns, rows });
                    assert!(lines.len() < rows.max(2), "{} lines of {rows}", lines.len());
                    for line in &lines {
                        assert!(line.chars().count() < columns.max(2), "{columns}: {line}");
                        assert!(!line.contains(['\u{1b}', '\n']), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_most_active_nodes_come_first_where_not_all_fit() {
        let (now, rates) = chain(100, |i| format!("node{i}"));
        let lines = table(&now, &rates, Size { columns: 40, rows: 12 });
        assert!(lines[2].starts_with("node99") && lines[2].ends_with("waits for node98"), "{lines:#?}");
        assert!(lines.iter().any(|line| line.starts_with("97 more nodes")), "{lines:#?}");
        assert!(lines.last().unwrap().ends_with("more channels"), "{lines:#?}");
        let line = line(&now, &rates);
        assert!(
            line.contains("node99 99k/s 10 % waits for node98") && line.ends_with("92 more nodes"),
            "{line}"
        );
    }

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.25, 7.0, 99.9, 999.0, 999.9, 1234.0, 45_678.0, 5e8, 2e13].map(short);
        assert_eq!(texts, ["0", "0.2", "7", "99.9", "999", "1.0k", "1.2k", "45.7k", "500M", "20T"]);
    }
}
