//! Plans that were edited by mistake: refused with the line and the reason.

use proptest::prelude::*;
use std::time::Duration;
use thalweg_graph::{
    Bounds, ChannelId, GraphData, InPort, Item, Kind, Link, Messages, Node, NodeId, OutPort, Rate, Span,
};
use thalweg_plan::{Misfit, NodeProfile, Place, Plan, PlanError, Profile, Wishes};

/// `read` blocks, `split` and `sum` are sequential with static rates between them, `decode` is parallel and in a branch
/// of dynamic rates, `ask` is a process.
///
/// ```text
/// read ──0──▶ split ──1──▶ sum ──3──▶ print
///               └──2──▶ decode ──4──▶ ask ──5──▶ print
/// ```
fn graph() -> GraphData {
    let item = Item::of::<u64>();
    let one = Rate::Static(1);
    let input = |name: &str| InPort::new(name, item);
    let output = |name: &str| OutPort::new(name, item).with_push(one);
    let mut graph = GraphData::new();
    let mut read = Node::sequential("read").output(output("out"));
    *read.blocking_mut() = true;
    let read = graph.add(read);
    let split = Node::sequential("split").input(input("in")).output(output("left"));
    let split = graph.add(split.output(OutPort::new("right", item)));
    let sum =
        graph.add(Node::sequential("sum").input(input("in").with_pop(Rate::Static(3))).output(output("out")));
    let decode = graph.add(Node::parallel("decode").input(input("in")).output(OutPort::new("out", item)));
    let ask = Node::sequential("ask").input(input("in")).output(output("out")).into_process();
    let ask = graph.add(ask);
    let print = graph.add(Node::sequential("print").input(input("a")).input(input("b")));
    let weighed = Link::default().with_weighed(true);
    let ends = [((read, 0), (split, 0)), ((split, 0), (sum, 0)), ((split, 1), (decode, 0))];
    ends.into_iter().for_each(|(from, to)| _ = graph.connect(from, to, Link::default()).unwrap());
    graph.connect((sum, 0), (print, 0), Link::default()).unwrap();
    graph.connect((decode, 0), (ask, 0), weighed).unwrap();
    graph.connect((ask, 0), (print, 1), Link::default()).unwrap();
    graph
}

/// A plan of the graph for two workers, with every kind of decision but byte limits.
fn plan() -> Plan {
    let busy = [9, 8, 8, 3, 4, 20].map(Duration::from_millis);
    let nodes = busy.iter().map(|busy| NodeProfile::new(10, *busy)).collect();
    let profile = Profile::new(Duration::from_millis(40), nodes, Vec::new());
    Plan::with_profile(&graph(), &profile, &Wishes::default().threads(2))
}

/// The plan, as the edits below find it.
const TEXT: &str = "\
threads 2
policy auto
batch 16384
window 32
held 67108864 bytes
kept 134217728 bytes
node 0 claim 512 own-thread  # read
node 1 claim 512 worker 0  # split
node 2 claim 170 worker 0  # sum
node 3 claim 512 replicas 1  # decode
node 4 claim 512 worker 0  # ask
node 5 claim 512 worker 1  # print
channel 0 capacity 2048 slots 32768  # read.out -> split.in
channel 1 capacity 2048  # split.left -> sum.in
channel 2 capacity 2048  # split.right -> decode.in
channel 3 capacity 2048  # sum.out -> print.a
channel 4 capacity 256 bytes 67108864  # decode.out -> ask.in
channel 5 capacity 256  # ask.out -> print.b
segment 1 3 4 2
segment 5
region 1 2
";

/// The whole text: two lines, and then [`TEXT`].
fn text() -> String {
    plan().on(&graph()).to_string()
}

#[test]
fn the_plan_has_all_decisions_and_fits() {
    let text = text();
    let (head, body) = text.split_at(text.find("threads").unwrap());
    assert_eq!((head.lines().count(), body), (2, TEXT));
    assert_eq!(Plan::read(&text, &graph()), Ok(plan()));
}

/// Edits of the text: the part that is replaced, its replacement, and the line and the begin of the error.
const EDITS: &[(&str, &str, usize, &str)] = &[
    ("thalweg-plan 2", "thalweg-plan 1", 1, "unsupported version: expected `thalweg-plan 2`"),
    ("graph ", "graph 0", 2, "expected 16 hexadecimal digits"),
    ("nodes 6", "nodes 7", 2, "the plan has 7 nodes, the graph has 6"),
    ("channels 6", "channels 1", 2, "the plan has 1 channels, the graph has 6"),
    ("node 5 claim 512 worker 1  # print\n", "", 21, "no node 5 above"),
    ("channel 5 capacity 256  # ask.out -> print.b\n", "", 2, "the plan has 5 channels, the graph has 6"),
    ("threads 2", "threads 0", 3, "expected a number from 1 to 4096, found `0`"),
    ("threads 2", "threads 99999999999", 3, "expected a number from 1 to 4096"),
    ("threads 2", "threads 1", 14, "node `print` belongs to worker 1 in the plan, the plan has 1 threads"),
    ("batch 16384", "batch 0", 5, "the plan has `batch 0`, expected 1 to 4294967295"),
    ("window 32", "window 24", 6, "the plan has `window 24`, expected a power of two"),
    ("window 32", "window 131072", 6, "the plan has `window 131072`, expected a power of two"),
    ("claim 170", "claim 0", 11, "expected a number from 1"),
    ("claim 170", "claim -1", 11, "expected a number from 1"),
    ("replicas 1", "replicas 0", 12, "node `decode` has `replicas 0` in the plan"),
    (
        "node 1 claim 512",
        "node 1 claim 512 replicas 2",
        10,
        "node `split` has replicas in the plan and is not parallel",
    ),
    ("replicas 1", "worker 1", 12, "node `decode` belongs to a worker in the plan and is parallel"),
    ("replicas 1", "workers", 12, "node `decode` has `workers` without a number in the plan"),
    (
        "replicas 1",
        "workers 0 2",
        12,
        "node `decode` belongs to worker 2 in the plan, the plan has 2 threads",
    ),
    ("replicas 1", "workers 1 0 1", 12, "worker 1 is twice in the list of node `decode`"),
    ("replicas 1", "workers 0 workers 1", 12, "duplicate `workers`"),
    ("replicas 1", "workers 0 -1", 12, "expected a number from 0 to 4294967295, found `-1`"),
    (
        "replicas 1",
        "workers 0 1 replicas 1",
        12,
        "node `decode` has 2 workers in the plan, at most 1 may fire it",
    ),
    ("replicas 1", "shares 1", 12, "node `decode` has 1 shares in the plan and 0 workers in its list"),
    ("replicas 1", "workers 1 0 shares 2", 12, "node `decode` has 1 shares in the plan and 2 workers"),
    ("replicas 1", "workers 1 0 shares 2 0", 12, "node `decode` has 2 shares in the plan and 2 workers"),
    ("worker 0  # ask", "workers 0", 13, "node `ask` has `workers` in the plan and is not parallel"),
    ("replicas 1", "own-thread", 12, "node `decode` has a thread of its own in the plan and is parallel"),
    ("own-thread", "", 9, "node `read` blocks, and has no thread of its own"),
    ("own-thread", "own-thread worker 1", 9, "node `read` belongs to a worker in the plan and has a thread"),
    ("worker 1  # print", "worker 4294967295", 14, "node `print` belongs to worker 4294967295"),
    (
        "channel 1 capacity 2048",
        "channel 1 capacity 2",
        16,
        "channel `split.left -> sum.in` has capacity 2 in the plan, a firing needs 3",
    ),
    (
        "channel 1 capacity 2048",
        "channel 1 capacity 18446744073709551615",
        16,
        "channel `split.left -> sum.in` would hold 18446744073709551615 items of 8 bytes",
    ),
    (
        "channel 1 capacity 2048",
        "channel 1 capacity 4294967296",
        16,
        "channel `split.left -> sum.in` would hold 4294967296 items",
    ),
    (
        "slots 32768",
        "slots 2047",
        15,
        "channel `read.out -> split.in` has 2047 slots in the plan, fewer than its capacity 2048",
    ),
    ("slots 32768", "slots 4294967296", 15, "channel `read.out -> split.in` would hold 4294967296 items"),
    (
        "capacity 2048  # sum.out",
        "capacity 2048 slots 4096  # sum.out",
        18,
        "channel `sum.out -> print.a` has slots in the plan, and cannot widen",
    ),
    (
        "capacity 2048  # sum.out",
        "capacity 2048 bytes 4096  # sum.out",
        18,
        "channel `sum.out -> print.a` has a limit of bytes in the plan, and its items are not weighed",
    ),
    (
        "policy auto",
        "policy auto\nbudget 4096 bytes",
        16,
        "channel `read.out -> split.in` has slots in the plan, and cannot widen",
    ),
    (
        "segment 1 3 4 2",
        "segment 1 4 2",
        21,
        "data that leaves segment 0 returns to it from `decode` to `ask`",
    ),
    ("segment 5", "segment 5 1", 22, "node `split` is in segment 1, and in one before it"),
    ("segment 5", "segment 5 5", 22, "node `print` is in segment 1, and in one before it or twice"),
    ("segment 5", "segment 0 5", 22, "node `read` is in segment 1 and has a thread of its own"),
    ("segment 5", "segment", 22, "segment 1 has too few nodes"),
    ("segment 5", "segment 5 6", 22, "no node 6 above"),
    (
        "worker 0  # sum",
        "worker 1",
        21,
        "node `sum` of segment 0 belongs to worker 1, a node before it to worker 0",
    ),
    ("region 1 2", "region 1", 23, "region 0 has too few nodes"),
    ("region 1 2", "region 1 2\nregion 2 1", 24, "node `sum` is in region 1, and in one before it"),
    (
        "region 1 2",
        "region 3 4",
        23,
        "node `ask` is in region 0, and no channels of static rates inside the region join it",
    ),
    (
        "region 1 2",
        "region 2 5",
        23,
        "node `print` of region 0 belongs to worker 1, a node before it to worker 0",
    ),
    ("segment 1 3 4 2", "segment 1 3 4\nsegment 2", 24, "node `sum` of region 0 is in another segment than"),
    ("region 1 2", "region 1 x", 23, "expected a node number, found `x`"),
];

#[test]
fn edits_with_mistakes_are_refused_with_line_and_reason() {
    for (from, to, line, what) in EDITS {
        let text = text();
        assert!(text.contains(from), "`{from}` is not in the text");
        match Plan::read(&text.replacen(from, to, 1), &graph()) {
            Err(error) => {
                assert!(error.what().starts_with(what), "`{from}` -> `{to}`: {error}");
                assert_eq!(error.line(), *line, "`{from}` -> `{to}`: {error}");
            }
            Ok(_) => panic!("`{from}` -> `{to}` is accepted"),
        }
    }
}

#[test]
fn sensible_edits_are_accepted() {
    for (from, to) in [
        ("replicas 1", "replicas 2"),
        ("replicas 1", ""),
        ("replicas 1", "workers 1 0 shares 2 9"),
        ("policy auto", "policy auto\nmapper seg-both"),
        ("threads 2", "threads 9"),
        ("segment 1 3 4 2", "segment 1 3\nsegment 4 2"),
        ("slots 32768", ""),
        ("slots 32768", "slots 2048"),
        ("capacity 2048  # sum.out", "capacity 1  # sum.out"),
        ("window 32", "window 2"),
        ("held 67108864", "held 0"),
        ("bytes 67108864  # decode", "# decode"),
        ("bytes 67108864  # decode", "bytes 1  # decode"),
    ] {
        // Without the region, which the segments may cut.
        let text = text().replace("region 1 2", "").replacen(from, to, 1);
        assert!(Plan::read(&text, &graph()).is_ok(), "{to}: {:?}", Plan::read(&text, &graph()));
    }
    let own = text().replace("worker 1  # print", "own-thread").replace("segment 5", "");
    let plan = Plan::read(&own, &graph()).unwrap();
    assert!(plan.own_threads().contains(&NodeId(5)));
    let budget = text().replace(" slots 32768", "").replace("policy auto", "policy auto\nbudget 9999 bytes");
    let limited = budget.replace("capacity 256 bytes 67108864", "capacity 64 bytes 100");
    assert_eq!(Plan::read(&limited, &graph()).unwrap().byte_limits()[&ChannelId(4)], 100);
    let none = limited.replace("bytes 100", "bytes 0");
    assert!(Plan::read(&none, &graph()).unwrap_err().what().contains("`bytes 0`"));
}

#[test]
fn a_plan_of_another_graph_is_refused() {
    let text = text();
    let other = |change: fn(&mut GraphData)| {
        let mut graph = graph();
        change(&mut graph);
        Plan::read(&text, &graph)
    };
    let changes: [fn(&mut GraphData); 7] = [
        |graph| graph.rename(NodeId(2), "total"),
        |graph| *graph.node_mut(NodeId(2)).kind_mut() = Kind::Parallel,
        |graph| *graph.node_mut(NodeId(5)).inputs_mut()[1].pop_mut() = Rate::Static(2),
        |graph| *graph.channel_mut(ChannelId(1)).link_mut() = Link::default().with_initial(1),
        |graph| {
            let inputs = [0, 1, 2, 5, 4, 3];
            let channels = graph.disconnect();
            for (channel, to) in channels.iter().zip(inputs) {
                graph.connect(channel.from(), channels[to].to(), *channel.link()).unwrap();
            }
        },
        |graph| {
            let port = &mut graph.node_mut(NodeId(5)).inputs_mut()[1];
            *port = port.clone().with_first(Rate::Static(0), 0);
        },
        |graph| graph.add_messages(Messages::new(NodeId(5), NodeId(2))),
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let error = other(change).unwrap_err();
        let (line, what) = (error.line(), error.what());
        assert_eq!(line, 2, "{i}: {what}");
        assert!(what.contains("help: make a new plan for this graph"), "{i}: {what}");
    }
    // What the plan decides itself is no part of the fingerprint.
    assert!(
        other(|graph| *graph.channel_mut(ChannelId(3)).link_mut() = Link::default().with_capacity(7)).is_ok()
    );
    assert!(other(|graph| *graph.node_mut(NodeId(3)).workers_mut() = Some(7)).is_ok());
    // Nor is a place in a source text, or what nothing follows from.
    assert!(other(|graph| graph.set_span(NodeId(3), Span::new(1, 2, 3))).is_ok());
    assert!(
        other(|graph| *graph.node_mut(NodeId(5)).inputs_mut()[1].bounds_mut() = Some(Bounds::default()))
            .is_ok()
    );
}

#[test]
fn plans_with_unknown_nodes_and_channels_are_refused() {
    let (graph, mut plan) = (graph(), plan());
    plan.affinity_mut().insert(NodeId(6), 0);
    let error = plan.check(&graph).unwrap_err();
    assert_eq!((error.place(), error.misfit()), (Place::Node(NodeId(6)), &Misfit::Unknown));
    assert_eq!(error.to_string(), "node 6 is in the plan, the graph has none of this number");
    plan.affinity_mut().remove(&NodeId(6));
    plan.slots_mut().insert(ChannelId(6), 1);
    assert_eq!(plan.check(&graph).unwrap_err().place(), Place::Channel(ChannelId(6)));
    plan.slots_mut().remove(&ChannelId(6));
    plan.regions_mut().push(vec![NodeId(77), NodeId(1)]);
    assert_eq!(plan.check(&graph).unwrap_err().place(), Place::Region(1));
    plan.claim_lengths_mut().pop();
    assert_eq!(plan.check(&graph).unwrap_err().misfit(), &Misfit::Nodes { plan: 5, graph: 6 });
}

/// Each channel is within its own limit.
#[test]
fn channels_that_are_too_large_together_are_refused_with_the_largest() {
    let large = |count: usize| {
        let mut plan = plan();
        plan.slots_mut().clear();
        for (capacity, channel) in plan.capacities_mut()[..count].iter_mut().zip(graph().channels()) {
            // 2^31 slots, or 2^30 with the weights of items: 16 GiB.
            *capacity = if channel.link().weighed() { (1 << 29) + 1 } else { (1 << 30) + 1 };
        }
        plan.capacities_mut()[3] = 1 << 20;
        plan.check(&graph())
    };
    assert_eq!(large(4), Ok(()), "48 GiB and 8 MiB");
    let error = large(6).unwrap_err();
    let (total, most) = ((5 << 34) + (8 << 20), (64 << 30) + 6 * (2 << 20));
    assert_eq!(error.misfit(), &Misfit::BytesInAll { total, most, largest: 1 << 34 });
    assert_eq!(error.place(), Place::Channel(ChannelId(0)), "the first of the largest");
    let message = error.to_string();
    assert!(
        message
            .starts_with("the channels would take 85907734528 bytes, more than 68732059648: the largest, ")
    );
    assert!(
        message.ends_with("`read.out -> split.in`, takes 17179869184\nhelp: lower the capacities"),
        "{message}"
    );
}

#[test]
fn the_record_of_raised_capacities_names_channels_of_the_graph() {
    let text = text().replace("segment 5", "raised 5 from 1 to 8\nsegment 5");
    let mut plan = Plan::read(&text, &graph()).expect("a capacity may be edited after it was raised");
    *plan.raised_mut()[0].channel_mut() = ChannelId(6);
    assert_eq!(plan.check(&graph()).unwrap_err().place(), Place::Channel(ChannelId(6)));
}

#[test]
fn a_refused_policy_is_named_with_its_line() {
    let error = PlanError::policy(&plan(), "why not");
    assert_eq!(error.to_string(), "the plan names policy `auto`: why not");
    assert_eq!(error.place().line_in(&text()), Some(4));
    assert_eq!(Place::Region(0).line_in(&text()), Some(23));
    assert_eq!(Place::Policy.line_in("thalweg-plan 2"), None);
}

#[test]
fn workers_of_a_segment_follow_the_first_that_is_named() {
    let (graph, mut plan) = (graph(), plan());
    plan.affinity_mut().clear();
    plan.affinity_mut().insert(NodeId(4), 1);
    let of = |plan: &Plan| graph.node_ids().map(|id| plan.workers(&graph).of(id)).collect::<Vec<_>>();
    // `read` has a thread of its own, and `decode` is parallel.
    assert_eq!(of(&plan), [None, Some(1), Some(1), None, Some(1), Some(1)]);
    plan.affinity_mut().clear();
    assert_eq!(of(&plan), [None, Some(0), Some(0), None, Some(0), Some(1)]);
    plan.segments_mut().clear();
    plan.affinity_mut().insert(NodeId(2), 1);
    assert_eq!(of(&plan), [None, Some(1), Some(1), None, None, None], "the region is left");
}

proptest! {
    /// Bytes replaced, removed and inserted, also words of the format in wrong places.
    #[test]
    fn a_damaged_text_is_refused_with_a_line_or_fits(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0..24usize, any::<u8>()), 1..4)
    ) {
        const WORDS: [&str; 20] = [
            "0", "1", "7", "99999999999", "18446744073709551616", "-1", " claim ", " worker ", " replicas ", " slots ",
            " bytes ", "own-thread", "\n", "#", "\nsegment ", "\nregion ", "\nnode ", "\nchannel ", "graph", "é",
        ];
        let mut text = text().into_bytes();
        for (at, edit, byte) in edits {
            let at = at.index(text.len());
            match WORDS.get(edit) {
                Some(word) => _ = text.splice(at..at, word.bytes()),
                None if edit % 2 == 0 => text[at] = byte,
                None => _ = text.remove(at),
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        match Plan::read(&text, &graph()) {
            Ok(plan) => prop_assert_eq!(plan.check(&graph()), Ok(())),
            Err(error) => prop_assert!((1..=text.lines().count() + 1).contains(&error.line())),
        }
    }
}
