//! Printing of schedules.
//!
//! ```text
//! region 0
//!  repetitions
//!   Main.Source 4
//!   Main.Sum 1
//!  init
//!   Main.Source 2
//!  steady
//!   Main.Source 4
//!   Main.Sum 1
//! buffers
//!   Main.Source -> Main.Sum: 6
//! ```
//!
//! Repetitions are the firings of each node in a steady state. A channel between regions is a `queue`.

use super::{Phase, Region, Schedule};
use std::fmt::{self, Display, Formatter};
use thalweg_graph::GraphData;

impl Schedule {
    /// The schedule of a graph as text.
    pub fn show<'a>(&'a self, graph: &'a GraphData) -> impl Display + use<'a> {
        Shown { schedule: self, graph }
    }
}

struct Shown<'a> {
    schedule: &'a Schedule,
    graph: &'a GraphData,
}

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, region) in self.schedule.regions.iter().enumerate() {
            writeln!(f, "region {number}")?;
            self.region(region, f)?;
        }
        writeln!(f, "buffers")?;
        for (channel, size) in self.graph.channels().iter().zip(&self.schedule.buffers) {
            let (from, to) =
                (&self.graph.node(channel.from().0).name(), &self.graph.node(channel.to().0).name());
            match size {
                Some(size) => writeln!(f, "  {from} -> {to}: {size}")?,
                None => writeln!(f, "  {from} -> {to}: queue")?,
            }
        }
        Ok(())
    }
}

impl Shown<'_> {
    fn region(&self, region: &Region, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, " repetitions")?;
        for (node, count) in region.nodes.iter().zip(&region.repetitions) {
            writeln!(f, "  {} {count}", self.graph.node(*node).name())?;
        }
        if !region.init.is_empty() {
            writeln!(f, " init")?;
            self.phases(&region.init, 1, f)?;
        }
        writeln!(f, " steady")?;
        self.phases(&region.steady, 1, f)
    }

    fn phases(&self, phases: &[Phase], depth: usize, f: &mut Formatter<'_>) -> fmt::Result {
        for phase in phases {
            write!(f, "{:indent$}", "", indent = 2 * depth)?;
            match phase {
                Phase::Fire(node, count) => writeln!(f, "{} {count}", self.graph.node(*node).name())?,
                Phase::Repeat(count, phases) => {
                    writeln!(f, "repeat {count}")?;
                    // Repetitions are nested at most twice.
                    self.phases(phases, depth + 1, f)?;
                }
            }
        }
        Ok(())
    }
}
