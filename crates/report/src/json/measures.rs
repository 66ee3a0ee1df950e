//! The measurements of workers, nodes and channels.

use super::forms::{is_default, measure, measured, nanos};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::time::Duration;
use thalweg_graph::ChannelId;
use thalweg_trace::{
    ChannelReport, Counts, Distribution, Growth, Limit, MemberCounts, NodeReport, NodeWaits, Service,
    TicketReport, WorkerReport,
};

/// Declares an entry that has the fields of a part of the report, under their names or others.
macro_rules! entry {
    ($name:ident of $part:ident { $($(#[$form:meta])* $field:ident, $change:ident: $type:ty;)* }) => {
        #[derive(Serialize, Deserialize)]
        pub(super) struct $name {
            $($(#[$form])* $field: $type,)*
        }

        impl From<&$part> for $name {
            fn from(part: &$part) -> $name {
                $name { $($field: part.$field(),)* }
            }
        }

        impl From<$name> for $part {
            fn from(entry: $name) -> $part {
                let mut part = $part::default();
                $(*part.$change() = entry.$field;)*
                part
            }
        }
    };
}

entry!(WorkerEntry of WorkerReport {
    #[serde(rename = "application_ns", with = "nanos")]
    application, application_mut: Duration;
    #[serde(rename = "queue_ns", with = "nanos")]
    queue, queue_mut: Duration;
    #[serde(rename = "scheduler_ns", with = "nanos")]
    scheduler, scheduler_mut: Duration;
    #[serde(rename = "idle_ns", with = "nanos")]
    idle, idle_mut: Duration;
    #[serde(rename = "preempted_ns", with = "nanos")]
    preempted, preempted_mut: Duration;
    #[serde(rename = "kernel_ns", with = "nanos")]
    kernel, kernel_mut: Duration;
    #[serde(rename = "stealing_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    stealing, stealing_mut: Duration;
    #[serde(rename = "stall_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    stall, stall_mut: Duration;
    activations, activations_mut: u64;
    refused, refused_mut: u64;
    steal_attempts, steal_attempts_mut: u64;
    steals, steals_mut: u64;
    spins, spins_mut: u64;
    parks, parks_mut: u64;
});

entry!(TicketEntry of TicketReport {
    waits, waits_mut: u64;
    suspensions, suspensions_mut: u64;
    #[serde(deserialize_with = "measure")]
    mean_under_way, mean_under_way_mut: f64;
    max_under_way, max_under_way_mut: u64;
});

entry!(WaitsEntry of NodeWaits {
    #[serde(rename = "any_input_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    any_input, any_input_mut: Duration;
    #[serde(rename = "window_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    window, window_mut: Duration;
    #[serde(rename = "outside_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    outside, outside_mut: Duration;
    #[serde(rename = "worker_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    worker, worker_mut: Duration;
});

entry!(MemberEntry of MemberCounts {
    loops, loops_mut: u64;
    graphs, graphs_mut: u64;
    joins, joins_mut: u64;
    iterations, iterations_mut: u64;
    nodes, nodes_mut: u64;
    steals, steals_mut: u64;
    coloured_steals, coloured_steals_mut: u64;
    attempts, attempts_mut: u64;
    coloured_attempts, coloured_attempts_mut: u64;
    accesses, accesses_mut: u64;
    remote, remote_mut: u64;
});

/// The measurements of a node.
#[derive(Serialize, Deserialize)]
pub(super) struct NodeEntry<'d> {
    /// Its name, for readers of the file.
    #[serde(borrow)]
    pub(super) node: Cow<'d, str>,
    firings: u64,
    activations: u64,
    #[serde(rename = "busy_ns", with = "nanos")]
    busy: Duration,
    moves: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<WaitsEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service: Option<ServiceEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<Vec<MemberEntry>>,
}

impl<'d> NodeEntry<'d> {
    pub(super) fn new(name: Cow<'d, str>, node: &NodeReport) -> NodeEntry<'d> {
        let members = |counts: &Counts| counts.members().iter().map(MemberEntry::from).collect();
        NodeEntry {
            node: name,
            firings: node.firings(),
            activations: node.activations(),
            busy: node.busy(),
            moves: node.moves(),
            waits: Some(node.other_waits()).filter(|waits| !is_default(waits)).as_ref().map(WaitsEntry::from),
            service: node.service().map(ServiceEntry::from),
            jobs: node.jobs().map(members),
        }
    }
}

impl From<NodeEntry<'_>> for NodeReport {
    fn from(entry: NodeEntry<'_>) -> NodeReport {
        let mut node = NodeReport::default();
        *node.firings_mut() = entry.firings;
        *node.activations_mut() = entry.activations;
        *node.busy_mut() = entry.busy;
        *node.moves_mut() = entry.moves;
        *node.other_waits_mut() = entry.waits.map(NodeWaits::from).unwrap_or_default();
        *node.service_mut() = entry.service.map(|service| Box::new(service.into()));
        *node.jobs_mut() = entry.jobs.map(|members| {
            let mut counts = Counts::default();
            *counts.members_mut() = members.into_iter().map(Into::into).collect();
            Box::new(counts)
        });
        node
    }
}

/// The service times of a node.
#[derive(Serialize, Deserialize)]
struct ServiceEntry {
    activation: Times,
    firing: Times,
}

impl From<&Service> for ServiceEntry {
    fn from(service: &Service) -> ServiceEntry {
        ServiceEntry {
            activation: Times(service.activation().clone()),
            firing: Times(service.firing().clone()),
        }
    }
}

impl From<ServiceEntry> for Service {
    fn from(entry: ServiceEntry) -> Service {
        let mut service = Service::default();
        (*service.activation_mut(), *service.firing_mut()) = (entry.activation.0, entry.firing.0);
        service
    }
}

/// A distribution.
struct Times(Distribution);

/// The numbers of a distribution. Its count is the sum of the buckets.
#[derive(Serialize, Deserialize)]
struct Numbers<Buckets> {
    samples: u64,
    sum_ns: f64,
    squares_ns2: f64,
    buckets: Buckets,
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Times(times) = self;
        let numbers = Numbers {
            samples: times.samples(),
            sum_ns: times.sum(),
            squares_ns2: times.sum_of_squares(),
            buckets: times.buckets(),
        };
        numbers.serialize(serializer)
    }
}

impl<'d> Deserialize<'d> for Times {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Times, D::Error> {
        let Numbers { samples, sum_ns, squares_ns2, buckets } = Numbers::<Vec<u64>>::deserialize(from)?;
        let times = Distribution::of_parts(samples, sum_ns, squares_ns2, buckets);
        times.map(Times).map_err(serde::de::Error::custom)
    }
}

/// The measurements of a channel.
#[derive(Serialize, Deserialize)]
pub(super) struct ChannelEntry<'d> {
    /// Its name, for readers of the file.
    #[serde(borrow)]
    pub(super) channel: Cow<'d, str>,
    items: u64,
    bytes: u64,
    capacity: usize,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "measured")]
    peak: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "measured")]
    mean: Option<f64>,
    #[serde(default, skip_serializing_if = "is_default")]
    peak_bytes: u64,
    leftover: u64,
    remote: u64,
    #[serde(rename = "consumer_waited_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    consumer_waited: Duration,
    #[serde(rename = "producer_waited_ns", with = "nanos", default, skip_serializing_if = "is_default")]
    producer_waited: Duration,
}

impl<'d> ChannelEntry<'d> {
    pub(super) fn new(name: Cow<'d, str>, channel: &ChannelReport) -> ChannelEntry<'d> {
        ChannelEntry {
            channel: name,
            items: channel.items(),
            bytes: channel.bytes(),
            capacity: channel.capacity(),
            peak: channel.peak(),
            mean: channel.mean(),
            peak_bytes: channel.peak_bytes(),
            leftover: channel.leftover(),
            remote: channel.remote(),
            consumer_waited: channel.consumer_waited(),
            producer_waited: channel.producer_waited(),
        }
    }
}

impl From<ChannelEntry<'_>> for ChannelReport {
    fn from(entry: ChannelEntry<'_>) -> ChannelReport {
        let mut channel = ChannelReport::default();
        (*channel.items_mut(), *channel.bytes_mut(), *channel.capacity_mut()) =
            (entry.items, entry.bytes, entry.capacity);
        (*channel.peak_mut(), *channel.mean_mut(), *channel.peak_bytes_mut()) =
            (entry.peak, entry.mean, entry.peak_bytes);
        (*channel.leftover_mut(), *channel.remote_mut()) = (entry.leftover, entry.remote);
        (*channel.consumer_waited_mut(), *channel.producer_waited_mut()) =
            (entry.consumer_waited, entry.producer_waited);
        channel
    }
}

/// The growth of a channel.
#[derive(Serialize, Deserialize)]
pub(super) struct GrowthEntry(#[serde(with = "GrowthForm")] pub(super) Growth);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Growth")]
struct GrowthForm {
    #[serde(with = "ChannelForm", getter = "Growth::channel")]
    channel: ChannelId,
    #[serde(with = "LimitForm", getter = "Growth::limit")]
    limit: Limit,
    #[serde(getter = "Growth::from")]
    from: usize,
    #[serde(getter = "Growth::to")]
    to: usize,
    #[serde(rename = "at_ns", with = "nanos", getter = "Growth::at")]
    at: Duration,
}

impl From<GrowthForm> for Growth {
    fn from(GrowthForm { channel, limit, from, to, at }: GrowthForm) -> Growth {
        Growth::new(channel, limit, from, to, at)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ChannelId")]
struct ChannelForm(u32);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Limit", rename_all = "lowercase")]
enum LimitForm {
    Items,
    Bytes,
}
