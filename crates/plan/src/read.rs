//! Parses a plan from text.
//!
//! Each line has one statement; `show` lists them. `#` starts a comment, and empty lines are skipped. Nodes and channels
//! come in the order of their ids, so the error for a missing or surplus line names that line.
//!
//! Invariant: reading allocates in proportion to the text, and panics for no text.

use crate::passes::threads::MOST_THREADS;
use crate::words::{between, entry, fingerprint, narrow, next, number, numbers, once, unescaped};
use crate::{Fingerprint, Place, Plan, PlanError, Raised, show::HEADER};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use thalweg_graph::{ChannelId, GraphData, NodeId, data, without_mark};

data! {
    /// An error in the text of a plan: a mistake in the text, or something that does not fit the graph.
    #[derive(Clone, PartialEq, Eq)]
    pub struct ReadError {
        /// The line, counted from 1.
        copy line: usize;
        /// The error.
        view what: String => &str;
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan, line {}: {}", self.line, self.what)
    }
}

thalweg_graph::error_type!(ReadError);

impl FromStr for Plan {
    type Err = ReadError;

    /// Parses the text form that a plan prints. [`Plan::read`] also checks the plan against a graph.
    ///
    /// # Errors
    /// The first line is not the header or has another version, a statement is unknown, a number is out of range, a
    /// statement or word is repeated, an id is out of order, or a statement is missing.
    fn from_str(text: &str) -> Result<Plan, ReadError> {
        parse(text).map(|(plan, _)| plan)
    }
}

impl Plan {
    /// Parses the text form that a plan prints, and checks that the plan can run `graph`.
    ///
    /// # Errors
    /// As for [`str::parse`] and [`Plan::check`]; the error names the line in both cases.
    pub fn read(text: &str, graph: &GraphData) -> Result<Plan, ReadError> {
        let (plan, lines) = parse(text)?;
        let in_text = |error: PlanError| ReadError { line: lines.of(error.place), what: error.to_string() };
        plan.check(graph).map_err(in_text).map(|()| plan)
    }
}

impl Place {
    /// The line of this part in the text of a plan, counted from 1: to name the line of an error that was found later
    /// than by [`Plan::read`]. `None` for a text that is no plan.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{Place, Plan, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("a"));
    /// let text = Plan::new(&graph, &Wishes::default()).to_string();
    /// assert_eq!(Place::Policy.line_in(&text), Some(4));
    /// ```
    pub fn line_in(self, text: &str) -> Option<usize> {
        parse(text).ok().map(|(_, lines)| lines.of(self))
    }
}

fn parse(text: &str) -> Result<(Plan, Lines), ReadError> {
    let mut reader = Reader::default();
    let mut last = 0;
    for (i, line) in without_mark(text).lines().enumerate() {
        last = i + 1;
        let line = line.split('#').next().unwrap_or_default().trim();
        if !line.is_empty() {
            reader.at = last;
            reader.line(line).map_err(|what| ReadError { line: last, what })?;
        }
    }
    reader.finish().map_err(|what| ReadError { line: last + 1, what })
}

/// The lines of a plan's parts.
#[derive(Default)]
struct Lines {
    graph: usize,
    threads: usize,
    policy: usize,
    batch: usize,
    window: usize,
    nodes: Vec<usize>,
    channels: Vec<usize>,
    segments: Vec<usize>,
    regions: Vec<usize>,
}

impl Lines {
    fn of(&self, place: Place) -> usize {
        let at = |lines: &[usize], i: usize| lines.get(i).copied().unwrap_or(self.graph);
        match place {
            Place::Fingerprint => self.graph,
            Place::Threads => self.threads,
            Place::Policy => self.policy,
            Place::Batch => self.batch,
            Place::Window => self.window,
            Place::Node(node) => at(&self.nodes, node.index()),
            Place::Channel(channel) => at(&self.channels, channel.index()),
            Place::Segment(i) => at(&self.segments, i),
            Place::Region(i) => at(&self.regions, i),
        }
    }
}

/// The statements read so far.
#[derive(Default)]
struct Reader {
    /// The present line.
    at: usize,
    lines: Lines,
    header: bool,
    graph: Option<Fingerprint>,
    threads: Option<usize>,
    policy: Option<String>,
    mapper: Option<String>,
    notes: Vec<String>,
    budget: Option<usize>,
    batch: Option<usize>,
    window: Option<usize>,
    held: Option<usize>,
    kept: Option<usize>,
    claim_lengths: Vec<usize>,
    replicas: BTreeMap<NodeId, u32>,
    pools: BTreeMap<NodeId, Vec<u32>>,
    shares: BTreeMap<NodeId, Vec<u32>>,
    affinity: BTreeMap<NodeId, u32>,
    own_threads: BTreeSet<NodeId>,
    capacities: Vec<usize>,
    slots: BTreeMap<ChannelId, usize>,
    byte_limits: BTreeMap<ChannelId, usize>,
    raised: Vec<Raised>,
    segments: Vec<Vec<NodeId>>,
    regions: Vec<Vec<NodeId>>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !self.header {
            return self.header(&words);
        }
        match words[..] {
            ["graph", hash, "nodes", nodes, "channels", channels] => {
                self.lines.graph = self.at;
                once(&mut self.graph, fingerprint(hash, nodes, channels)?, "graph")
            }
            ["threads", n] => {
                self.lines.threads = self.at;
                once(&mut self.threads, between(n, 1, MOST_THREADS)?, "threads")
            }
            // A plan may hold an empty name. The registry of policies refuses it.
            ["policy", ref name @ ..] if name.len() < 2 => {
                self.lines.policy = self.at;
                once(
                    &mut self.policy,
                    name.first().map_or(Ok(String::new()), |name| unescaped(name))?,
                    "policy",
                )
            }
            ["mapper", ref name @ ..] if name.len() < 2 => once(
                &mut self.mapper,
                name.first().map_or(Ok(String::new()), |name| unescaped(name))?,
                "mapper",
            ),
            ["note", ref words @ ..] => {
                self.notes.push(unescaped(&words.join(" "))?);
                Ok(())
            }
            ["budget", n, "bytes"] => once(&mut self.budget, number(n)?, "budget"),
            ["batch", n] => {
                self.lines.batch = self.at;
                once(&mut self.batch, number(n)?, "batch")
            }
            ["window", n] => {
                self.lines.window = self.at;
                once(&mut self.window, number(n)?, "window")
            }
            ["held", n, "bytes"] => once(&mut self.held, number(n)?, "held"),
            ["kept", n, "bytes"] => once(&mut self.kept, number(n)?, "kept"),
            ["node", id, "claim", n, ref rest @ ..] => self.node(id, n, rest),
            ["channel", id, "capacity", n, ref rest @ ..] => self.channel(id, n, rest),
            ["raised", id, "from", asked, "to", given] => self.raised(id, asked, given),
            ["segment", ref nodes @ ..] => {
                self.lines.segments.push(self.at);
                self.segments.push(self.set(nodes)?);
                Ok(())
            }
            ["region", ref nodes @ ..] => {
                self.lines.regions.push(self.at);
                self.regions.push(self.set(nodes)?);
                Ok(())
            }
            _ => Err(format!("unknown statement `{line}`")),
        }
    }

    fn header(&mut self, words: &[&str]) -> Result<(), String> {
        let found = words.join(" ");
        if found == HEADER {
            self.header = true;
            return Ok(());
        }
        Err(match words {
            ["thalweg-plan", version] => format!(
                "unsupported version: expected `{HEADER}`, found `thalweg-plan {version}`\n\
                 help: print the plan again with this version of the program, and repeat the edits"
            ),
            _ => format!("not a plan: expected `{HEADER}`, found `{found}`"),
        })
    }

    /// A node's line: its claim length, and the words that follow.
    fn node(&mut self, id: &str, claim: &str, mut rest: &[&str]) -> Result<(), String> {
        let node = NodeId(self.claim_lengths.len() as u32);
        next(&mut self.claim_lengths, id, between(claim, 1, usize::MAX)?, "node")?;
        self.lines.nodes.push(self.at);
        loop {
            rest = match *rest {
                [] => return Ok(()),
                ["replicas", n, ref rest @ ..] => {
                    entry(&mut self.replicas, node, narrow(n)?, "replicas")?;
                    rest
                }
                ["worker", n, ref rest @ ..] => {
                    entry(&mut self.affinity, node, narrow(n)?, "worker")?;
                    rest
                }
                ["workers", ref rest @ ..] => {
                    let (workers, rest) = numbers(rest)?;
                    entry(&mut self.pools, node, workers, "workers")?;
                    rest
                }
                ["shares", ref rest @ ..] => {
                    let (shares, rest) = numbers(rest)?;
                    entry(&mut self.shares, node, shares, "shares")?;
                    rest
                }
                ["own-thread", ref rest @ ..] => {
                    let is_new = self.own_threads.insert(node);
                    is_new.then_some(rest).ok_or("duplicate `own-thread`")?
                }
                [word, ..] => {
                    let known = "`replicas N`, `worker N`, `workers N ..`, `shares N ..` or `own-thread`";
                    return Err(format!("expected {known}, found `{word}`"));
                }
            };
        }
    }

    /// A channel's line: its capacity, and the words that follow.
    fn channel(&mut self, id: &str, capacity: &str, mut rest: &[&str]) -> Result<(), String> {
        let channel = ChannelId(self.capacities.len() as u32);
        next(&mut self.capacities, id, number(capacity)?, "channel")?;
        self.lines.channels.push(self.at);
        loop {
            rest = match *rest {
                [] => return Ok(()),
                ["slots", n, ref rest @ ..] => {
                    entry(&mut self.slots, channel, number(n)?, "slots")?;
                    rest
                }
                ["bytes", n, ref rest @ ..] => {
                    entry(&mut self.byte_limits, channel, number(n)?, "bytes")?;
                    rest
                }
                [word, ..] => return Err(format!("expected `slots N` or `bytes N`, found `{word}`")),
            };
        }
    }

    fn raised(&mut self, id: &str, asked: &str, given: &str) -> Result<(), String> {
        let channel = ChannelId(id.parse().map_err(|_| format!("expected a channel number, found `{id}`"))?);
        if channel.index() >= self.capacities.len() {
            return Err(format!("no channel {id} above"));
        }
        self.raised.push(Raised { channel, asked: number(asked)?, given: number(given)? });
        Ok(())
    }

    /// The nodes of a segment or a region.
    fn set(&self, nodes: &[&str]) -> Result<Vec<NodeId>, String> {
        let node = |word: &&str| match word.parse() {
            Ok(id) if (id as usize) < self.claim_lengths.len() => Ok(NodeId(id)),
            Ok(_) => Err(format!("no node {word} above")),
            Err(_) => Err(format!("expected a node number, found `{word}`")),
        };
        nodes.iter().map(node).collect()
    }

    fn finish(self) -> Result<(Plan, Lines), String> {
        if !self.header {
            return Err(format!("not a plan: expected `{HEADER}`, found no statement"));
        }
        let graph = self.graph.ok_or("missing `graph`")?;
        let plan = Plan {
            graph,
            threads: self.threads.ok_or("missing `threads`")?,
            policy: self.policy.ok_or("missing `policy`")?,
            mapper: self.mapper,
            notes: self.notes,
            budget: self.budget,
            batch: self.batch.ok_or("missing `batch`")?,
            window: self.window.ok_or("missing `window`")?,
            held: self.held.ok_or("missing `held`")?,
            kept: self.kept.ok_or("missing `kept`")?,
            claim_lengths: self.claim_lengths,
            replicas: self.replicas,
            pools: self.pools,
            shares: self.shares,
            affinity: self.affinity,
            own_threads: self.own_threads,
            capacities: self.capacities,
            slots: self.slots,
            byte_limits: self.byte_limits,
            raised: self.raised,
            segments: self.segments,
            regions: self.regions,
        };
        Ok((plan, self.lines))
    }
}
