//! Prints a plan as text.
//!
//! ```text
//! thalweg-plan 2
//! graph 5f3a0c1d2e4b6978 nodes 3 channels 2
//! threads 2
//! policy auto
//! mapper seg-both                               with a mapper
//! note 1 of 3 stages needs more than the cache  a remark of the mapper
//! budget 1048576 bytes                          with a budget
//! batch 16384
//! window 32
//! held 67108864 bytes
//! kept 134217728 bytes
//! node 0 claim 512 own-thread  # read
//! node 1 claim 64 replicas 2  # decode
//! node 2 claim 512 worker 1  # print
//! node 3 claim 64 workers 2 3  # check         a parallel node with workers of its own
//! node 4 claim 64 workers 0 1 shares 3 1  # sort   and with what part of the items each of them takes
//! channel 0 capacity 2048 slots 32768  # read.out -> decode.in
//! channel 1 capacity 16 bytes 65536  # decode.out -> print.in
//! raised 1 from 8 to 16                         a capacity of the user that was too small
//! segment 1 2
//! region 1 2
//! ```
//!
//! What follows `claim N` and `capacity N` is printed where it is decided.

use crate::Plan;
use crate::escape::{escape, escape_line};
use std::fmt;
use thalweg_graph::{ChannelId, GraphData, NodeId, without_mark};

/// The first line of the text form. The number changes when older readers would misread the text.
pub(crate) const HEADER: &str = "thalweg-plan 2";

impl fmt::Display for Plan {
    /// Writes the text form that [`str::parse`] and [`Plan::read`] read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, None, f)
    }
}

/// A plan that prints the names of nodes and channels as comments. Made by [`Plan::on`]. The text reads back as
/// the same plan.
#[derive(Clone, Copy, Debug)]
pub struct Annotated<'a> {
    plan: &'a Plan,
    graph: &'a GraphData,
}

impl Plan {
    /// Whether a text, or its first line, has the mark of a plan. [`Plan::read`] may refuse it nevertheless.
    ///
    /// ```
    /// use thalweg_plan::Plan;
    ///
    /// assert!(Plan::is_text("thalweg-plan 2\n") && !Plan::is_text("# my notes\n"));
    /// ```
    pub fn is_text(text: &str) -> bool {
        without_mark(text).split_whitespace().next() == HEADER.split_whitespace().next()
    }

    /// The plan, to print with the names of nodes and channels of `graph`.
    pub fn on<'a>(&'a self, graph: &'a GraphData) -> Annotated<'a> {
        Annotated { plan: self, graph }
    }
}

impl fmt::Display for Annotated<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.plan, Some(self.graph), f)
    }
}

fn write(plan: &Plan, graph: Option<&GraphData>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "{HEADER}")?;
    writeln!(f, "graph {}", plan.graph)?;
    writeln!(f, "threads {}", plan.threads)?;
    writeln!(f, "policy {}", escape(&plan.policy))?;
    option(f, "mapper ", plan.mapper.as_deref().map(escape), "\n")?;
    plan.notes.iter().try_for_each(|note| writeln!(f, "note {}", escape_line(note)))?;
    option(f, "budget ", plan.budget, " bytes\n")?;
    writeln!(f, "batch {}", plan.batch)?;
    writeln!(f, "window {}", plan.window)?;
    writeln!(f, "held {} bytes", plan.held)?;
    writeln!(f, "kept {} bytes", plan.kept)?;
    nodes(plan, graph, f)?;
    channels(plan, graph, f)?;
    for raised in &plan.raised {
        writeln!(f, "raised {} from {} to {}", raised.channel.0, raised.asked, raised.given)?;
    }
    sets("segment", &plan.segments, f)?;
    sets("region", &plan.regions, f)
}

fn nodes(plan: &Plan, graph: Option<&GraphData>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = |i: usize| graph.and_then(|g| g.nodes().get(i)).map(|n| n.name().to_string());
    for (i, claim) in plan.claim_lengths.iter().enumerate() {
        let id = NodeId(i as u32);
        write!(f, "node {i} claim {claim}")?;
        option(f, " replicas ", plan.replicas.get(&id), "")?;
        option(f, " worker ", plan.affinity.get(&id), "")?;
        for (word, list) in [(" workers", plan.pools.get(&id)), (" shares", plan.shares.get(&id))] {
            let Some(list) = list else { continue };
            f.write_str(word)?;
            list.iter().try_for_each(|number| write!(f, " {number}"))?;
        }
        f.write_str(if plan.own_threads.contains(&id) { " own-thread" } else { "" })?;
        writeln!(f, "{}", comment(name(i)))?;
    }
    Ok(())
}

fn channels(plan: &Plan, graph: Option<&GraphData>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, capacity) in plan.capacities.iter().enumerate() {
        let id = ChannelId(i as u32);
        let known = graph.filter(|g| i < g.channels().len());
        write!(f, "channel {i} capacity {capacity}")?;
        option(f, " slots ", plan.slots.get(&id), "")?;
        option(f, " bytes ", plan.byte_limits.get(&id), "")?;
        writeln!(f, "{}", comment(known.map(|g| g.channel_name(id))))?;
    }
    Ok(())
}

fn sets(word: &str, sets: &[Vec<NodeId>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for set in sets {
        f.write_str(word)?;
        set.iter().try_for_each(|node| write!(f, " {}", node.0))?;
        writeln!(f)?;
    }
    Ok(())
}

/// Writes a value, if there is one, between two texts.
fn option(
    f: &mut fmt::Formatter<'_>,
    before: &str,
    value: Option<impl fmt::Display>,
    after: &str,
) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, "{before}{value}{after}"))
}

fn comment(name: Option<String>) -> String {
    // Escaped because a newline in a name would end the comment.
    name.map_or_else(String::new, |name| format!("  # {}", name.escape_debug()))
}
