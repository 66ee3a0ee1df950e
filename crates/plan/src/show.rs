//! Prints a plan as text.

use crate::{Plan, escape::escape};
use std::fmt;
use thalweg_graph::{ChannelId, GraphData};

/// The first line of the text form. The number changes when older readers would misread the text.
pub(crate) const HEADER: &str = "thalweg-plan 1";

impl fmt::Display for Plan {
    /// Writes the text form that [`str::parse`] reads.
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
    writeln!(f, "threads {}", plan.threads)?;
    writeln!(f, "policy {}", escape(&plan.policy))?;
    if let Some(bytes) = plan.budget {
        writeln!(f, "budget {bytes} bytes")?;
    }
    let node = |i: usize| graph.and_then(|g| g.nodes().get(i)).map(|n| n.name.to_string());
    for (i, run) in plan.run.iter().enumerate() {
        writeln!(f, "node {i} run {run}{}", comment(node(i)))?;
    }
    let channel = |i: usize| {
        let known = graph.filter(|g| i < g.channels().len());
        known.map(|g| g.channel_name(ChannelId(i as u32)))
    };
    for (i, capacity) in plan.capacities.iter().enumerate() {
        writeln!(f, "channel {i} capacity {capacity}{}", comment(channel(i)))?;
    }
    for raised in &plan.raised {
        writeln!(f, "raised {} from {} to {}", raised.channel.0, raised.asked, raised.given)?;
    }
    Ok(())
}

fn comment(name: Option<String>) -> String {
    // Escaped because a newline in a name would end the comment.
    name.map_or_else(String::new, |name| format!("  # {}", name.escape_debug()))
}
