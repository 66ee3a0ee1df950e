//! A quantity in two reports.

use std::time::Duration;
use thalweg_graph::data;
use thalweg_trace::{ChannelReport, Distribution, NodeReport};

data! {
    /// A quantity in the first report and in the second.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Change<T> {
        /// In the first report.
        view before: T => &T;
        /// In the second report.
        view after: T => &T;
    }
}

impl<T> Change<T> {
    /// A quantity that was `before` in the first report, and `after` in the second.
    pub fn new(before: T, after: T) -> Change<T> {
        Change { before, after }
    }

    /// The change of what `quantity` returns.
    ///
    /// ```
    /// use thalweg_report::Change;
    ///
    /// let names = Change::new("a", "abc");
    /// assert_eq!(names.map(|name| name.len()), Change::new(1, 3));
    /// ```
    pub fn map<U>(&self, quantity: impl Fn(&T) -> U) -> Change<U> {
        Change { before: quantity(&self.before), after: quantity(&self.after) }
    }
}

impl Change<Duration> {
    /// The time after as a multiple of the time before. `None` if the time before is zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_report::Change;
    ///
    /// let times = [4, 6].map(Duration::from_secs);
    /// assert_eq!(Change::new(times[0], times[1]).ratio(), Some(1.5));
    /// ```
    pub fn ratio(&self) -> Option<f64> {
        let Change { before, after } = self.map(nanos);
        (before > 0.0).then(|| after / before)
    }
}

/// In nanoseconds, which are exact up to 104 days.
fn nanos(time: &Duration) -> f64 {
    time.as_nanos() as f64
}

data! {
    /// A node in two reports.
    #[derive(Clone, Debug, PartialEq)]
    pub struct NodeChange {
        /// The node's name.
        view name: String => &str;
        /// Its measurements.
        view node: Change<NodeReport> => &Change<NodeReport>;
        /// The total of its waits ([`Report::total_wait`](thalweg_trace::Report::total_wait)).
        view waited: Change<Duration> => &Change<Duration>;
        /// What it waited for longest, in words that follow "for". `None` if it did not wait.
        view longest_wait: Change<Option<String>> => &Change<Option<String>>;
    }
}

impl NodeChange {
    /// The mean time of a firing ([`NodeReport::per_firing`]), which is exact. `None` where a report has no firing.
    pub fn per_firing(&self) -> Change<Option<Duration>> {
        self.node.map(NodeReport::per_firing)
    }

    /// The variance of the time of a firing, in square nanoseconds, if both reports have a distribution of it. It is
    /// an estimate from a sample of the firings.
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node};
    /// use thalweg_report::{Change, Comparison};
    /// use thalweg_trace::{Report, Service};
    ///
    /// let mut graph = GraphData::new();
    /// graph.add(Node::sequential("clock"));
    /// let mut report = Report::new(graph, "auto", 1);
    /// let mut service = Service::default();
    /// service.firing_mut().record(100.0, 1);
    /// service.firing_mut().record(300.0, 1);
    /// *report.nodes_mut()[0].service_mut() = Some(Box::new(service));
    ///
    /// let comparison = Comparison::new(&report, &report);
    /// assert_eq!(comparison.nodes()[0].variance(), Some(Change::new(10_000.0, 10_000.0)));
    /// ```
    pub fn variance(&self) -> Option<Change<f64>> {
        Some(self.firing_times()?.map(|times| times.variance()))
    }

    /// The distributions of the time of a firing, if both reports have one.
    fn firing_times(&self) -> Option<Change<&Distribution>> {
        let before = self.node.before.service()?.firing();
        let after = self.node.after.service()?.firing();
        (!before.is_empty() && !after.is_empty()).then_some(Change { before, after })
    }

    /// The time of a firing after as a multiple of the time of a firing before. `None` if a report has no firing of the
    /// node, or the first report no time in it.
    pub fn ratio(&self) -> Option<f64> {
        if self.node.before.firings() == 0 || self.node.after.firings() == 0 {
            return None;
        }
        let each = self.node.map(|node| nanos(&node.busy()) / node.firings() as f64);
        (each.before > 0.0).then(|| each.after / each.before)
    }

    /// Whether the firings or the busy times differ.
    pub(super) fn differs(&self) -> bool {
        let measured = self.node.map(|node| (node.firings(), node.busy()));
        measured.before != measured.after
    }
}

data! {
    /// A channel in two reports.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ChannelChange {
        /// The channel's name: `a.out -> b.in`.
        view name: String => &str;
        /// Its measurements.
        view channel: Change<ChannelReport> => &Change<ChannelReport>;
    }
}

impl ChannelChange {
    /// How much the channel changed: the factor between its two capacities at the end, or between its two mean
    /// occupancies, whichever is larger. At least 1. Each quantity counts one item more than it has, so that a factor
    /// exists for an empty channel, and is small between almost empty ones. An occupancy that only one report has is no change.
    pub fn factor(&self) -> f64 {
        let factor = |Change { before, after }: Change<f64>| {
            let (most, least) = (f64::max(before, after), f64::min(before, after));
            (most + 1.0) / (least + 1.0)
        };
        let capacity = self.channel.map(|channel| channel.capacity() as f64);
        let mean = self.channel.map(|channel| channel.mean());
        let mean = mean.before.zip(mean.after).map(|(before, after)| factor(Change { before, after }));
        f64::max(factor(capacity), mean.unwrap_or(1.0))
    }
}
