//! Growth of a full channel ([`growth`](crate::liveness::growth)) while another thread widens it
//! ([`widen`](crate::sched::widen)), which needs no claim of its nodes.

use super::check;
use super::engine::Room;
use crate::channel::{Grow, Layout, Meter};
use crate::liveness::growth::grow;
use crate::net::{Net, NodeCell, NodeState, Signals};
use crate::sync::{Ordering, lock};
use loom::thread;
use std::collections::BTreeSet;
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, OutPort, Rate};
use thalweg_plan::{Plan, Wishes};

const CHANNEL: ChannelId = ChannelId(0);

/// A producer and a consumer, with a channel of two items between them, without threads that run them.
fn net() -> Arc<Net<'static>> {
    let mut graph = GraphData::new();
    let item = Item::of::<u64>();
    let give =
        graph.add(Node::sequential("give").output(OutPort::new("out", item).with_push(Rate::Static(1))));
    let take = graph.add(Node::sequential("take").input(InPort::new("in", item)));
    graph.connect((give, 0), (take, 0), Link::default().with_capacity(2)).unwrap();
    let plan = Plan::new(&graph, &Wishes::default().threads(1));
    let meter = Arc::new(Meter::new(2, Layout::Apart, false));
    let cell = || NodeCell {
        needs: Box::default(),
        kind: Kind::Sequential,
        pinned: false,
        state: NodeState::single(),
        is_free_process: false,
        body: None,
        dedicated: None,
        roaming: None,
        dedicated_peers: false,
    };
    let rings = vec![(meter.clone(), Arc::new(Room(meter)) as Arc<dyn Grow>)];
    Arc::new(Net::new(
        graph,
        plan,
        vec![cell(), cell()],
        rings,
        Arc::new(Signals::new((1, 1), 2)),
        BTreeSet::new(),
    ))
}

/// The bytes that are charged are those of the growth that the report names, and the capacity is at least that.
///
/// Mutation that fails: `grow` that reads the capacity a second time for the bytes.
#[test]
fn loom_growth_is_charged_as_it_is_reported() {
    check(|| {
        let net = net();
        let before = net.liveness.spent.load(Ordering::Relaxed);
        let wider = thread::spawn({
            let net = net.clone();
            move || net.meter(CHANNEL).raise_capacity(3)
        });
        // SAFETY: no thread activates a node of this network.
        assert!(unsafe { grow(&net, CHANNEL) });
        wider.join().unwrap();
        let charged = net.liveness.spent.load(Ordering::Relaxed) - before;
        let growths = lock(&net.liveness.growths);
        let [growth] = &growths[..] else { panic!("{growths:?}") };
        assert_eq!(charged, (growth.to() - growth.from()) * size_of::<u64>(), "{growth:?}");
        assert!(net.meter(CHANNEL).capacity() >= growth.to());
    });
}
