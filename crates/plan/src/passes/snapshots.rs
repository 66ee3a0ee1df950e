//! Each pass on small graphs: the lines of the plan's text that it adds or changes, compared with files.

use super::{BY_PROFILE, Given, PASSES, undecided};
use crate::{NodeProfile, POOLS, Plan, Profile, Wishes};
use std::time::Duration;
use thalweg_graph::{GraphData, InPort, Item, Link, Node, NodeId, OutPort, Rate};

/// Adds a node with inputs of these pop rates and outputs of these push rates; 0 is a dynamic rate.
fn add(graph: &mut GraphData, node: Node, pops: &[u32], pushes: &[u32]) -> NodeId {
    let rate = |items: u32| if items == 0 { Rate::Dynamic } else { Rate::Static(items.into()) };
    let item = Item::of::<u64>();
    let input = |node: Node, (i, n): (usize, &u32)| {
        node.input(InPort::new(format!("in{i}"), item).with_pop(rate(*n)))
    };
    let output = |node: Node, (i, n): (usize, &u32)| {
        node.output(OutPort::new(format!("out{i}"), item).with_push(rate(*n)))
    };
    let node = pops.iter().enumerate().fold(node, input);
    graph.add(pushes.iter().enumerate().fold(node, output))
}

fn profile(milliseconds: &[u64]) -> Profile {
    let node = |ms: &u64| NodeProfile::new(100, Duration::from_millis(*ms));
    Profile::new(Duration::from_millis(100), milliseconds.iter().map(node).collect(), Vec::new())
}

/// A blocking source, a parallel node that is half of the work, a parallel node that is a hundredth, and a sink.
fn farm() -> (GraphData, Wishes, Profile) {
    let mut graph = GraphData::new();
    let mut read = Node::sequential("read");
    *read.blocking_mut() = true;
    let read = add(&mut graph, read, &[], &[1]);
    let decode = add(&mut graph, Node::parallel("decode"), &[1], &[1]);
    let check = add(&mut graph, Node::parallel("check"), &[1], &[1]);
    let print = add(&mut graph, Node::sequential("print"), &[1], &[]);
    for (from, to) in [(read, decode), (decode, check), (check, print)] {
        graph.connect((from, 0), (to, 0), Link::default()).unwrap();
    }
    let wishes = Wishes::default().threads(8);
    (graph, wishes, profile(&[500, 200, 4, 96]))
}

/// Seven sequential kernels with static rates, but for one channel.
fn chain() -> (GraphData, Wishes, Profile) {
    let mut graph = GraphData::new();
    let mut last = add(&mut graph, Node::sequential("a"), &[], &[2]);
    for (name, pop, push) in [("b", 3, 1), ("c", 1, 1), ("d", 0, 1), ("e", 1, 1), ("f", 4, 4)] {
        let node = add(&mut graph, Node::sequential(name), &[pop], &[push]);
        graph.connect((last, 0), (node, 0), Link::default()).unwrap();
        last = node;
    }
    let end = add(&mut graph, Node::sequential("g"), &[1], &[]);
    graph.connect((last, 0), (end, 0), Link::default().with_capacity(3)).unwrap();
    (graph, Wishes::default().threads(3), profile(&[10, 20, 5, 5, 30, 5, 10]))
}

/// Processes in a loop with a kernel, run one to one.
fn processes() -> (GraphData, Wishes, Profile) {
    let mut graph = GraphData::new();
    let ping = add(&mut graph, Node::sequential("ping").into_process(), &[0], &[0, 0]);
    let pong = add(&mut graph, Node::sequential("pong").into_process(), &[0], &[0]);
    let print = add(&mut graph, Node::sequential("print"), &[1], &[]);
    graph.connect((ping, 0), (pong, 0), Link::default()).unwrap();
    graph.connect((pong, 0), (ping, 0), Link::default()).unwrap();
    graph.connect((ping, 1), (print, 0), Link::default()).unwrap();
    let wishes = Wishes::default().threads(2).thread_per_node(true).policy("ws-cur");
    (graph, wishes, profile(&[50, 50, 1]))
}

/// Weighed channels under a byte budget, with claims of one firing and two gates.
fn budget() -> (GraphData, Wishes, Profile) {
    let mut graph = GraphData::new();
    let read = add(&mut graph, Node::sequential("read"), &[], &[0]);
    let pack = add(&mut graph, Node::parallel("pack"), &[1], &[1]);
    let write = add(&mut graph, Node::sequential("write"), &[1], &[]);
    let weighed = Link::default().with_weighed(true);
    graph.connect((read, 0), (pack, 0), weighed).unwrap();
    graph.connect((pack, 0), (write, 0), weighed).unwrap();
    let wishes = Wishes::default().threads(2).budget(1 << 16).claim_length(1).keepers(2);
    (graph, wishes, profile(&[20, 80, 20]))
}

/// Channels of items that own memory, one of them weighed, one behind a blocking source, and one with a stated capacity.
fn owned() -> (GraphData, Wishes, Profile) {
    let mut graph = GraphData::new();
    let mut read = Node::sequential("read");
    *read.blocking_mut() = true;
    let nodes = [
        add(&mut graph, read, &[], &[1]),
        add(&mut graph, Node::parallel("pack"), &[1], &[1]),
        add(&mut graph, Node::sequential("sign"), &[1], &[0]),
        add(&mut graph, Node::sequential("frame"), &[0], &[1]),
        add(&mut graph, Node::sequential("write"), &[3], &[]),
    ];
    let owned = Link::of::<Vec<u8>>();
    let links = [owned, owned.with_weighed(true), owned, owned.with_capacity(100)];
    for (pair, link) in nodes.windows(2).zip(links) {
        graph.connect((pair[0], 0), (pair[1], 0), link).unwrap();
    }
    (graph, Wishes::default().threads(8), profile(&[5, 40, 5, 5, 5]))
}

/// The farm, with three workers for each parallel node, of which one allows two.
fn pooled() -> (GraphData, Wishes, Profile) {
    let (mut graph, wishes, profile) = farm();
    *graph.node_mut(NodeId(2)).workers_mut() = Some(2);
    (graph, Wishes { policy: Some(POOLS.to_owned()), pools: Some(3), ..wishes }, profile)
}

/// The decisions of each pass, as the lines of the text that it adds or changes.
fn decisions((graph, wishes, profile): (GraphData, Wishes, Profile)) -> String {
    let given = Given { graph: &graph, profile: Some(&profile), units: None, wishes: &wishes };
    let lines = |plan: &Plan| plan.on(&graph).to_string().lines().map(str::to_owned).collect::<Vec<_>>();
    let mut plan = undecided(&given);
    let mut text = String::new();
    let by_profile: &[_] = if plan.has_pools() { &[] } else { &BY_PROFILE };
    for (name, pass) in PASSES.iter().chain(by_profile) {
        let before = lines(&plan);
        pass(&given, &mut plan);
        text += &format!("== {name}\n");
        for line in lines(&plan).iter().filter(|line| !before.contains(line)) {
            text += &format!("{line}\n");
        }
    }
    assert_eq!(plan.check(&graph), Ok(()));
    text
}

fn compare(file: &str, expected: &str, made: &str) {
    assert!(made == expected, "help: if the decisions are right, write them to tests/passes/{file}:\n{made}");
}

#[test]
fn passes_decide_as_in_the_files() {
    compare("farm.txt", include_str!("../../tests/passes/farm.txt"), &decisions(farm()));
    compare("pools.txt", include_str!("../../tests/passes/pools.txt"), &decisions(pooled()));
    compare("chain.txt", include_str!("../../tests/passes/chain.txt"), &decisions(chain()));
    compare("processes.txt", include_str!("../../tests/passes/processes.txt"), &decisions(processes()));
    compare("owned.txt", include_str!("../../tests/passes/owned.txt"), &decisions(owned()));
    compare("budget.txt", include_str!("../../tests/passes/budget.txt"), &decisions(budget()));
}
