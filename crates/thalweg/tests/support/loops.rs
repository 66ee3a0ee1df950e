//! Random work-lists: as data, by a sequential interpreter, and for the engine.
//!
//! ```text
//!   ┌─▶ stages ─▶ visit ─▶ stages ─┐
//!   └────────── feedback ──────────┘
//! ```
//!
//! An item carries fuel. `visit` pushes each item on the loop's output, and one or two with less fuel back into the loop,
//! unless the fuel is used up. So all work ends. A stage has one input and one output, and may be several nodes; what its
//! channels hold at the end decides whether the loop is a deadlock.

use super::spec::mix;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thalweg::{Graph, In, Out, Rx, Stream, Tx, input, output, window};

/// An item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    pub value: u64,
    pub fuel: u32,
}

impl Work {
    fn mixed(self, with: u64) -> Work {
        Work { value: mix(self.value, with), ..self }
    }

    /// None, one or two copies. Two have less fuel.
    fn copies(self) -> impl Iterator<Item = Work> + Send + 'static {
        let count = self.value % 3;
        let fuel = self.fuel.saturating_sub(u32::from(count == 2));
        (0..count).map(move |i| Work { fuel, ..self }.mixed(i))
    }

    /// The items that a visit pushes back.
    fn next(self) -> impl Iterator<Item = Work> {
        let count = if self.fuel > 0 { 1 + self.value % 2 } else { 0 };
        (0..count).map(move |i| Work { fuel: self.fuel - 1, ..self }.mixed(10 + i))
    }

    /// The rounds that a task makes in a loop of its own.
    fn rounds(self) -> u64 {
        self.value % 4
    }
}

/// One item made of several.
fn digest(items: &[Work]) -> Work {
    let value = items.iter().fold(7, |value, item| mix(value, item.value));
    Work { value, fuel: items.iter().map(|item| item.fuel).min().unwrap_or(0) }
}

/// A part of a loop, from a stream to a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// One item for each.
    Map { parallel: bool },
    /// None, one or two items for each, by an iterator.
    Flat { parallel: bool },
    /// `pop` items become `push`: a rest is left.
    Static { parallel: bool, pop: u32, push: u32 },
    /// Pops one item and peeks at more: these are left.
    Window { peek: u32 },
    /// Passes items on, and pushes `count` more when it ends.
    Held { count: u64 },
    /// Gathers items in its state, and pushes the rest when it ends.
    Chunk { size: usize },
    /// Each item goes round in a loop of its own.
    Round { in_flight: usize },
    /// A section with a limit.
    InFlight { most: usize, drops: bool },
    /// Items go two ways by their value, and meet again: a rest is left on one of the ways.
    Zip { pops: (u32, u32) },
    /// Items go two ways by their value, and come back in order.
    Choose { parallel: bool },
    /// A loop of its own, whose items stay in it.
    Token { initial: usize },
    /// Items are dealt to two streams, which are joined again.
    Dealt { weights: [usize; 2] },
    /// Batches that go on when their time has passed, taken apart again.
    Timed { size: usize },
    /// A process, which waits.
    Process,
}

impl Stage {
    /// Stages that treat each item by itself.
    pub fn any_of_one() -> impl Strategy<Value = Stage> {
        prop_oneof![
            3 => any::<bool>().prop_map(|parallel| Stage::Map { parallel }),
            3 => any::<bool>().prop_map(|parallel| Stage::Flat { parallel }),
            2 => (1..4usize).prop_map(|in_flight| Stage::Round { in_flight }),
        ]
    }

    fn any() -> impl Strategy<Value = Stage> {
        prop_oneof![
            16 => Stage::any_of_one(),
            4 => any::<bool>().prop_map(|parallel| Stage::Choose { parallel }),
            4 => (0..4u64).prop_map(|count| Stage::Held { count }),
            4 => (1..5usize).prop_map(|size| Stage::Chunk { size }),
            4 => (1..4usize, any::<bool>()).prop_map(|(most, drops)| Stage::InFlight { most, drops }),
            4 => (any::<bool>(), 1..=3u32, 1..=2u32)
                .prop_map(|(parallel, pop, push)| Stage::Static { parallel, pop, push: push.min(pop) }),
            3 => (1..=2u32, 1..=2u32).prop_map(|pops| Stage::Zip { pops }),
            1 => (1..=3u32).prop_map(|peek| Stage::Window { peek }),
            1 => (1..=2usize).prop_map(|initial| Stage::Token { initial }),
            2 => (1..=3usize, 1..=3usize).prop_map(|(a, b)| Stage::Dealt { weights: [a, b] }),
            2 => (1..=5usize).prop_map(|size| Stage::Timed { size }),
            1 => Just(Stage::Process),
        ]
    }
}

/// A random work-list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The items that the feedback channel holds at first.
    pub seeds: Vec<(u64, u32)>,
    /// Stages before and behind the visit.
    pub stages: [Vec<Stage>; 2],
    /// Whether the visit is a parallel kernel.
    pub parallel: bool,
}

impl Loop {
    /// Whether a `flat_map` may get items while the loop drains. Its firing ends early once no consumer is left, and what
    /// it would still push is not counted.
    pub fn may_end_firings(&self) -> bool {
        let mut stages = self.stages.iter().flatten();
        let holds = |stage: &Stage| matches!(stage, Stage::Held { .. } | Stage::Chunk { .. });
        // `Timed` takes batches apart by one.
        stages.any(holds) && stages.any(|stage| matches!(stage, Stage::Flat { .. } | Stage::Timed { .. }))
    }
}

/// Any work-list of up to six stages.
pub fn any_loop() -> impl Strategy<Value = Loop> {
    let seeds = prop::collection::vec((any::<u64>(), 0..=3u32), 0..6);
    let stages = || prop::collection::vec(Stage::any(), 0..=3);
    (seeds, [stages(), stages()], any::<bool>()).prop_map(|(seeds, stages, parallel)| Loop {
        seeds,
        stages,
        parallel,
    })
}

/// The end of a run, as the interpreter predicts it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The loop is done. `left` items are left over once it has drained.
    Well { done: Vec<Work>, left: u64 },
    /// Items are left in the loop, or a process waits in it.
    Stuck,
}

/// A stage of the interpreter, with its channels and the state of its nodes.
struct Machine {
    stage: Stage,
    input: VecDeque<Work>,
    /// The two ways of a zip.
    ways: [VecDeque<Work>; 2],
    state: Vec<Work>,
    seen: u64,
}

impl Machine {
    fn new(stage: &Stage) -> Machine {
        Machine {
            stage: *stage,
            input: VecDeque::new(),
            ways: Default::default(),
            state: Vec::new(),
            seen: 0,
        }
    }

    /// Fires the nodes until none can fire. Returns the items pushed.
    fn run(&mut self) -> Vec<Work> {
        let mut out = Vec::new();
        match self.stage {
            Stage::Map { .. } => out.extend(self.input.drain(..).map(|item| item.mixed(1))),
            Stage::Flat { .. } => out.extend(self.input.drain(..).flat_map(Work::copies)),
            Stage::Static { pop, push, .. } => {
                while self.input.len() >= pop as usize {
                    let items: Vec<Work> = self.input.drain(..pop as usize).collect();
                    out.extend((0..u64::from(push)).map(|i| digest(&items).mixed(i)));
                }
            }
            Stage::Window { peek } => {
                while self.input.len() >= peek as usize {
                    let items: Vec<Work> = self.input.iter().take(peek as usize).copied().collect();
                    out.push(digest(&items));
                    self.input.pop_front();
                }
            }
            Stage::Held { .. } => {
                self.seen += self.input.len() as u64;
                out.extend(self.input.drain(..));
            }
            Stage::Chunk { size } => {
                for item in self.input.drain(..) {
                    self.state.push(item);
                    if self.state.len() == size {
                        out.push(digest(&std::mem::take(&mut self.state)));
                    }
                }
            }
            Stage::Round { .. } => out.extend(self.input.drain(..).map(|item| item.mixed(item.rounds()))),
            Stage::InFlight { drops, .. } => {
                out.extend(self.input.drain(..).filter(|item| !drops || item.value % 3 > 0));
            }
            Stage::Choose { .. } => out.extend(self.input.drain(..)),
            Stage::Zip { pops } => {
                for item in self.input.drain(..) {
                    self.ways[(item.value % 2) as usize].push_back(item);
                }
                let pops = [pops.0 as usize, pops.1 as usize];
                while (0..2).all(|way| self.ways[way].len() >= pops[way]) {
                    let mut items = Vec::new();
                    (0..2).for_each(|way| items.extend(self.ways[way].drain(..pops[way])));
                    out.push(digest(&items));
                }
            }
            Stage::Token { .. } | Stage::Dealt { .. } | Stage::Timed { .. } | Stage::Process => {
                out.extend(self.input.drain(..));
            }
        }
        out
    }

    /// What finishing functions push when the stage's input has ended.
    fn finish(&mut self) -> Vec<Work> {
        match self.stage {
            Stage::Held { count } => (0..count).map(|i| Work { value: mix(self.seen, i), fuel: 1 }).collect(),
            Stage::Chunk { .. } if !self.state.is_empty() => vec![digest(&std::mem::take(&mut self.state))],
            _ => Vec::new(),
        }
    }

    fn left(&self) -> u64 {
        let tokens = if let Stage::Token { initial } = self.stage { initial } else { 0 };
        (self.input.len() + self.ways[0].len() + self.ways[1].len() + tokens) as u64
    }
}

/// The number of visits after which a case is left out.
const MOST: usize = 5000;

/// The end of the loop by a sequential interpreter with unbounded channels. `None` if that takes too long.
pub fn reference(case: &Loop) -> Option<Ended> {
    let mut stages = case.stages.each_ref().map(|stages| stages.iter().map(Machine::new).collect::<Vec<_>>());
    let mut open: Vec<Work> =
        case.seeds.iter().map(|(value, fuel)| Work { value: *value, fuel: *fuel }).collect();
    let mut done = Vec::new();
    while !open.is_empty() {
        open = pass(&mut stages, open, &mut done, false);
        if done.len() > MOST {
            return None;
        }
    }
    let mut all = stages.iter().flatten();
    if all.any(|stage| stage.left() > 0 || stage.stage == Stage::Process) {
        return Some(Ended::Stuck);
    }
    let back = pass(&mut stages, Vec::new(), &mut done, true);
    let left = back.len() as u64 + stages.iter().flatten().map(Machine::left).sum::<u64>();
    Some(Ended::Well { done, left })
}

/// Passes items through all stages, once round, and returns those that come back. With `ends` each node ends after what
/// has reached it.
fn pass(stages: &mut [Vec<Machine>; 2], mut items: Vec<Work>, done: &mut Vec<Work>, ends: bool) -> Vec<Work> {
    let [before, after] = stages;
    let through = |stages: &mut [Machine], mut items: Vec<Work>| {
        for stage in stages {
            stage.input.extend(items);
            items = stage.run();
            if ends {
                items.extend(stage.finish());
            }
        }
        items
    };
    items = through(before, items);
    done.extend(&items);
    through(after, items.into_iter().flat_map(Work::next).collect())
}

/// The loop for the engine. Returns the items visited.
pub fn build(graph: &Graph<'static>, case: &Loop) -> Stream<'static, Work> {
    let seeds = case.seeds.iter().map(|(value, fuel)| Work { value: *value, fuel: *fuel });
    let (end, mut items) = graph.feedback(seeds.collect::<Vec<_>>());
    for stage in &case.stages[0] {
        items = add(items, *stage);
    }
    let visit = graph.kernel("visit", input("in", items), (output("done"), output("next")));
    let fire = |items: &mut In<Work>, (done, next): &mut (Out<Work>, Out<Work>)| {
        let item = items.pop();
        done.push(item);
        next.extend(item.next());
    };
    let (done, mut next) = if case.parallel { visit.parallel(fire) } else { visit.sequential(fire) };
    for stage in &case.stages[1] {
        next = add(next, *stage);
    }
    next.feed(end);
    done
}

/// A loop with two feedback channels that are merged, stages that treat each item by itself, unordered where they are
/// parallel, and then a node that pops pairs. Counts the items that reach the node in `sent`. Returns the items it pops.
pub fn loop_of(
    graph: &Graph<'static>,
    stages: &[Stage],
    seeds: impl Iterator<Item = (u64, bool)>,
    sent: Arc<AtomicU64>,
) -> Stream<'static, Work> {
    let seeds = seeds.map(|(value, more)| Work { value, fuel: if more { 3 } else { 1 } });
    let (first, first_back) = graph.feedback(seeds.collect::<Vec<_>>());
    let (second, second_back) = graph.feedback([]);
    let mut items = graph.merge([first_back, second_back]);
    for stage in stages {
        let is_parallel = matches!(stage, Stage::Map { parallel: true } | Stage::Flat { parallel: true });
        items = add(items, *stage);
        items = if is_parallel { items.unordered() } else { items };
    }
    let counted = items.map(move |item| {
        sent.fetch_add(1, Ordering::Relaxed);
        item
    });
    let outs = (output("done"), output("first"), output("second"));
    let (done, to_first, to_second) =
        graph.kernel("pairs", input("in", counted).pop(2), outs).parallel(|items, (done, first, second)| {
            for item in [items.pop(), items.pop()] {
                done.push(item);
                for next in item.next() {
                    if next.value.is_multiple_of(3) { first.push(next) } else { second.push(next) }
                }
            }
        });
    to_first.feed(first);
    to_second.feed(second);
    done
}

/// Adds the nodes of a stage.
fn add(items: Stream<'static, Work>, stage: Stage) -> Stream<'static, Work> {
    let graph = items.graph();
    match stage {
        Stage::Map { parallel: true } => items.par_map(|item| item.mixed(1)),
        Stage::Map { parallel: false } => items.map(|item| item.mixed(1)),
        Stage::Flat { parallel: true } => items.par_flat_map(Work::copies),
        Stage::Flat { parallel: false } => items.flat_map(Work::copies),
        Stage::Static { parallel, pop, push } => {
            let kernel = graph.kernel("static", input("in", items).pop(pop), output("out").push(push));
            let fire = move |items: &mut In<Work>, out: &mut Out<Work>| {
                let items: Vec<Work> = (0..pop).map(|_| items.pop()).collect();
                (0..u64::from(push)).for_each(|i| out.push(digest(&items).mixed(i)));
            };
            if parallel { kernel.parallel(fire) } else { kernel.sequential(fire) }
        }
        Stage::Window { peek } => {
            let kernel = graph.kernel("window", window("in", items).peek(peek), output("out"));
            kernel.sequential(|items, out| out.push(digest(&items.iter().copied().collect::<Vec<_>>())))
        }
        Stage::Held { count } => held(items, count),
        Stage::Chunk { size } => chunk(items, size),
        Stage::Round { in_flight } => {
            items.map(|item| (item, item.rounds())).par_iterate(in_flight, |(item, left)| match left {
                0 => Break(item.mixed(item.rounds())),
                _ => Continue((item, left - 1)),
            })
        }
        Stage::InFlight { most, drops: false } => items.in_flight(most, |items| items.par_map(|item| item)),
        Stage::InFlight { most, drops: true } => {
            items.in_flight(most, |items| items.par_filter_map(|item| (item.value % 3 > 0).then_some(item)))
        }
        Stage::Zip { pops } => {
            let (a, b) = graph.kernel("fan", input("in", items), (output("a"), output("b"))).sequential(
                |items, (a, b)| {
                    let item = items.pop();
                    if item.value.is_multiple_of(2) { a.push(item) } else { b.push(item) }
                },
            );
            let inputs = (input("a", a).pop(pops.0), input("b", b).pop(pops.1));
            graph.kernel("zip", inputs, output("out").push(1)).parallel(move |(a, b), out| {
                let items = (0..pops.0).map(|_| a.pop()).chain((0..pops.1).map(|_| b.pop()));
                out.push(digest(&items.collect::<Vec<_>>()));
            })
        }
        Stage::Choose { parallel } => choose(items, parallel),
        Stage::Token { initial } => {
            let (end, back) = graph.feedback(vec![0u64; initial]);
            let inputs = (input("in", items), input("back", back));
            let (out, next) = graph.kernel("token", inputs, (output("out"), output("next"))).sequential(
                |(items, back), (out, next)| {
                    out.push(items.pop());
                    next.push(back.pop());
                },
            );
            next.feed(end);
            out
        }
        Stage::Dealt { weights } => {
            let streams = items.deal(weights);
            graph.interleave(weights, streams)
        }
        Stage::Timed { size } => items.batch_timeout(size, Duration::from_micros(20)).unbatch(),
        Stage::Process => {
            graph.process("pass", items, output("out"), |mut rx: Rx<Work>, mut tx: Tx<Work>| async move {
                while let Some(item) = rx.recv().await {
                    tx.send(item).await;
                }
            })
        }
    }
}

/// Passes items on, and pushes `count` more when it ends, which depend on how many it has seen.
fn held(items: Stream<'static, Work>, count: u64) -> Stream<'static, Work> {
    let seen = Arc::new(AtomicU64::new(0));
    let at_end = seen.clone();
    let kernel = items.kernel("held", output("out")).finish(move |out| {
        let seen = at_end.load(Ordering::Relaxed);
        out.extend((0..count).map(|i| Work { value: mix(seen, i), fuel: 1 }));
    });
    kernel.sequential(move |items, out| {
        seen.fetch_add(1, Ordering::Relaxed);
        out.push(items.pop());
    })
}

/// Gathers items in its state. The operator `batch` leaves them in its channel.
fn chunk(items: Stream<'static, Work>, size: usize) -> Stream<'static, Work> {
    let state = Arc::new(Mutex::new(Vec::new()));
    let at_end = state.clone();
    let kernel = items.kernel("chunk", output("out")).finish(move |out| {
        let rest = std::mem::take(&mut *at_end.lock().unwrap());
        out.extend((!rest.is_empty()).then(|| digest(&rest)));
    });
    kernel.sequential(move |items, out| {
        let mut state = state.lock().unwrap();
        state.push(items.pop());
        if state.len() == size {
            out.push(digest(&std::mem::take(&mut *state)));
        }
    })
}

/// Sends items two ways by their value, and brings them back in order: a third channel has the ways.
fn choose(items: Stream<'static, Work>, parallel: bool) -> Stream<'static, Work> {
    let graph = items.graph();
    let outs = (output("way"), output("a"), output("b"));
    let fan = graph.kernel("fan", input("in", items), outs);
    let fire = |items: &mut In<Work>, (way, a, b): &mut (Out<bool>, Out<Work>, Out<Work>)| {
        let item = items.pop();
        let is_first = item.value.is_multiple_of(2);
        way.push(is_first);
        if is_first { a.push(item) } else { b.push(item) }
    };
    let (way, a, b) = if parallel { fan.parallel(fire) } else { fan.sequential(fire) };
    graph
        .kernel("choose", (input("way", way), input("a", a), input("b", b)), output("out"))
        .framed(|(way, _, _)| Ok(way.peek(0)?.map(|is_first| if *is_first { [1, 1, 0] } else { [1, 0, 1] })))
        .sequential(|(way, a, b), out| {
            way.pop();
            out.extend(a.try_pop().or_else(|| b.try_pop()));
        })
}
