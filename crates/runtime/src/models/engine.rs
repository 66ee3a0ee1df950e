//! The engine without ports, kernels and the examination of a resting graph: the real `Net`, `Worker` and
//! `dedicated::run` run a producer and a consumer made for the model.
//!
//! | part | in the model |
//! |---|---|
//! | `Net`, `Worker`, `dedicated::run`, `make_ready`, `ending`, `Sleep` | the real ones |
//! | the policy | [`First`], which scans |
//! | a kernel | [`Model`]: one item a firing, one firing an activation, no slots |
//! | the last active thread | none: `Sleep` counts one thread more than there are |
//!
//! Accesses to slots are checked in `ring`; this model checks claims, wake-ups and the end of the run. The thread that
//! is counted in addition stands for an outside end that never waits. So no thread is the last active one, whose
//! examination would hide a lost wake-up, and loom reports a lost wake-up as a deadlock.
//!
//! One worker and one dedicated thread: two workers, which check every node before and after each activation, take the
//! model past many minutes, and are checked in `sleep`.

use super::check;
use crate::channel::Lack;
use crate::channel::{Grow, Layout, Meter};
use crate::net::{ActivationContext, Body, Held, Net, NodeCell, NodeState, Signals};
use crate::node::claim::Claim;
use crate::sched::ending::ended;
use crate::sched::host::EngineHost;
use crate::sched::make_ready::changed_by;
use crate::sched::pace::Pace;
use crate::sched::worker::{Worker, WorkerConfig};
use loom::thread;
use std::collections::BTreeSet;
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort, Rate};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::random::XorShift;
use thalweg_policy::{Decision, Event, Host, Policy, WorkerId};

const CHANNEL: ChannelId = ChannelId(0);

/// A policy that scans: it chooses the first claimable node.
struct First;

impl Policy for First {
    type Local = ();
    type Shared = ();

    fn start<H: Host>(&self, _worker: WorkerId, _host: &mut H) {}

    fn next<H: Host>(&self, (): &mut (), _last: Option<(NodeId, Event)>, host: &mut H) -> Decision {
        let nodes = host.graph().node_ids();
        nodes.into_iter().find(|node| host.claimable(*node)).map_or(Decision::Idle, Decision::Activate)
    }
}

/// A node of the model: one item a firing, one firing an activation.
struct Model {
    /// Items pushed or popped.
    done: Claim<usize>,
    /// The number of items that a producer pushes before it ends. `None` for the consumer, which ends with its input.
    gives: Option<usize>,
}

impl Model {
    /// Pushes or pops one item, if there is room or an item. The caller holds the claim.
    fn step(&self, done: &mut usize, cx: &mut ActivationContext<'_>) -> Event {
        let (net, meter) = (cx.net, cx.net.meter(CHANNEL));
        let ready = match self.gives {
            Some(all) if *done == all => {
                meter.end();
                ended(net, cx.node);
                return Event::Done;
            }
            Some(_) => *done < meter.head() + meter.capacity(),
            None => {
                // `ended` before `tail`: after true the tail is final.
                let over = meter.ended();
                if over && meter.tail() == *done {
                    meter.leave();
                    ended(net, cx.node);
                    return Event::Done;
                }
                *done < meter.tail()
            }
        };
        if !ready {
            cx.state().wait.lack(match self.gives {
                Some(_) => Lack::Room { channel: CHANNEL, until: *done + 1 - meter.capacity() },
                None => Lack::Items { channel: CHANNEL, until: *done + 1 },
            });
            return if self.gives.is_some() { Event::Full(CHANNEL) } else { Event::Empty(CHANNEL) };
        }
        *done += 1;
        match self.gives {
            Some(_) => meter.publish(*done),
            None => meter.release(*done),
        }
        cx.state().wait.ready();
        cx.fired += 1;
        changed_by(cx);
        Event::Budget
    }
}

impl Body for Model {
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        self.done.with(Event::Refused, |done| self.step(done, cx))
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

/// The storage of a channel without items.
pub(super) struct Room(pub(super) Arc<Meter>);

impl Grow for Room {
    fn is_lent(&self) -> bool {
        false
    }

    fn cut(&self) {
        unreachable!("no loop is closed here");
    }

    fn unreceived(&self) -> usize {
        self.0.items()
    }

    // SAFETY: there is no storage, so nothing can point into it; the capacity is an atomic, which any thread may raise.
    unsafe fn grow(&self, capacity: usize, _keep: bool) -> bool {
        self.0.raise_capacity(capacity);
        true
    }
}

/// A network of a producer of `items` items and a consumer, with a channel of one item between them. One of them, the
/// node `dedicated`, has a thread of its own, sleeper 1; worker 0 runs the other.
fn net(items: usize, dedicated: NodeId) -> Arc<Net<'static>> {
    let mut graph = GraphData::new();
    let item = Item::of::<()>();
    let give =
        graph.add(Node::sequential("give").output(OutPort::new("out", item).with_push(Rate::Static(1))));
    let take = graph.add(Node::sequential("take").input(InPort::new("in", item)));
    *graph.node_mut(dedicated).blocking_mut() = true;
    graph.connect((give, 0), (take, 0), Link::default().with_capacity(1)).unwrap();
    let plan = Plan::new(&graph, &Wishes::default().threads(1));
    let meter = Arc::new(Meter::new(1, Layout::Apart, false));
    let cell = |node, gives, peer| NodeCell {
        needs: Box::default(),
        kind: Kind::Sequential,
        pinned: false,
        state: NodeState::single(),
        is_free_process: false,
        body: Some(Box::new(Model { done: Claim::new(0), gives }) as Box<dyn Body>),
        dedicated: (node == dedicated).then_some(1),
        roaming: None,
        dedicated_peers: peer == dedicated,
    };
    let nodes = vec![cell(give, Some(items), take), cell(take, None, give)];
    let rings = vec![(meter.clone(), Arc::new(Room(meter)) as Arc<dyn Grow>)];
    Arc::new(Net::new(graph, plan, nodes, rings, Arc::new(Signals::new((1, 3), 2)), BTreeSet::new()))
}

/// Sends two items through the channel, and checks that both arrive and that the run then ends.
fn run(dedicated: NodeId) {
    let net = net(2, dedicated);
    let config = WorkerConfig {
        adapts: false,
        shares: false,
        pace: Pace::Counted,
        spin: false,
        yields: false,
        stamped: true,
        timeline: 0,
        deadline: None,
    };
    let other = thread::spawn({
        let net = net.clone();
        move || drop(crate::sched::dedicated::run(&net, dedicated, 1, &config))
    });
    let shared = crate::sync::Mutex::new(());
    let host = EngineHost {
        net: &net,
        shared: &shared,
        worker: 0,
        random: XorShift::new(0, 0),
        steal_attempts: 0,
        steals: 0,
        stealing: None,
        recorder: None,
        pinned_first: false,
        now: 0,
        ticket_waits: None,
        carries: false,
        starting: false,
    };
    Worker::new(host, &First, (), config).run(None);
    other.join().unwrap();
    assert!(net.take_failure().is_none(), "the run failed");
    assert!(net.cells.nodes.iter().all(|node| node.state.is_done()));
    assert_eq!((net.meter(CHANNEL).head(), net.meter(CHANNEL).tail()), (2, 2));
}

/// The producer has a thread of its own; the consumer's worker is woken when it has work.
///
/// Mutations that fail: no fence in `announce` or in `make_ready::changed`; `changed` left out by the node.
#[test]
fn loom_engine_with_a_dedicated_producer() {
    check(|| run(NodeId(0)));
}

/// The consumer has a thread of its own; the producer's worker sleeps while the channel is full.
///
/// Mutations that fail: no fence in `doze` or in `make_ready::changed`; `make_ready` that skips dedicated
/// neighbours; `changed` left out by the node.
#[test]
fn loom_engine_with_a_dedicated_consumer() {
    check(|| run(NodeId(1)));
}
