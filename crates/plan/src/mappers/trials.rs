//! Plans of which runs have shown how fast they are.

use crate::{Plan, Profile};
use thalweg_graph::{GraphData, data};

data! {
    /// A plan, and what runs of it have taken.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Trial {
        /// The plan.
        view plan: Plan => &Plan;
        /// The wall time of its fastest run for an item of the busiest source, in nanoseconds.
        copy time: f64;
        /// The number of its runs.
        copy runs: usize;
    }
}

impl Plan {
    /// The plans that runs of this graph have followed, the fastest first. Each run is given by its plan and its profile; runs of plans
    /// that are equal but for their [notes](Plan::notes) are one trial. Runs with another number of threads than the first do not
    /// count, since they say nothing of the mapping.
    ///
    /// The mapper `best` predicts. Where several of its candidates have run, their times decide better: the command
    /// `show R1 R2 --next-plan --mapper best` takes the first of these.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_plan::{NodeProfile, Plan, Profile, Wishes};
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("node"));
    /// let run = |firings, ms| {
    ///     let node = NodeProfile::new(firings, Duration::from_millis(ms));
    ///     Profile::new(Duration::from_millis(ms), vec![node], Vec::new())
    /// };
    /// let plans = ["auto", "static"].map(|policy| Plan::new(&graph, &Wishes::default().threads(2).policy(policy)));
    /// // The second plan took longer, for three times as many firings.
    /// let trials = Plan::by_trials(&graph, &[(&plans[0], &run(1000, 5)), (&plans[1], &run(3000, 9))]);
    /// assert_eq!((trials[0].plan(), trials[0].time(), trials.len()), (&plans[1], 3000.0, 2));
    /// ```
    pub fn by_trials(graph: &GraphData, runs: &[(&Plan, &Profile)]) -> Vec<Trial> {
        let mut trials: Vec<Trial> = Vec::new();
        let threads = runs.first().map(|(plan, _)| plan.threads);
        for (plan, profile) in runs.iter().filter(|(plan, _)| Some(plan.threads) == threads) {
            let time = profile.wall().as_nanos() as f64 / source_items(graph, profile);
            match trials.iter_mut().find(|trial| trial.plan.decides_as(plan)) {
                Some(trial) => (trial.time, trial.runs) = (trial.time.min(time), trial.runs + 1),
                None => trials.push(Trial { plan: (*plan).clone(), time, runs: 1 }),
            }
        }
        trials.sort_by(|a, b| a.time.total_cmp(&b.time));
        trials
    }

    /// Whether the plans are equal but for their notes.
    fn decides_as(&self, other: &Plan) -> bool {
        let plain = |plan: &Plan| Plan { notes: Vec::new(), ..plan.clone() };
        plain(self) == plain(other)
    }
}

/// The items of the busiest source in the profile, or the firings of the busiest node if no source has an output; at least 1.
fn source_items(graph: &GraphData, profile: &Profile) -> f64 {
    let channels = graph.channels().iter().zip(profile.channels());
    let of_sources = channels.filter(|(channel, _)| graph.node(channel.from().0).is_source());
    let items = of_sources.map(|(_, carried)| carried.items()).max();
    let firings = || profile.nodes().iter().map(|node| node.firings()).max();
    items.filter(|items| *items > 0).or_else(firings).unwrap_or(0).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChannelProfile, Wishes};
    use std::time::Duration;
    use thalweg_graph::{InPort, Item, Link, Node, OutPort};

    #[test]
    fn the_fastest_run_of_each_plan_counts_for_as_many_threads_as_the_first() {
        let item = Item::of::<u64>();
        let mut graph = GraphData::new();
        let source = graph.add(Node::sequential("source").output(OutPort::new("out", item)));
        let sink = graph.add(Node::sequential("sink").input(InPort::new("in", item)));
        graph.connect((source, 0), (sink, 0), Link::default()).unwrap();
        let plan =
            |threads, capacity| Plan::new(&graph, &Wishes::default().threads(threads).capacity(capacity));
        let run = |items, us| {
            Profile::new(Duration::from_micros(us), Vec::new(), vec![ChannelProfile::new(items, 8 * items)])
        };
        let (short, long, wide) = (plan(2, 10), plan(2, 20), plan(4, 20));
        let mut noted = short.clone();
        noted.notes.push("made of another run".to_owned());
        let runs = [(&short, run(10, 60)), (&long, run(20, 100)), (&wide, run(10, 1)), (&noted, run(10, 40))];
        let runs: Vec<_> = runs.iter().map(|(plan, profile)| (*plan, profile)).collect();
        let of = |plan: &Plan, time, runs| Trial { plan: plan.clone(), time, runs };
        assert_eq!(Plan::by_trials(&graph, &runs), [of(&short, 4000.0, 2), of(&long, 5000.0, 1)]);
        assert_eq!(Plan::by_trials(&graph, &[]), []);
    }
}
