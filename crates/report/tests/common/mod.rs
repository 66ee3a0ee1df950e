//! Reports for tests: one example, and random ones.

pub mod html;
pub mod invented;

use proptest::collection::vec;
use proptest::num::f64 as any_f64;
use proptest::option;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort, Rate};
use thalweg_plan::{Division, HandOver, Plan, Program, Unit, Units, Wishes};
use thalweg_trace::{
    ChannelReport, Counts, Distribution, Growth, Limit, MemberCounts, NodeReport, NodeWaits, Report, Service,
    TicketReport, WorkerReport,
};

/// A report whose document has every field of the format: settings of nodes and channels, all rates, a growth.
pub fn example() -> Report {
    // By name, since sizes differ between machines.
    let (bytes, pairs) = (Item::named("alloc::vec::Vec<u8>", 24), Item::named("(u32, u64)", 16));
    let mut graph = GraphData::new();
    let mut read = Node::sequential("read").output(OutPort::new("out", bytes).with_push(Rate::Static(1)));
    (*read.blocking_mut(), *read.starting_mut()) = (true, true);
    let mut either = Node::sequential("either \"a\" or b");
    *either.merge_mut() = true;
    let either = either.input(InPort::new("new", bytes)).input(InPort::new("back", bytes));
    let mut count =
        Node::parallel("count").input(InPort::new("in", bytes).with_pop(Rate::Static(2)).with_peek(5));
    (*count.unordered_mut(), *count.workers_mut()) = (true, Some(3));
    let count = count.output(OutPort::new("again", bytes)).output(OutPort::new("counts", pairs));
    let mut last = Node::sequential("last").input(InPort::new("in", pairs)).into_process();
    *last.returns_mut() = true;
    let either = either.output(OutPort::new("out", bytes));
    let [read, either, count, last] = [read, either, count, last].map(|node| graph.add(node));
    let link = Link::default();
    let bounded = link.with_capacity(64).with_weighed(true).with_limits(true);
    graph.connect((read, 0), (either, 0), bounded).unwrap();
    graph.connect((either, 0), (count, 0), link).unwrap();
    graph.connect((count, 0), (either, 1), link.with_initial(3).with_feedback(true)).unwrap();
    graph.connect((count, 1), (last, 0), link).unwrap();
    measured(graph)
}

/// A report of this graph, with numbers that all differ.
fn measured(graph: GraphData) -> Report {
    let mut numbers = (1..).map(|number: u64| number * 1_001);
    let mut next = || numbers.next().unwrap();
    let mut report = Report::new(graph, "prs:C=1000", 2);
    *report.wall_mut() = Duration::from_nanos(next());
    for worker in report.workers_mut() {
        *worker.application_mut() = Duration::from_nanos(next());
        *worker.queue_mut() = Duration::from_nanos(next());
        *worker.scheduler_mut() = Duration::from_nanos(next());
        *worker.idle_mut() = Duration::from_nanos(next());
        *worker.preempted_mut() = Duration::from_nanos(next());
        *worker.kernel_mut() = Duration::from_nanos(next());
        (*worker.activations_mut(), *worker.refused_mut(), *worker.steals_mut()) = (next(), next(), next());
        (*worker.steal_attempts_mut(), *worker.spins_mut(), *worker.parks_mut()) = (next(), next(), next());
    }
    for node in report.nodes_mut() {
        (*node.firings_mut(), *node.activations_mut(), *node.moves_mut()) = (next(), next(), next());
        *node.busy_mut() = Duration::from_nanos(next());
        let waits = node.other_waits_mut();
        *waits.any_input_mut() = Duration::from_nanos(next());
        *waits.window_mut() = Duration::from_nanos(next());
        *waits.outside_mut() = Duration::from_nanos(next());
        *waits.worker_mut() = Duration::from_nanos(next());
    }
    // One node has no service times, and one node no waits.
    *report.nodes_mut()[0].other_waits_mut() = NodeWaits::default();
    for node in &mut report.nodes_mut()[..3] {
        let mut service = Service::default();
        service.activation_mut().record(next() as f64, 3);
        service.activation_mut().record(next() as f64 / 7.0, 1);
        service.firing_mut().record(next() as f64 / 1000.0, 2);
        *node.service_mut() = Some(Box::new(service));
    }
    // One node has executed loops and task graphs, on one of two members.
    let jobs = report.nodes_mut()[1].jobs_mut().get_or_insert_default();
    *jobs.members_mut() = vec![any_counts(std::array::from_fn(|_| next())), MemberCounts::default()];
    for channel in report.channels_mut() {
        (*channel.items_mut(), *channel.bytes_mut(), *channel.capacity_mut()) =
            (next(), next(), next() as usize);
        (*channel.peak_mut(), *channel.mean_mut()) = (Some(next() as f64), Some(next() as f64 / 3.0));
        (*channel.leftover_mut(), *channel.remote_mut()) = (next(), next());
        *channel.consumer_waited_mut() = Duration::from_nanos(next());
        *channel.producer_waited_mut() = Duration::from_nanos(next());
    }
    report.growths_mut().push(Growth::new(ChannelId(2), Limit::Items, 8, 16, Duration::from_nanos(5)));
    report.growths_mut().push(Growth::new(ChannelId(0), Limit::Bytes, 4096, 8192, Duration::from_nanos(6)));
    (*report.searches_mut(), *report.partitions_mut()) = (next(), next());
    *report.dilation_mut() = Some(40);
    *report.workers_mut()[1].stall_mut() = Duration::from_nanos(1234);
    let mut tickets = TicketReport::default();
    (*tickets.waits_mut(), *tickets.suspensions_mut()) = (31, 17);
    (*tickets.mean_under_way_mut(), *tickets.max_under_way_mut()) = (2.5, 4);
    *report.tickets_mut() = Some(tickets);
    let wishes = Wishes::default().threads(2).policy("prs:C=1000");
    *report.plan_mut() = Some(Arc::new(Plan::new(report.graph(), &wishes)));
    *report.program_mut() = Some(Arc::new(program()));
    report
}

/// A program of two filters that one body executes on each of two workers.
fn program() -> Program {
    let item = Item::named("f32", 4);
    let mut graph = GraphData::new();
    let scale = graph.add(Node::parallel("scale").output(OutPort::new("out", item)));
    let sum = graph.add(Node::sequential("sum").input(InPort::new("in", item)));
    graph.connect((scale, 0), (sum, 0), Link::default()).unwrap();
    let all = vec![Unit::new(vec![scale], 30, true), Unit::new(vec![sum], 10, false)];
    let mut units = Units::new(all, Division::Copies);
    *units.hand_overs_mut() = vec![HandOver::new(Some(0), Some(1), 3), HandOver::new(None, Some(0), 2)];
    (*units.whole_mut(), *units.joins_mut()) = (Some(39), true);
    (*units.pieces_mut(), *units.least_gain_mut()) = (4, 135);
    let plan = Plan::compiled(&graph, &units, &Wishes::default().threads(2));
    Program::new(graph, plan, units, vec![(NodeId(1), 0..1), (NodeId(2), 1..2)])
}

/// A random report of a random graph.
pub fn any_report() -> impl Strategy<Value = Report> {
    (any_graph(), any_name(), 0..4_usize).prop_flat_map(|(graph, policy, threads)| {
        let (nodes, channels) = (graph.nodes().len(), graph.channels().len());
        let entries =
            (vec(any_worker(), threads), vec(any_node_report(), nodes), vec(any_channel(), channels));
        let growths = vec(any_growth(channels), 0..if channels == 0 { 1 } else { 3 });
        let program = option::of(any_program(nodes));
        (entries, growths, any_time(), any::<[u64; 2]>(), any_wishes(), program).prop_map(
            move |(entries, growths, wall, counts, wishes, program)| {
                let mut report = Report::new(graph.clone(), policy.clone(), threads);
                (*report.workers_mut(), *report.nodes_mut(), *report.channels_mut()) = entries;
                (*report.growths_mut(), *report.wall_mut()) = (growths, wall);
                [*report.searches_mut(), *report.partitions_mut()] = counts;
                *report.plan_mut() = wishes.map(|wishes| Arc::new(Plan::new(report.graph(), &wishes)));
                *report.program_mut() = program.map(Arc::new);
                report
            },
        )
    })
}

/// A compiled program, of which a graph with this many nodes has executed bodies.
fn any_program(nodes: usize) -> impl Strategy<Value = Program> {
    let index = || any::<prop::sample::Index>();
    let cost = || 0..=1_u64 << 62;
    let setting = || 0..=1_u64 << 20;
    let unit = (vec(index(), 0..3), cost(), any::<bool>());
    let hand_over = (option::of(0..9_usize), option::of(0..9_usize), cost());
    let numbers = (option::of(cost()), [setting(), setting(), setting()], any::<bool>(), 0..4_usize);
    let parts = (vec(unit, 0..4), vec(hand_over, 0..3), vec((index(), index(), index()), 0..3));
    (any_graph(), any_wishes(), parts, numbers).prop_map(move |(graph, wishes, parts, numbers)| {
        let (units, hand_overs, bodies) = parts;
        let (whole, [pieces, least_copied, least_gain], joins, division) = numbers;
        let node = |index| pick(index, graph.nodes().len()).map(|node| NodeId(node as u32));
        let unit = |(nodes, cost, stateless): (Vec<_>, _, _)| {
            Unit::new(nodes.into_iter().filter_map(node).collect(), cost, stateless)
        };
        let all: Vec<Unit> = units.into_iter().map(unit).collect();
        let hand_overs =
            hand_overs.into_iter().map(|(from, to, cost)| HandOver::new(from, to, cost)).collect();
        let mut next = 0;
        let body = |(node, a, b): (_, prop::sample::Index, prop::sample::Index)| {
            let node = NodeId(pick(node, nodes)? as u32);
            let start = next + a.index(all.len() - next + 1);
            next = start + b.index(all.len() - start + 1);
            Some((node, start..next))
        };
        let bodies = bodies.into_iter().filter_map(body).collect();
        let division = [Division::Copies, Division::Pipeline, Division::Each, Division::Whole][division];
        let mut units = Units::new(all, division);
        (*units.whole_mut(), *units.hand_overs_mut(), *units.joins_mut()) = (whole, hand_overs, joins);
        (*units.pieces_mut(), *units.least_copied_mut(), *units.least_gain_mut()) =
            (pieces, least_copied, least_gain);
        let plan = Plan::new(&graph, &wishes.unwrap_or_default());
        Program::new(graph, plan, units, bodies)
    })
}

/// Names that need escapes, and names that take numbers.
pub fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{1,2}", "[a-c]-[1-3]", r#"[\x00-\x24\\"\x7f-\xa0]{0,4}"#, "\\PC{0,6}"]
}

/// What a plan is made from, for a report that has one.
fn any_wishes() -> impl Strategy<Value = Option<Wishes>> {
    let wishes = (1..5_usize, any_name(), option::of(any::<u32>()), option::of(1..100_usize));
    option::of(wishes.prop_map(|(threads, policy, budget, capacity)| {
        Wishes::default()
            .threads(threads)
            .policy(policy)
            .maybe(budget.map(|budget| budget as usize), Wishes::budget)
            .maybe(capacity, Wishes::capacity)
    }))
}

fn any_time() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_nanos)
}

/// Nodes with ports, and channels between those pairs of ports that may be connected.
pub fn any_graph() -> impl Strategy<Value = GraphData> {
    let port = || (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let channels = vec((port(), port(), any_link()), 0..12);
    (vec(any_node(), 0..5), channels).prop_map(|(nodes, channels)| {
        let mut graph = GraphData::new();
        nodes.into_iter().for_each(|node| _ = graph.add(node));
        for ((from, output), (to, input), link) in channels {
            let nodes = graph.nodes();
            let (Some(from), Some(to)) = (pick(from, nodes.len()), pick(to, nodes.len())) else { continue };
            let output = pick(output, nodes[from].outputs().len());
            let input = pick(input, nodes[to].inputs().len());
            if let (Some(output), Some(input)) = (output, input) {
                let (from, to) = (NodeId(from as u32), NodeId(to as u32));
                _ = graph.connect((from, output), (to, input), link);
            }
        }
        graph
    })
}

fn pick(index: prop::sample::Index, count: usize) -> Option<usize> {
    (count > 0).then(|| index.index(count))
}

fn any_node() -> impl Strategy<Value = Node> {
    let kind = prop_oneof![Just(Kind::Sequential), Just(Kind::Parallel), Just(Kind::Process)];
    let ports = (vec(any_input(), 0..3), vec(any_output(), 0..3));
    (any_name(), kind, any::<[bool; 5]>(), option::of(any::<u32>()), ports).prop_map(
        |(name, kind, flags, workers, (inputs, outputs))| {
            let mut node = Node::sequential(name);
            [
                *node.blocking_mut(),
                *node.starting_mut(),
                *node.merge_mut(),
                *node.unordered_mut(),
                *node.returns_mut(),
            ] = flags;
            (*node.kind_mut(), *node.workers_mut()) = (kind, workers);
            (*node.inputs_mut(), *node.outputs_mut()) = (inputs, outputs);
            node
        },
    )
}

fn any_item() -> impl Strategy<Value = Item> {
    let strange = Item::named("a::B<'x>\\\"", usize::MAX);
    prop_oneof![Just(Item::of::<u64>()), Just(Item::of::<Vec<String>>()), Just(strange)]
}

fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![Just(Rate::Dynamic), (0..3_u64).prop_map(Rate::Static), any::<u64>().prop_map(Rate::Static)]
}

fn any_input() -> impl Strategy<Value = InPort> {
    (any_name(), any_item(), any_rate(), any::<u64>())
        .prop_map(|(name, item, pop, peek)| InPort::new(name, item).with_pop(pop).with_peek(peek))
}

fn any_output() -> impl Strategy<Value = OutPort> {
    (any_name(), any_item(), any_rate())
        .prop_map(|(name, item, push)| OutPort::new(name, item).with_push(push))
}

fn any_link() -> impl Strategy<Value = Link> {
    (option::of(any::<usize>()), any::<usize>(), any::<[bool; 4]>()).prop_map(
        |(capacity, initial, [feedback, weighed, limits, owns])| {
            Link::default()
                .with_capacity(capacity)
                .with_initial(initial)
                .with_feedback(feedback)
                .with_weighed(weighed)
                .with_limits(limits)
                .with_owns(owns)
        },
    )
}

fn any_worker() -> impl Strategy<Value = WorkerReport> {
    (any::<[u64; 8]>(), any::<[u64; 6]>()).prop_map(|(times, counts)| {
        let mut worker = WorkerReport::default();
        [
            *worker.application_mut(),
            *worker.queue_mut(),
            *worker.scheduler_mut(),
            *worker.idle_mut(),
            *worker.preempted_mut(),
            *worker.kernel_mut(),
            *worker.stealing_mut(),
            *worker.stall_mut(),
        ] = times.map(Duration::from_nanos);
        [
            *worker.activations_mut(),
            *worker.refused_mut(),
            *worker.steals_mut(),
            *worker.steal_attempts_mut(),
            *worker.spins_mut(),
            *worker.parks_mut(),
        ] = counts;
        worker
    })
}

/// These counts of a member.
fn any_counts(counts: [u64; 11]) -> MemberCounts {
    let [loops, graphs, joins, iterations, nodes, steals, coloured_steals, ..] = counts;
    let [.., attempts, coloured_attempts, accesses, remote] = counts;
    let mut member = MemberCounts::default();
    (*member.loops_mut(), *member.graphs_mut(), *member.joins_mut(), *member.iterations_mut()) =
        (loops, graphs, joins, iterations);
    (*member.nodes_mut(), *member.steals_mut(), *member.coloured_steals_mut()) =
        (nodes, steals, coloured_steals);
    (*member.attempts_mut(), *member.coloured_attempts_mut()) = (attempts, coloured_attempts);
    (*member.accesses_mut(), *member.remote_mut()) = (accesses, remote);
    member
}

fn any_node_report() -> impl Strategy<Value = NodeReport> {
    let service = option::of((any_distribution(), any_distribution()));
    let jobs = option::of(vec(any::<[u64; 11]>(), 0..3));
    (any::<[u64; 4]>(), any_waits(), service, jobs).prop_map(
        |([firings, activations, busy, moves], waits, service, jobs)| {
            let mut node = NodeReport::default();
            (*node.firings_mut(), *node.activations_mut(), *node.moves_mut()) = (firings, activations, moves);
            (*node.busy_mut(), *node.other_waits_mut()) = (Duration::from_nanos(busy), waits);
            *node.service_mut() = service.map(|(activation, firing)| {
                let mut service = Service::default();
                (*service.activation_mut(), *service.firing_mut()) = (activation, firing);
                Box::new(service)
            });
            *node.jobs_mut() = jobs.map(|members| {
                let mut counts = Counts::default();
                *counts.members_mut() = members.into_iter().map(any_counts).collect();
                Box::new(counts)
            });
            node
        },
    )
}

fn any_waits() -> impl Strategy<Value = NodeWaits> {
    any::<[Option<u64>; 4]>().prop_map(|times| {
        let mut waits = NodeWaits::default();
        [*waits.any_input_mut(), *waits.window_mut(), *waits.outside_mut(), *waits.worker_mut()] =
            times.map(|time| Duration::from_nanos(time.unwrap_or(0)));
        waits
    })
}

/// A distribution of recorded and merged times, some of them at the limits.
pub fn any_distribution() -> impl Strategy<Value = Distribution> {
    let time = || {
        prop_oneof![any::<f64>(), (0..u64::MAX).prop_map(|ns| ns as f64), (0..100_u32).prop_map(f64::from)]
    };
    let weight = || prop_oneof![Just(1_u64), 0..1000_u64, any::<u64>()];
    let times = || vec((time(), weight()), 0..6);
    (times(), times()).prop_map(|(own, others)| {
        let [mut all, mut other] = [Distribution::default(), Distribution::default()];
        own.into_iter().for_each(|(ns, weight)| all.record(ns, weight));
        others.into_iter().for_each(|(ns, weight)| other.record(ns, weight));
        all.merge(&other);
        all
    })
}

fn any_channel() -> impl Strategy<Value = ChannelReport> {
    let measure = || option::of(any_f64::POSITIVE | any_f64::NORMAL | any_f64::SUBNORMAL | any_f64::ZERO);
    let times = any::<[Option<u64>; 2]>();
    (any::<[u64; 5]>(), times, any::<usize>(), measure(), measure()).prop_map(
        |(counts, times, capacity, peak, mean)| {
            let mut channel = ChannelReport::default();
            [*channel.consumer_waited_mut(), *channel.producer_waited_mut()] =
                times.map(|time| Duration::from_nanos(time.unwrap_or(0)));
            [
                *channel.items_mut(),
                *channel.bytes_mut(),
                *channel.peak_bytes_mut(),
                *channel.leftover_mut(),
                *channel.remote_mut(),
            ] = counts;
            (*channel.capacity_mut(), *channel.peak_mut(), *channel.mean_mut()) = (capacity, peak, mean);
            channel
        },
    )
}

/// A growth of one of these channels, of which there is at least one.
fn any_growth(channels: usize) -> impl Strategy<Value = Growth> {
    let limit = prop_oneof![Just(Limit::Items), Just(Limit::Bytes)];
    (0..channels.max(1), limit, any::<usize>(), any::<usize>()).prop_map(|(channel, limit, from, to)| {
        Growth::new(ChannelId(channel as u32), limit, from, to, Duration::from_nanos(from as u64))
    })
}
