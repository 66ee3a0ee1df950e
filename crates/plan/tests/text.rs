//! The text form of plans: printing and parsing.

use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Link, Node, NodeId, OutPort};
use thalweg_plan::{Fingerprint, Plan, Raised, Wishes};

fn graph() -> GraphData {
    let item = Item::of::<u64>();
    let mut graph = GraphData::new();
    let a = graph.add(Node::sequential("new\nline").output(OutPort::new("out", item)));
    let b = graph.add(Node::sequential("sum").input(InPort::new("in", item).with_peek(4)));
    graph.connect((a, 0), (b, 0), Link::default().with_capacity(2)).unwrap();
    graph
}

fn plan() -> Plan {
    let wishes = Wishes::default().threads(2).policy("qes+pss").budget(4096);
    Plan::new(&graph(), &wishes)
}

fn parse_error(text: &str) -> String {
    text.parse::<Plan>().unwrap_err().to_string()
}

/// The line of the graph's fingerprint.
fn graph_line() -> String {
    format!("graph {}", Fingerprint::of(&graph()))
}

#[test]
fn prints_one_statement_a_line() {
    let expected = format!(
        "\
thalweg-plan 2
{}
threads 2
policy qes+pss
budget 4096 bytes
batch 16384
window 32
held 2048 bytes
kept 2048 bytes
node 0 claim 512
node 1 claim 512
channel 0 capacity 4
raised 0 from 2 to 4
",
        graph_line()
    );
    assert_eq!(plan().to_string(), expected);
    assert_eq!(expected.parse(), Ok(plan()));
    assert_eq!(Plan::read(&expected, &graph()), Ok(plan()));
}

#[test]
fn prints_what_is_decided_for_few_nodes_behind_the_rest() {
    let mut plan = plan();
    plan.replicas_mut().insert(NodeId(0), 3);
    plan.affinity_mut().insert(NodeId(0), 1);
    plan.pools_mut().insert(NodeId(0), vec![4, 2]);
    plan.shares_mut().insert(NodeId(0), vec![1, 3]);
    *plan.mapper_mut() = Some("seg both".to_owned());
    plan.own_threads_mut().insert(NodeId(1));
    plan.slots_mut().insert(ChannelId(0), 8);
    plan.byte_limits_mut().insert(ChannelId(0), 100);
    *plan.segments_mut() = vec![vec![NodeId(1), NodeId(0)], vec![]];
    *plan.regions_mut() = vec![vec![NodeId(0)]];
    let text = plan.to_string();
    let end = "\
node 0 claim 512 replicas 3 worker 1 workers 4 2 shares 1 3
node 1 claim 512 own-thread
channel 0 capacity 4 slots 8 bytes 100
raised 0 from 2 to 4
segment 1 0
segment
region 0
";
    assert!(text.ends_with(end), "{text}");
    assert_eq!(text.parse(), Ok(plan));
}

#[test]
fn names_are_escaped_comments() {
    let text = plan().on(&graph()).to_string();
    assert!(text.contains("\nnode 0 claim 512  # new\\nline\nnode 1 claim 512  # sum\n"), "{text}");
    assert!(text.contains("\nchannel 0 capacity 4  # new\\nline.out -> sum.in\n"), "{text}");
    assert_eq!(text.parse(), Ok(plan()));
    // Nodes and channels that the graph lacks have no comment.
    assert!(plan().on(&GraphData::new()).to_string().contains("channel 0 capacity 4\n"));
}

#[test]
fn comments_and_whitespace_are_ignored() {
    let text = "# mine\r\n\r\n  thalweg-plan   2\r\npolicy auto # the default\r\n\tthreads 3\nbatch 1 \nwindow 2\n\
        held 0 bytes\nkept 0 bytes\ngraph 0123456789abcdef nodes 0 channels 0";
    let plan: Plan = text.parse().unwrap();
    assert_eq!((plan.threads(), plan.policy(), plan.budget()), (3, "auto", None));
    assert_eq!(plan.claim_lengths(), []);
    let graph = plan.graph();
    assert_eq!((graph.hash(), graph.nodes(), graph.channels()), (0x0123_4567_89AB_CDEF, 0, 0));
}

#[test]
fn errors_name_the_line() {
    let head = "thalweg-plan 2\nthreads 1\npolicy auto\n";
    let after = |line: &str| parse_error(&format!("{head}\n# one comment\n{line}\n"));
    assert_eq!(after("node 1 claim 4"), "plan, line 6: expected node 0, found node 1");
    assert!(after("node 0 claim 0").starts_with("plan, line 6: expected a number from 1 to "));
    assert_eq!(after("nodes 4"), "plan, line 6: unknown statement `nodes 4`");
    assert_eq!(after("threads 2"), "plan, line 6: duplicate `threads`");
    assert_eq!(after("raised 0 from 1 to 2"), "plan, line 6: no channel 0 above");
    assert_eq!(after("segment 0"), "plan, line 6: no node 0 above");
    assert_eq!(after("region x"), "plan, line 6: expected a node number, found `x`");
    assert_eq!(
        after("node 0 claim 1 slots 3"),
        "plan, line 6: expected `replicas N`, `worker N`, `workers N ..`, `shares N ..` or `own-thread`, found `slots`"
    );
    assert_eq!(after("node 0 claim 1 worker 0 worker 1"), "plan, line 6: duplicate `worker`");
    assert_eq!(after("node 0 claim 1 own-thread own-thread"), "plan, line 6: duplicate `own-thread`");
    assert_eq!(
        after("channel 0 capacity 1 slots"),
        "plan, line 6: expected `slots N` or `bytes N`, found `slots`"
    );
    assert!(
        after("node 0 claim 1 replicas 4294967296")
            .contains("line 6: expected a number from 0 to 4294967295")
    );
    assert!(after("budget -1 bytes").starts_with("plan, line 6: expected a number from 0 to "));
    assert!(after("channel 0 capacity 99999999999999999999").contains("line 6"));
    assert_eq!(
        after("graph 12 nodes 1 channels 1"),
        "plan, line 6: expected 16 hexadecimal digits after `graph`"
    );
    assert!(parse_error("thalweg-plan 2\npolicy \\x").contains("line 2: invalid escape in `\\x`"));
    assert_eq!(
        parse_error("thalweg-plan 2\nthreads 99999999999"),
        "plan, line 2: expected a number from 1 to 4096, found `99999999999`"
    );
}

#[test]
fn other_texts_and_other_versions_are_refused() {
    for version in ["1", "3"] {
        assert_eq!(
            parse_error(&format!("thalweg-plan {version}\nthreads 1")),
            format!(
                "plan, line 1: unsupported version: expected `thalweg-plan 2`, found `thalweg-plan {version}`\n\
                 help: print the plan again with this version of the program, and repeat the edits"
            )
        );
    }
    assert!(parse_error("#!/bin/sh\necho\n").starts_with("plan, line 2: not a plan"));
    assert!(parse_error("").starts_with("plan, line 1: not a plan"));
    let whole = plan().to_string();
    for (i, word) in ["graph", "threads", "policy", "batch", "window", "held", "kept"].iter().enumerate() {
        let without: Vec<&str> = whole.lines().filter(|line| !line.starts_with(word)).collect();
        let expected = format!("plan, line {}: missing `{word}`", whole.lines().count());
        assert_eq!(parse_error(&without.join("\n")), expected, "{i}");
    }
}

type Maps =
    (BTreeMap<u32, u32>, BTreeMap<u32, u32>, BTreeSet<u32>, BTreeMap<u32, usize>, BTreeMap<u32, usize>);

/// Entries for some of the first eight nodes and channels.
fn any_maps() -> impl Strategy<Value = Maps> {
    let narrow = || proptest::collection::btree_map(0u32..8, any::<u32>(), 0..4);
    let wide = || proptest::collection::btree_map(0u32..8, any::<usize>(), 0..4);
    (narrow(), narrow(), proptest::collection::btree_set(0u32..8, 0..4), wide(), wide())
}

/// A random plan, with any values that its fields allow: parts that a graph would refuse too.
fn any_plan() -> impl Strategy<Value = Plan> {
    let claims = proptest::collection::vec(1usize.., 0..8);
    let capacities = proptest::collection::vec(any::<usize>(), 0..8);
    let raised =
        proptest::collection::vec((any::<prop::sample::Index>(), any::<usize>(), any::<usize>()), 0..3);
    let sets = || proptest::collection::vec(proptest::collection::vec(0u32..8, 0..5), 0..3);
    let numbers = any::<(usize, usize, usize, usize, u64, Option<usize>)>();
    let policy = r"\PC*|[\s\x00-\x24\\{}]{0,6}";
    let notes = proptest::collection::vec(r"\PC*|[\s\x00-\x24\\{}]{0,6}|( ?[a-z#]{0,3}){0,4}", 0..3);
    ((claims, capacities, 1usize..=4096, policy, raised, notes), (numbers, any_maps(), sets(), sets()))
        .prop_map(
            |((claims, capacities, threads, policy, raised, notes), (numbers, maps, segments, regions))| {
                let mut plan = Plan::new(&GraphData::new(), &Wishes::default());
                let (nodes, channels) = (claims.len() as u32, capacities.len() as u32);
                if channels > 0 {
                    let channel = |at: prop::sample::Index| ChannelId(at.index(capacities.len()) as u32);
                    let raised = raised.into_iter();
                    *plan.raised_mut() =
                        raised.map(|(at, asked, given)| Raised::new(channel(at), asked, given)).collect();
                }
                (*plan.claim_lengths_mut(), *plan.capacities_mut(), *plan.threads_mut()) =
                    (claims, capacities, threads);
                let hash;
                (
                    *plan.batch_mut(),
                    *plan.window_mut(),
                    *plan.held_mut(),
                    *plan.kept_mut(),
                    hash,
                    *plan.budget_mut(),
                ) = numbers;
                *plan.graph_mut() = Fingerprint::new(plan.held(), plan.kept(), hash);
                *plan.policy_mut() = policy;
                let node = |(id, value)| (NodeId(id), value);
                let channel = |(id, value)| (ChannelId(id), value);
                *plan.replicas_mut() = maps.0.into_iter().filter(|(id, _)| *id < nodes).map(node).collect();
                *plan.affinity_mut() = maps.1.into_iter().filter(|(id, _)| *id < nodes).map(node).collect();
                *plan.own_threads_mut() = maps.2.into_iter().filter(|id| *id < nodes).map(NodeId).collect();
                *plan.slots_mut() =
                    maps.3.into_iter().filter(|(id, _)| *id < channels).map(channel).collect();
                *plan.byte_limits_mut() =
                    maps.4.into_iter().filter(|(id, _)| *id < channels).map(channel).collect();
                let lists = segments.iter().enumerate().filter(|(id, _)| *id < nodes as usize);
                *plan.pools_mut() = lists.map(|(id, list)| (NodeId(id as u32), list.clone())).collect();
                *plan.shares_mut() = plan.pools().clone();
                *plan.mapper_mut() = plan.budget().map(|_| plan.policy().to_owned());
                *plan.notes_mut() = notes;
                let sets = |sets: Vec<Vec<u32>>| -> Vec<Vec<NodeId>> {
                    let known =
                        |set: Vec<u32>| set.into_iter().filter(|id| *id < nodes).map(NodeId).collect();
                    sets.into_iter().map(known).collect()
                };
                (*plan.segments_mut(), *plan.regions_mut()) = (sets(segments), sets(regions));
                plan
            },
        )
}

proptest! {
    #[test]
    fn a_printed_plan_reads_back_as_itself(plan in any_plan()) {
        prop_assert_eq!(plan.to_string().parse::<Plan>(), Ok(plan));
    }

    #[test]
    fn a_checked_plan_is_refused_or_fits_and_never_panics(plan in any_plan()) {
        let mut plan = plan;
        *plan.graph_mut() = Fingerprint::of(&graph());
        _ = plan.check(&graph());
        plan.claim_lengths_mut().resize(2, 1);
        plan.capacities_mut().resize(1, 4);
        _ = plan.check(&graph());
        _ = plan.check_pools(&graph());
        _ = plan.workers(&graph());
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = text.parse::<Plan>();
        let _ = format!("thalweg-plan 2\n{text}").parse::<Plan>();
    }

    #[test]
    fn a_damaged_plan_is_read_or_refused_with_a_line_number(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = plan().to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Err(line) = Plan::read(&text, &graph()).map_err(|error| error.line()) {
            prop_assert!((1..=text.lines().count() + 1).contains(&line));
        }
    }
}
