//! The deadlock search while the nodes are activated: a cycle that is not stuck does not grow, a stuck one does, and
//! storage is replaced only while both ends are claimed; a loop ends only once it is done.
//!
//! | part | in the model |
//! |---|---|
//! | `Net`, `liveness::search`, `Claim`, `Meter` | the real ones |
//! | a kernel or process | a [`Script`]: a fixed list of operations on two channels of one item each |
//! | a channel's storage | [`Slots`]: one loom cell, written by each send and by each growth |
//!
//! | a kernel of a work-list | a [`Pass`]: passes items on a fixed number of times, and ends with its input |
//!
//! A growth that is not ordered with an access by an activation is a data race on the cell, which loom reports. A
//! change that neither the search nor an activation acts on leaves a script unfinished, which [`run`] asserts.

use super::check;
use crate::channel::Lack;
use crate::channel::{Grow, Layout, Meter};
use crate::net::{ActivationContext, Body, By, Held, Net, NodeCell, NodeState, Signals};
use crate::node::claim::Claim;
use crate::sched::make_ready::changed_by;
use crate::sync::{UnsafeCell, lock};
use loom::thread;
use std::collections::BTreeSet;
use std::sync::Arc;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Kind, Link, Node, NodeId, OutPort};
use thalweg_plan::{Plan, Wishes};
use thalweg_policy::Event;

/// A channel's storage, as a loom cell that each use and each replacement accesses.
struct Slots {
    meter: Arc<Meter>,
    /// The number of accesses; the value is not used.
    cell: UnsafeCell<usize>,
}

// SAFETY: the claim of the model is that the cell is accessed by the holder of the sender's claim only. loom reports an
// access that is not ordered after the previous one.
unsafe impl Sync for Slots {}
// SAFETY: a number and an `Arc` of atomics, which are `Send`.
unsafe impl Send for Slots {}

impl Slots {
    /// Accesses the storage.
    fn touch(&self) {
        // SAFETY: the caller has the sender's claim, so no other thread has a reference; loom reports the contrary.
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

    fn unreceived(&self) -> usize {
        self.meter.items()
    }

    // SAFETY: the caller holds the claims of both ends, by the contract of `Grow::grow`. That the search does is what
    // this model checks.
    unsafe fn grow(&self, capacity: usize, _keep: bool) -> bool {
        self.touch();
        self.meter.raise_capacity(capacity);
        true
    }
}

/// A node that executes a list of operations in order: all sends, or all receives.
struct Script {
    /// The number of operations done, under the node's claim.
    done: Claim<usize>,
    /// Whether the operations are sends.
    sends: bool,
    /// The channel of each operation.
    channels: &'static [u32],
    /// By channel.
    slots: Vec<Arc<Slots>>,
}

impl Script {
    /// Executes the operation after the first `done`, or returns the condition that it lacks.
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
    /// The operation itself. In a real channel both ends access the storage, each its own slots; here one cell stands
    /// for the sender's slots.
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
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        self.done.with(Event::Refused, |done| {
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
        })
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

/// A network of a producer and a consumer with two channels of one item between them, and their scripts. Neither is
/// dedicated, and the policy scans.
fn net(gives: &'static [u32], takes: &'static [u32]) -> Arc<Net<'static>> {
    let mut graph = GraphData::new();
    let item = Item::of::<()>();
    let give = Node::sequential("give").output(OutPort::new("a", item)).output(OutPort::new("b", item));
    let take = Node::sequential("take").input(InPort::new("a", item)).input(InPort::new("b", item));
    let (give, take) = (graph.add(give.into_process()), graph.add(take.into_process()));
    let link = Link::default().with_capacity(1);
    graph.connect((give, 0), (take, 0), link.clone()).unwrap();
    graph.connect((give, 1), (take, 1), link).unwrap();
    let plan = Plan::new(&graph, &Wishes::default().threads(1));
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
        roaming: None,
        dedicated_peers: false,
    };
    let nodes = vec![cell(true, gives), cell(false, takes)];
    let rings = slots.iter().map(|slots| (slots.meter.clone(), slots.clone() as Arc<dyn Grow>)).collect();
    Arc::new(Net::new(graph, plan, nodes, rings, Arc::new(Signals::new((1, 1), 2)), BTreeSet::new()))
}

/// Activates a node once, as worker 0 would.
fn activate(net: &Net<'_>, node: u32) -> Event {
    let node = NodeId(node);
    let mut cx = ActivationContext::new(net, By::Worker(0));
    cx.begin(node, &net.cells.nodes[node.index()].state, (1, 1), false);
    net.cells.nodes[node.index()].body.as_ref().unwrap().activate(&mut cx)
}

/// One thread activates while another searches; then this thread does both in turn to the end. Returns the number of
/// growths. It is the same for every interleaving, as a verdict of the search must be.
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

/// The producer waits for room most of the time, and is in no cycle: a search must not take nodes that wait at
/// different moments for a stuck set.
///
/// Mutations that fail: `confirm` without its second check of the candidates.
#[test]
fn loom_search_opens_nothing_else() {
    check(|| assert_eq!(run(&[0, 0, 1], &[0, 1, 0]), 0));
}

/// A kernel of a work-list, with one input and one output.
struct Pass {
    /// Items popped, and items pushed, under the node's claim.
    moved: Claim<(usize, usize)>,
    /// The number of items that it passes on; it drops those after them.
    passes: usize,
    input: Arc<Slots>,
    output: Arc<Slots>,
    /// The channel of its input.
    channel: ChannelId,
}

impl Pass {
    /// Moves one item; false if none has arrived.
    fn step(&self, (popped, pushed): &mut (usize, usize)) -> bool {
        if *popped >= self.input.meter.tail() {
            return false;
        }
        *popped += 1;
        self.input.meter.release(*popped);
        if *pushed < self.passes {
            *pushed += 1;
            self.output.meter.publish(*pushed);
        }
        true
    }

    /// Whether the input has ended, and all that counts was popped.
    fn is_over(&self, popped: usize) -> bool {
        self.input.meter.ended() && popped >= self.input.meter.end_tail()
    }
}

impl Body for Pass {
    fn activate(&self, cx: &mut ActivationContext<'_>) -> Event {
        self.moved.with(Event::Refused, |moved| {
            if cx.state().is_done() {
                return Event::Done;
            }
            // An item behind the end does not count.
            while !self.is_over(moved.0) && self.step(moved) {}
            let event = match self.is_over(moved.0) {
                true => {
                    self.output.meter.end();
                    cx.state().done.store(true, crate::sync::Ordering::Release);
                    cx.state().wait.never();
                    Event::Done
                }
                false => {
                    cx.state().wait.lack(Lack::Items { channel: self.channel, until: moved.0 + 1 });
                    Event::Waiting
                }
            };
            changed_by(cx);
            event
        })
    }

    fn is_held(&self) -> bool {
        self.moved.is_held()
    }

    fn hold(&self, _state: &NodeState) -> Result<Box<dyn Held + '_>, bool> {
        self.moved.try_claim().map_or(Err(false), |moved| Ok(Box::new(moved) as _))
    }

    fn is_framed(&self) -> bool {
        true
    }
}

/// A loop of two kernels around which an item goes: the first pops it from the feedback channel, the second sends it back
/// once, and the first drops it when it comes again.
fn work_list() -> (Arc<Net<'static>>, Vec<Arc<Slots>>) {
    let mut graph = GraphData::new();
    let item = Item::of::<()>();
    let node = |name| Node::sequential(name).input(InPort::new("in", item)).output(OutPort::new("out", item));
    let (first, second) = (graph.add(node("first")), graph.add(node("second")));
    graph.connect((first, 0), (second, 0), Link::default()).unwrap();
    let back = Link::default().with_feedback(true).with_initial(1);
    graph.connect((second, 0), (first, 0), back).unwrap();
    let plan = Plan::new(&graph, &Wishes::default().threads(1));
    let slots = |initial: usize| {
        let meter = Arc::new(Meter::new(2, Layout::Together, false));
        meter.publish(initial);
        Arc::new(Slots { meter, cell: UnsafeCell::new(0) })
    };
    let slots = vec![slots(0), slots(1)];
    let cell = |input: usize, output: usize| NodeCell {
        needs: Box::default(),
        kind: Kind::Sequential,
        state: NodeState::single(),
        is_free_process: false,
        pinned: false,
        body: Some(Box::new(Pass {
            moved: Claim::new((0, if output == 1 { 1 } else { 0 })),
            passes: if output == 1 { 2 } else { 1 },
            input: slots[input].clone(),
            output: slots[output].clone(),
            channel: ChannelId(input as u32),
        }) as Box<dyn Body>),
        dedicated: None,
        roaming: None,
        dedicated_peers: false,
    };
    let nodes = vec![cell(1, 0), cell(0, 1)];
    let rings = slots.iter().map(|slots| (slots.meter.clone(), slots.clone() as Arc<dyn Grow>)).collect();
    let net = Net::new(graph, plan, nodes, rings, Arc::new(Signals::new((1, 1), 2)), BTreeSet::new());
    (Arc::new(net), slots)
}

/// One thread activates the nodes of a work-list while another searches. The loop ends, and only after its work is done.
#[test]
fn loom_search_ends_a_work_list_that_is_done() {
    check(|| {
        let (net, slots) = work_list();
        let worker = thread::spawn({
            let net = net.clone();
            move || {
                for node in [0, 1, 0] {
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
        assert_eq!(ended, [true; 2], "the loop did not end");
        assert!(net.take_failure().is_none(), "a deadlock was seen");
        assert_eq!(
            [0, 1].map(|at: usize| slots[at].meter.head()),
            [1, 2],
            "the loop ended before its work was done"
        );
    });
}
