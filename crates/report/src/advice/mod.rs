//! What bounded a run, what went wrong in it, and what to change.
//!
//! A finding needs evidence in the report: each file below holds one kind of symptom and the thresholds that separate it
//! from a healthy run. [`findings`] puts the bound of the run first.

mod bound;
mod chain;
mod growth;
mod loops;
mod more;
mod room;
mod share;
mod workers;

use crate::predict::Prediction;
use std::fmt;
use std::ops::Deref;
use thalweg_graph::{ChannelId, NodeId, data, shown};
use thalweg_trace::Report;

data! {
    /// Something that a report shows about its run: what, the evidence, and what to do.
    ///
    /// It prints as one line, and a line with the help if there is one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_report::{FindingKind, ReportExt};
    /// use thalweg_trace::Report;
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("index"));
    /// let mut report = Report::new(graph, "auto", 2);
    /// *report.wall_mut() = Duration::from_millis(10);
    /// *report.nodes_mut()[0].busy_mut() = Duration::from_millis(9);
    ///
    /// let findings = report.findings();
    /// assert_eq!(findings[0].kind(), FindingKind::SerialBound);
    /// assert!(findings[0].what().contains("`index`"));
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Finding {
        /// The kind, for programs.
        copy kind: FindingKind;
        /// What was found, with the names of nodes and channels.
        view what: String => &str;
        /// The measurements that show it.
        view evidence: String => &str;
        /// What to change; empty if nothing needs a change.
        view help: String => &str;
        /// The nodes that it is about.
        view nodes: Vec<NodeId> => &[NodeId];
        /// The channels that it is about.
        view channels: Vec<ChannelId> => &[ChannelId];
    }
}

/// The kind of a [`Finding`]. One finding of a report says what bounded the run: see [`FindingKind::is_bound`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FindingKind {
    /// No time was measured.
    Unmeasured,
    /// One node that does one firing at a time was busy for most of the run.
    SerialBound,
    /// A parallel node was busy on as many workers as its limit allows.
    WorkersLimit,
    /// The workers were in nodes for nearly all of their time.
    Saturated,
    /// The run waited for something outside the graph: a source, a file, a future.
    Outside,
    /// None of these: the workers spent part of their time outside nodes.
    Unsaturated,
    /// Channels grew because nodes waited for each other. Without the growth the run would have ended in a deadlock.
    GrownCycle,
    /// The nodes of a loop waited for each other's items: few items are in flight.
    StarvedLoop,
    /// A channel made its producer wait for room and its consumer wait for items.
    LittleRoom,
    /// More room in channels would raise the throughput, as the queueing models predict it.
    MoreRoom,
    /// More items in flight would raise the throughput, as the queueing models predict it.
    MoreTokens,
    /// Some workers had much more work than others.
    Imbalance,
    /// Workers began to activate nodes that others held.
    RefusedClaims,
    /// The workers were off their cores while they had work: the operating system ran other threads there, or the code
    /// of nodes blocked.
    Preempted,
    /// Firings are too short for the cost of passing them on.
    ShortFirings,
    /// Most items moved between cores.
    RemoteTraffic,
}

impl FindingKind {
    /// Whether such a finding says what bounded the run. Each report has one, the first of its findings.
    ///
    /// ```
    /// use thalweg_report::{FindingKind, ReportExt};
    /// use thalweg_trace::Report;
    ///
    /// let findings = Report::default().findings();
    /// assert!(findings[0].kind().is_bound());
    /// assert!(!FindingKind::Preempted.is_bound());
    /// ```
    pub fn is_bound(self) -> bool {
        use FindingKind::*;
        matches!(self, Unmeasured | SerialBound | WorkersLimit | Saturated | Outside | Unsaturated)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if !self.evidence.is_empty() {
            write!(f, ": {}", self.evidence)?;
        }
        if !self.help.is_empty() {
            write!(f, "\n  help: {}", self.help)?;
        }
        Ok(())
    }
}

impl Finding {
    fn new(kind: FindingKind, what: String, evidence: String, help: impl Into<String>) -> Finding {
        Finding { kind, what, evidence, help: help.into(), nodes: Vec::new(), channels: Vec::new() }
    }

    fn at(mut self, nodes: &[NodeId]) -> Finding {
        self.nodes.extend(nodes);
        self
    }

    fn through(mut self, channels: &[ChannelId]) -> Finding {
        self.channels.extend(channels);
        self
    }
}

/// The findings of a report: what bounded the run first.
pub(crate) fn findings(report: &Report) -> Vec<Finding> {
    let evidence = Evidence(report);
    if !is_complete(report) || report.nodes().iter().all(|node| node.busy().is_zero()) {
        let what = "no time was measured in any node".to_owned();
        let mut all = vec![Finding::new(FindingKind::Unmeasured, what, String::new(), "")];
        if is_complete(report) {
            all.extend(evidence.grown_cycles());
        }
        return all;
    }
    let prediction = Prediction::of(report).ok().filter(|prediction| prediction.is_sound(report));
    let bound = evidence.bound();
    let kind = bound.kind;
    let mut all = vec![more::with_threads(bound, prediction.as_ref())];
    all.extend(evidence.grown_cycles());
    all.extend(evidence.starved_loops());
    all.extend(evidence.little_room());
    all.extend(evidence.worker_findings(kind));
    all.extend(prediction.as_ref().map(more::findings).into_iter().flatten());
    all
}

/// Whether a report has measurements for each node and channel of its graph.
pub(crate) fn is_complete(report: &Report) -> bool {
    let (nodes, channels) = (report.graph().nodes().len(), report.graph().channels().len());
    let known = report.growths().iter().all(|growth| growth.channel().index() < channels);
    report.nodes().len() == nodes && report.channels().len() == channels && known
}

/// A report, with what its findings and its page derive from it.
pub(crate) struct Evidence<'r>(pub(crate) &'r Report);

impl Deref for Evidence<'_> {
    type Target = Report;

    fn deref(&self) -> &Report {
        self.0
    }
}

impl Evidence<'_> {
    /// A node's name in a message.
    fn quoted(&self, node: NodeId) -> String {
        format!("`{}`", shown(self.graph().node(node).name()))
    }

    /// A channel's name in a message.
    fn quoted_channel(&self, channel: ChannelId) -> String {
        format!("`{}`", shown(self.graph().channel_name(channel)))
    }

    /// The names of some nodes in a message: at most six of them.
    fn quoted_all(&self, nodes: &[NodeId]) -> String {
        const NAMED: usize = 6;
        let mut text = nodes.iter().take(NAMED).map(|node| self.quoted(*node)).collect::<Vec<_>>().join(", ");
        if nodes.len() > NAMED {
            text += &format!(" and {} more", nodes.len() - NAMED);
        }
        text
    }
}
