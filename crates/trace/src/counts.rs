//! What parallel loops and task graphs count.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;
use thalweg_graph::data;

data! {
    /// The counts of one loop or task graph, or of several, by member.
    ///
    /// The *members* are the threads that may execute them: in a firing the workers of the run, by their numbers; in a firing
    /// of a node with a thread of its own that thread, which is member 0, and threads of the process's pool. A task graph with
    /// fewer members than its team numbers them for itself in its result, and in a report they have the team's numbers.
    ///
    /// ```
    /// use thalweg_trace::{Counts, MemberCounts};
    ///
    /// let mut counts = Counts::default();
    /// let mut member = MemberCounts::default();
    /// (*member.nodes_mut(), *member.accesses_mut(), *member.remote_mut()) = (10, 40, 1);
    /// *counts.members_mut() = vec![member, MemberCounts::default(), member];
    /// assert_eq!(counts.total().nodes(), 20);
    /// assert_eq!(counts.total().remote_share(), Some(0.025));
    /// ```
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Counts {
        /// One for each member, by its number. A member that has not begun has zeros.
        view members: Vec<MemberCounts> => &[MemberCounts], members_mut;
    }
}

data! {
    /// The counts of one member, or of all.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct MemberCounts {
        /// Loops that the member has called.
        copy loops: u64, loops_mut;
        /// Task graphs that the member has called.
        copy graphs: u64, graphs_mut;
        /// Times that the member has begun to take part in a loop or a task graph, those that it has called included. A member
        /// that runs out of work may leave and begin again.
        copy joins: u64, joins_mut;
        /// Iterations of loops. Those of a range whose body has panicked are missing.
        copy iterations: u64, iterations_mut;
        /// Nodes of task graphs that the member has computed.
        copy nodes: u64, nodes_mut;
        /// Successful attempts to steal, coloured ones included. One attempt may take several tasks or iterations.
        copy steals: u64, steals_mut;
        /// Successful coloured attempts. Iterations have no colours.
        copy coloured_steals: u64, coloured_steals_mut;
        /// Attempts to steal, failed and coloured ones included. In a loop, attempts at a member that had iterations left.
        copy attempts: u64, attempts_mut;
        /// Coloured attempts, failed ones included.
        copy coloured_attempts: u64, coloured_attempts_mut;
        /// Accesses of task graphs, as the paper counts them (*Locality-aware concurrency platforms*, section 5.5.2): one for
        /// each node computed and one for each of its predecessors, if these have colours. Counted only where the graph's
        /// options describe the memory domains.
        copy accesses: u64, accesses_mut;
        /// Of the accesses, those where the colour of the node or the predecessor is the number of no member in this member's
        /// memory domain.
        copy remote: u64, remote_mut;
    }
}

impl Counts {
    /// The sums over all members.
    pub fn total(&self) -> MemberCounts {
        self.members.iter().copied().sum()
    }

    /// The number of members that have taken part.
    pub fn helpers(&self) -> usize {
        self.members.iter().filter(|member| member.joins > 0).count()
    }

    /// Adds counts to those of a member.
    pub fn add(&mut self, member: usize, counts: MemberCounts) {
        if self.members.len() <= member {
            self.members.resize(member + 1, MemberCounts::default());
        }
        self.members[member] = self.members[member] + counts;
    }
}

/// The number of counts of a member.
const FIELDS: usize = 11;

impl MemberCounts {
    /// Counts an attempt to steal, and whether it was coloured and successful.
    #[inline]
    pub fn attempt(&mut self, coloured: bool, stole: bool) {
        self.attempts += 1;
        self.coloured_attempts += u64::from(coloured);
        self.steals += u64::from(stole);
        self.coloured_steals += u64::from(coloured && stole);
    }

    /// The remote accesses as a fraction of all accesses; `None` if none were counted.
    pub fn remote_share(&self) -> Option<f64> {
        (self.accesses > 0).then(|| self.remote as f64 / self.accesses as f64)
    }

    /// What was counted since `earlier`, a copy of these counts.
    #[must_use]
    pub fn since(self, earlier: MemberCounts) -> MemberCounts {
        self.with(earlier, u64::saturating_sub)
    }

    fn with(self, other: MemberCounts, combine: impl Fn(u64, u64) -> u64) -> MemberCounts {
        let (mut all, others) = (self.fields(), other.fields());
        all.iter_mut().zip(others).for_each(|(one, other)| *one = combine(*one, other));
        MemberCounts::of(all)
    }

    /// All counts, in one order.
    fn fields(&self) -> [u64; FIELDS] {
        let MemberCounts { loops, graphs, joins, iterations, nodes, .. } = *self;
        let MemberCounts { steals, coloured_steals, attempts, coloured_attempts, accesses, remote, .. } =
            *self;
        [
            loops,
            graphs,
            joins,
            iterations,
            nodes,
            steals,
            coloured_steals,
            attempts,
            coloured_attempts,
            accesses,
            remote,
        ]
    }

    /// The counts in the order of [`MemberCounts::fields`].
    fn of(counts: [u64; FIELDS]) -> MemberCounts {
        let [loops, graphs, joins, iterations, nodes, steals, coloured_steals, ..] = counts;
        let [.., attempts, coloured_attempts, accesses, remote] = counts;
        MemberCounts {
            loops,
            graphs,
            joins,
            iterations,
            nodes,
            steals,
            coloured_steals,
            attempts,
            coloured_attempts,
            accesses,
            remote,
        }
    }
}

impl Add for MemberCounts {
    type Output = MemberCounts;

    fn add(self, other: MemberCounts) -> MemberCounts {
        self.with(other, u64::saturating_add)
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
        writeln!(f, "member iterations      nodes   steals coloured attempts coloured accesses   remote")?;
        for (member, counts) in self.members.iter().enumerate() {
            writeln!(f, "{member:>6} {counts}")?;
        }
        write!(f, "   all {}", self.total())
    }
}

impl fmt::Display for MemberCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MemberCounts { iterations, nodes, steals, coloured_steals, attempts, coloured_attempts, .. } =
            self;
        let MemberCounts { accesses, remote, .. } = self;
        write!(
            f,
            "{iterations:>10} {nodes:>10} {steals:>8} {coloured_steals:>8} {attempts:>8} {coloured_attempts:>8} {accesses:>8} {remote:>8}"
        )
    }
}
