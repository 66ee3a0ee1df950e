//! What a run counts.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use thalweg_policy::tasks::{Colour, ColourSet};

/// The counts of a run, by member.
///
/// ```
/// use thalweg_tasks::{Options, StaticGraph};
///
/// let graph = &mut StaticGraph::from_edges(3, [(0, 1), (1, 2)]);
/// let counts = graph.run(&Options::new().members(1), |_| {})?;
/// assert_eq!(counts.total().nodes, 3);
/// assert_eq!(counts.total().steals, 0);
/// # Ok::<(), thalweg_tasks::Error<u32>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// One for each member, by its number. A member that has not begun has zeros.
    pub members: Vec<MemberCounts>,
}

/// The counts of one member, or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberCounts {
    /// Nodes that the member has computed.
    pub nodes: u64,
    /// Successful attempts to steal, coloured ones included. One attempt may take several entries.
    pub steals: u64,
    /// Successful coloured attempts.
    pub coloured_steals: u64,
    /// Attempts to steal, failed and coloured ones included.
    pub attempts: u64,
    /// Coloured attempts, failed ones included.
    pub coloured_attempts: u64,
    /// Accesses, as the paper counts them (section 5.5.2): one for each node computed and one for each of its predecessors,
    /// if these have colours. Counted only with [`Options::domains`](crate::Options::domains).
    pub accesses: u64,
    /// Of the accesses, those where the colour of the node or the predecessor is the number of no member in this member's
    /// memory domain.
    pub remote: u64,
}

impl Counts {
    /// The sums over all members.
    pub fn total(&self) -> MemberCounts {
        self.members.iter().copied().sum()
    }
}

impl MemberCounts {
    pub(crate) fn attempt(&mut self, coloured: bool, stole: bool) {
        self.attempts += 1;
        self.coloured_attempts += u64::from(coloured);
        self.steals += u64::from(stole);
        self.coloured_steals += u64::from(coloured && stole);
    }
}

impl MemberCounts {
    /// Counts an access to data of this colour by a member of a domain with these colours.
    pub(crate) fn access(&mut self, colour: Option<Colour>, domain: &ColourSet) {
        if let Some(colour) = colour {
            self.accesses += 1;
            self.remote += u64::from(!domain.contains(colour));
        }
    }
}

impl Add for MemberCounts {
    type Output = MemberCounts;

    fn add(self, other: MemberCounts) -> MemberCounts {
        MemberCounts {
            nodes: self.nodes + other.nodes,
            steals: self.steals + other.steals,
            coloured_steals: self.coloured_steals + other.coloured_steals,
            attempts: self.attempts + other.attempts,
            coloured_attempts: self.coloured_attempts + other.coloured_attempts,
            accesses: self.accesses + other.accesses,
            remote: self.remote + other.remote,
        }
    }
}

impl Sum for MemberCounts {
    fn sum<I: Iterator<Item = MemberCounts>>(counts: I) -> MemberCounts {
        counts.fold(MemberCounts::default(), Add::add)
    }
}

impl fmt::Display for Counts {
    /// A table with a row for each member and one for their sums.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "member      nodes   steals coloured attempts coloured accesses   remote")?;
        for (member, counts) in self.members.iter().enumerate() {
            writeln!(f, "{member:>6} {counts}")?;
        }
        write!(f, "   all {}", self.total())
    }
}

impl fmt::Display for MemberCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemberCounts { nodes, steals, coloured_steals, attempts, coloured_attempts, accesses, remote } =
            self;
        write!(
            f,
            "{nodes:>10} {steals:>8} {coloured_steals:>8} {attempts:>8} {coloured_attempts:>8} {accesses:>8} {remote:>8}"
        )
    }
}
