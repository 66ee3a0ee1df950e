//! Near misses of a deadlock: channels that grew because nodes waited for each other.

use super::{Evidence, Finding, FindingKind};
use std::collections::{BTreeMap, HashMap, VecDeque};
use thalweg_graph::{ChannelId, NodeId};
use thalweg_trace::{Limit, units};

/// Cycles that are searched and named. The page and the text list all growths.
const NAMED: usize = 3;

/// The most nodes that the search for a cycle visits.
const SEARCHED: usize = 100_000;

/// What happened to a channel that grew.
struct Grown {
    channel: ChannelId,
    limit: Limit,
    from: usize,
    to: usize,
    times: usize,
}

impl Evidence<'_> {
    /// A finding for each cycle of nodes in which channels grew.
    pub(super) fn grown_cycles(&self) -> Vec<Finding> {
        let mut grown = self.grown();
        let all = grown.len();
        let mut found = Vec::new();
        while !grown.is_empty() && found.len() < NAMED {
            let cycle = self.cycle_around(grown[0].channel);
            let of_cycle = |grown: &Grown| cycle.iter().any(|(_, channel)| *channel == grown.channel);
            let (here, rest): (Vec<_>, Vec<_>) = grown.into_iter().partition(of_cycle);
            grown = rest;
            found.push(self.grown_cycle(&cycle, &here));
        }
        if !grown.is_empty() {
            let what = format!("{} of {all} channels that grew are not in these findings", grown.len());
            let channels: Vec<ChannelId> = grown.iter().map(|grown| grown.channel).collect();
            let finding =
                Finding::new(FindingKind::GrownCycle, what, "the report lists all growths".into(), "");
            found.push(finding.through(&channels));
        }
        found
    }

    /// The channels that grew, those with the largest limits first.
    fn grown(&self) -> Vec<Grown> {
        let mut grown: BTreeMap<(ChannelId, bool), Grown> = BTreeMap::new();
        for growth in self.growths() {
            let key = (growth.channel(), growth.limit() == Limit::Bytes);
            let (channel, limit) = (growth.channel(), growth.limit());
            let entry = grown.entry(key).or_insert(Grown {
                channel,
                limit,
                from: growth.from(),
                to: growth.to(),
                times: 0,
            });
            (entry.to, entry.times) = (growth.to(), entry.times + 1);
        }
        let mut grown: Vec<Grown> = grown.into_values().collect();
        grown.sort_by_key(|grown| std::cmp::Reverse(grown.times));
        grown
    }

    fn grown_cycle(&self, cycle: &[(NodeId, ChannelId)], grown: &[Grown]) -> Finding {
        let mut nodes: Vec<NodeId> = cycle.iter().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        let channels: Vec<ChannelId> = grown.iter().map(|grown| grown.channel).collect();
        let names: Vec<String> = grown.iter().map(|grown| self.quoted_channel(grown.channel)).collect();
        let what = format!(
            "{} grew, because {} waited for each other",
            names.join(" and "),
            self.quoted_all(&nodes)
        );
        let evidence = grown.iter().map(|grown| {
            let Grown { from, to, times, limit, .. } = grown;
            let s = if *times == 1 { "" } else { "s" };
            format!("from {from} to {to} {limit} in {times} step{s}")
        });
        let last = self
            .growths()
            .iter()
            .filter(|growth| channels.contains(&growth.channel()))
            .map(|growth| growth.at());
        let at = last
            .max()
            .filter(|at| !at.is_zero())
            .map_or(String::new(), |at| format!(", the last after {}", units::time(at)));
        let evidence = evidence.collect::<Vec<_>>().join(" and ") + &at;
        let help = grown.iter().map(|grown| {
            let name = self.quoted_channel(grown.channel);
            match grown.limit {
                Limit::Items => format!("set `capacity({})` on {name}", grown.to),
                Limit::Bytes => format!("set `bytes {}` on {name} in the plan", grown.to),
            }
        });
        let help = help.collect::<Vec<_>>().join(", ")
            + ": each growth waits for a search for deadlocked nodes, and the byte budget may refuse it";
        Finding::new(FindingKind::GrownCycle, what, evidence, help).at(&nodes).through(&channels)
    }

    /// The shortest cycle through a channel, whatever the directions of its other channels: nodes that can wait for
    /// each other. Each node comes with a channel of the cycle. The channel alone where no cycle is found.
    fn cycle_around(&self, channel: ChannelId) -> Vec<(NodeId, ChannelId)> {
        let ends = self.graph().channel(channel);
        let (from, to) = (ends.from().0, ends.to().0);
        let mut came: HashMap<NodeId, (NodeId, ChannelId)> = HashMap::new();
        let mut queue = VecDeque::from([to]);
        while let Some(node) = queue.pop_front() {
            if node == from || came.len() > SEARCHED {
                break;
            }
            for (next, through) in self.neighbours(node) {
                if through != channel && next != to && !came.contains_key(&next) {
                    came.insert(next, (node, through));
                    queue.push_back(next);
                }
            }
        }
        let mut cycle = vec![(to, channel)];
        let mut at = from;
        while let Some((before, through)) = came.get(&at).filter(|_| at != to) {
            cycle.push((at, *through));
            at = *before;
        }
        if cycle.len() == 1 && from != to {
            cycle.push((from, channel));
        }
        cycle
    }

    /// The nodes at the other ends of a node's channels.
    fn neighbours(&self, node: NodeId) -> impl Iterator<Item = (NodeId, ChannelId)> {
        let data = self.graph().node(node);
        let inputs = data.inputs().iter().filter_map(|port| port.channel());
        let outputs = data.outputs().iter().filter_map(|port| port.channel());
        let inputs = inputs.map(|id| (self.graph().channel(id).from().0, id));
        inputs.chain(outputs.map(|id| (self.graph().channel(id).to().0, id)))
    }
}
