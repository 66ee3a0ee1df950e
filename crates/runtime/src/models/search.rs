//! A search for waiting cycles while their nodes are activated: a cycle that is not stuck does not grow, a stuck one
//! does, and storage is replaced under the claims of both ends.

use super::check;
use crate::channel::Lack;
use crate::channel::{Grow, Layout, Meter};
use crate::net::{Body, By, Cx, Held, Net, NodeCell, NodeState, Signals};
use crate::node::claim::Claim;
use crate::sched::make_ready::changed_by;
use crate::sync::{UnsafeCell, lock};
use loom::thread;
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::Event;

/// A channel's storage, as a loom cell that each use and each replacement accesses.
struct Slots {
    meter: Arc<Meter>,
    cell: UnsafeCell<usize>,
}

// SAFETY: what is to be checked: the cell is accessed by one thread at a time.
unsafe impl Sync for Slots {}
// SAFETY: a number and an `Arc` of atomics.
unsafe impl Send for Slots {}

impl Slots {
    fn touch(&self) {
        // SAFETY: loom reports it if another access is under way or not ordered with this one.
        self.cell.with_mut(|count| unsafe { *count += 1 });
    }
}

impl Grow for Slots {
    fn is_lent(&self) -> bool {
        false
    }

    fn cut(&self) {
        unreachable!("no loop is closed here");
    }

    // SAFETY: the contract is the callers', and what this model checks.
    unsafe fn grow(&self, capacity: usize, _keep: bool) {
        self.touch();
        self.meter.raise_capacity(capacity);
    }
}

/// A node that goes through a list of operations, each on a channel: sends, or receives.
struct Script {
    /// Operations done.
    done: Claim<usize>,
    sends: bool,
    channels: &'static [u32],
    slots: Vec<Arc<Slots>>,
}

impl Script {
    /// What the next operation lacks.
    fn lack(&self, done: usize) -> Option<Lack> {
        let at = self.channels[done];
        let (channel, meter) = (ChannelId(at), &self.slots[at as usize].meter);
        let before = self.channels[..done].iter().filter(|other| **other == at).count();
        match self.sends {
            true if before >= meter.head() + meter.capacity() => {
                Some(Lack::Room { channel, until: before + 1 - meter.capacity() })
            }
            false if before >= meter.tail() => Some(Lack::Items { channel, until: before + 1 }),
            _ => {
                self.slots[at as usize].touch_as(self.sends, before + 1);
                None
            }
        }
    }
}

impl Slots {
    /// The operation itself. Both ends use the storage, each its own slots; here one cell stands for
    /// the sender's.
    fn touch_as(&self, sends: bool, count: usize) {
        match sends {
            true => {
                self.touch();
                self.meter.publish(count);
            }
            false => self.meter.release(count),
        }
    }
}

impl Body for Script {
    fn activate(&self, cx: &mut Cx<'_>) -> Event {
        let Some(mut done) = self.done.try_claim() else { return Event::Refused };
        while *done < self.channels.len() {
            if let Some(lack) = self.lack(*done) {
                cx.state().wait.lack(lack);
                changed_by(cx);
                return Event::Waiting;
            }
            *done += 1;
        }
        cx.state().wait.never();
        changed_by(cx);
        Event::Done
    }

    fn is_held(&self) -> bool {
        self.done.is_held()
    }

    fn hold(&self, _state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        self.done.try_claim().map_or(Err(false), |done| Ok(Box::new(done) as _))
    }

    fn is_framed(&self) -> bool {
        true
    }
}

/// A producer and a consumer with two channels of one item between them, and their scripts.
fn net(gives: &'static [u32], takes: &'static [u32]) -> Arc<Net<'static>> {
    let mut graph = GraphData::new();
    let item = Item::of::<()>();
    let give = Node::sequential("give").output(OutPort::new("a", item)).output(OutPort::new("b", item));
    let take = Node::sequential("take").input(InPort::new("a", item)).input(InPort::new("b", item));
    let (give, take) = (graph.add(give.into_process()), graph.add(take.into_process()));
    let link = Link { capacity: Some(1), ..Link::default() };
    graph.connect((give, 0), (take, 0), link.clone()).unwrap();
    graph.connect((give, 1), (take, 1), link).unwrap();
    let plan = Plan::new(&graph, &Wishes { threads: Some(1), ..Wishes::default() });
    let slots: Vec<Arc<Slots>> = (0..2)
        .map(|_| {
            Arc::new(Slots {
                meter: Arc::new(Meter::new(1, Layout::Together, false)),
                cell: UnsafeCell::new(0),
            })
        })
        .collect();
    let cell = |sends, channels| NodeCell {
        needs: Box::default(),
        kind: Kind::Process,
        state: NodeState::single(),
        is_free_process: false,
        pinned: false,
        body: Some(
            Box::new(Script { done: Claim::new(0), sends, channels, slots: slots.clone() }) as Box<dyn Body>
        ),
        dedicated: None,
        dedicated_peers: false,
    };
    let nodes = vec![cell(true, gives), cell(false, takes)];
    let rings = slots.iter().map(|slots| (slots.meter.clone(), slots.clone() as Arc<dyn Grow>)).collect();
    Arc::new(Net::new(graph, plan, nodes, rings, Arc::new(Signals::new(1, 2))))
}

fn activate(net: &Net<'_>, node: u32) -> Event {
    let node = NodeId(node);
    let mut cx = Cx::new(net, By::Worker(0));
    cx.begin(node, &net.cells.nodes[node.index()].state, (1, 1), false);
    net.cells.nodes[node.index()].body.as_ref().unwrap().activate(&mut cx)
}

/// One thread activates, another searches for cycles; then both go on in turn to the end. Returns how often a
/// channel grew.
fn run(gives: &'static [u32], takes: &'static [u32]) -> usize {
    let net = net(gives, takes);
    let worker = thread::spawn({
        let net = net.clone();
        move || {
            for node in [1, 0, 1, 0] {
                activate(&net, node);
            }
        }
    });
    crate::liveness::search::sweep(&net);
    worker.join().unwrap();
    let mut ended = [false; 2];
    for _ in 0..4 {
        ended = [0, 1].map(|node| activate(&net, node) == Event::Done);
        crate::liveness::search::sweep(&net);
    }
    assert_eq!(ended, [true; 2], "a node was not made ready");
    assert!(net.take_failure().is_none(), "a deadlock was seen");
    let growths = lock(&net.liveness.growths).len();
    growths
}

/// The consumer waits first for what the producer pushes last.
///
/// Mutations that fail: `confirm` that releases each claim at once.
#[test]
fn loom_search_opens_what_is_stuck() {
    check(|| assert_eq!(run(&[0, 0, 1], &[1, 0, 0]), 1));
}

/// The producer waits for room most of the time, and is in no cycle.
///
/// Mutations that fail: `confirm` without its second look at the candidates.
#[test]
fn loom_search_opens_nothing_else() {
    check(|| assert_eq!(run(&[0, 0, 1], &[0, 1, 0]), 0));
}
