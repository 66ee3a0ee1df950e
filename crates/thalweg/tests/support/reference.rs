//! The reference output of a graph: a sequential interpreter with unbounded channels.
//!
//! A node is a Kahn process: peeking an input yields an item or the end of the stream, or the node waits.
//! The interpreter visits the nodes in turn and fires each for as long as it can. When no node can fire, it
//! ends each loop that has no open input from outside.

use super::spec::{Each, Entry, Forked, Op, Spec, Wired, digest, mix};
use std::collections::VecDeque;

/// The maximum number of items pushed in all; graphs that push more are skipped.
const MOST_ITEMS: usize = 20_000;

#[derive(Debug, Default)]
struct Channel {
    items: VecDeque<u64>,
    ended: bool,
}

/// The next items have not arrived yet.
struct NotYet;

/// Whether a node continues after a firing.
enum Then {
    More,
    End,
}

/// The channels as one node sees them.
struct Ports<'a> {
    channels: &'a mut [Channel],
    ins: &'a [usize],
    outs: &'a [usize],
    pushed: usize,
}

impl Ports<'_> {
    /// `Some` if `count` items have arrived; `None` if the stream ends before.
    fn has(&self, port: usize, count: usize) -> Result<Option<()>, NotYet> {
        let channel = &self.channels[self.ins[port]];
        match (channel.items.len() >= count, channel.ended) {
            (true, _) => Ok(Some(())),
            (false, true) => Ok(None),
            (false, false) => Err(NotYet),
        }
    }

    fn peek(&self, port: usize) -> Result<Option<u64>, NotYet> {
        Ok(self.has(port, 1)?.map(|()| self.channels[self.ins[port]].items[0]))
    }

    fn pop(&mut self, port: usize, count: usize) -> Vec<u64> {
        self.channels[self.ins[port]].items.drain(..count).collect()
    }

    fn window(&self, port: usize, count: usize) -> Vec<u64> {
        self.channels[self.ins[port]].items.iter().take(count).copied().collect()
    }

    fn push(&mut self, port: usize, value: u64) {
        self.pushed += 1;
        self.channels[self.outs[port]].items.push_back(value);
    }
}

type Fire = Box<dyn FnMut(&mut Ports<'_>) -> Result<Then, NotYet>>;

struct Node {
    ins: Vec<usize>,
    outs: Vec<usize>,
    fire: Fire,
    done: bool,
}

#[derive(Default)]
struct Machine {
    channels: Vec<Channel>,
    nodes: Vec<Node>,
    /// For each loop: its outside input and its feedback channel.
    loops: Vec<(usize, usize)>,
}

/// The items that every sink of the graph receives, in the order of [`Spec::wire`]; `None` if the graph pushes
/// more than [`MOST_ITEMS`].
pub fn reference(spec: &Spec) -> Option<Vec<Vec<u64>>> {
    let (wired, open) = spec.wire();
    let streams = spec.sources.len() + wired.iter().map(|w| w.outs.len()).sum::<usize>();
    let mut machine = Machine::default();
    machine.channels.resize_with(streams, Channel::default);
    for (i, source) in spec.sources.iter().enumerate() {
        let mut values = source.values();
        machine.add(vec![], vec![i], move |ports| match values.next() {
            Some(value) => {
                ports.push(0, value);
                Ok(Then::More)
            }
            None => Ok(Then::End),
        });
    }
    wired.iter().for_each(|wired| machine.add_step(wired));
    machine.run()?;
    Some(open.iter().map(|stream| machine.channels[*stream].items.iter().copied().collect()).collect())
}

/// Ends the node if the stream has ended.
macro_rules! or_end {
    ($e:expr) => {
        match $e? {
            Some(value) => value,
            None => return Ok(Then::End),
        }
    };
}

impl Machine {
    fn add(
        &mut self,
        ins: Vec<usize>,
        outs: Vec<usize>,
        fire: impl FnMut(&mut Ports<'_>) -> Result<Then, NotYet> + 'static,
    ) {
        self.nodes.push(Node { ins, outs, fire: Box::new(fire), done: false });
    }

    fn channel(&mut self) -> usize {
        self.channels.push(Channel::default());
        self.channels.len() - 1
    }

    fn add_step(&mut self, wired: &Wired<'_>) {
        let (ins, outs) = (wired.ins.clone(), wired.outs.clone());
        match wired.step.op.clone() {
            Op::Map { parallel, .. } => self.add_map(ins, outs, parallel),
            Op::Rated { .. } => self.add(ins, outs, |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                (0..item % 4).for_each(|i| ports.push(0, mix(item, i)));
                Ok(Then::More)
            }),
            Op::Flat { most, .. } => self.add(ins, outs, move |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                (0..item % most).for_each(|i| ports.push(0, mix(item, i)));
                Ok(Then::More)
            }),
            // The iterator of the first item has all the results that are taken.
            Op::Endless { take, .. } => self.add(ins, outs, move |ports| {
                if take > 0 {
                    or_end!(ports.has(0, 1));
                    let item = ports.pop(0, 1)[0];
                    (0..take as u64).for_each(|i| ports.push(0, mix(item, i)));
                }
                Ok(Then::End)
            }),
            Op::Static { pop, push, .. } => self.add(ins, outs, move |ports| {
                or_end!(ports.has(0, pop as usize));
                let of = digest(ports.pop(0, pop as usize));
                (0..u64::from(push)).for_each(|i| ports.push(0, mix(of, i)));
                Ok(Then::More)
            }),
            Op::Window { pop, peek, .. } => self.add(ins, outs, move |ports| {
                or_end!(ports.has(0, peek as usize));
                let of = digest(ports.window(0, peek as usize));
                ports.pop(0, pop as usize);
                ports.push(0, of);
                Ok(Then::More)
            }),
            Op::Split { route, .. } => self.add(ins, outs, move |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                let (first, second) = route.of(item);
                if first {
                    ports.push(0, mix(item, 1));
                }
                if second {
                    ports.push(1, mix(item, 2));
                }
                Ok(Then::More)
            }),
            Op::Partition => self.add(ins, outs, |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                ports.push((item % 3).min(1) as usize, item);
                Ok(Then::More)
            }),
            Op::Tee => self.add(ins, outs, |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                ports.push(0, item);
                ports.push(1, item);
                Ok(Then::More)
            }),
            Op::Deal(weights) => {
                let mut turns = turns(weights);
                self.add(ins, outs, move |ports| {
                    or_end!(ports.has(0, 1));
                    let item = ports.pop(0, 1)[0];
                    ports.push(turns.next().unwrap(), item);
                    Ok(Then::More)
                });
            }
            Op::Interleave(weights) => {
                let mut turns = turns(weights).peekable();
                self.add(ins, outs, move |ports| {
                    let from = *turns.peek().unwrap();
                    or_end!(ports.has(from, 1));
                    turns.next();
                    let item = ports.pop(from, 1)[0];
                    ports.push(0, item);
                    Ok(Then::More)
                });
            }
            Op::Concat => self.add(ins, outs, |ports| {
                let from = if ports.has(0, 1)?.is_some() { 0 } else { 1 };
                or_end!(ports.has(from, 1));
                let item = ports.pop(from, 1)[0];
                ports.push(0, item);
                Ok(Then::More)
            }),
            Op::Rebatch { .. } => self.add_map(ins, outs, true),
            Op::Each(each) | Op::InFlight { each, .. } => self.add(ins, outs, move |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                if each.keeps(item) {
                    ports.push(0, if each == Each::Filter { item } else { mix(item, 5) });
                }
                Ok(Then::More)
            }),
            Op::Discard => self.add(ins, outs, |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                ports.push(0, item);
                Ok(Then::More)
            }),
            Op::Pair => self.add_zip(ins, outs, (1, 1)),
            Op::Zip { pops, .. } => self.add_zip(ins, outs, pops),
            Op::Choose { .. } => self.add(ins, outs, |ports| {
                let control = or_end!(ports.peek(0));
                let from = 1 + (control % 2) as usize;
                or_end!(ports.has(from, 1));
                let of = [ports.pop(0, 1)[0], ports.pop(from, 1)[0]];
                ports.push(0, digest(of));
                Ok(Then::More)
            }),
            Op::Merge { .. } => self.add(ins, outs, |ports| {
                let from = match (ports.peek(0)?, ports.peek(1)?) {
                    (None, None) => return Ok(Then::End),
                    (Some(a), Some(b)) => usize::from(b < a),
                    (a, _) => usize::from(a.is_none()),
                };
                let item = ports.pop(from, 1)[0];
                ports.push(0, mix(item, from as u64));
                Ok(Then::More)
            }),
            Op::Groups { .. } => self.add(ins, outs, |ports| {
                let size = 1 + (or_end!(ports.peek(0)) % 4) as usize;
                or_end!(ports.has(0, size));
                let of = digest(ports.pop(0, size));
                (0..of % 3).for_each(|i| ports.push(0, mix(of, i)));
                Ok(Then::More)
            }),
            Op::Loop { entry, initial, body, .. } => self.add_loop(ins[0], outs[0], entry, initial, &body),
            Op::Round { .. } => self.add(ins, outs, |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                let result = (0..item % 5).fold(item, mix);
                ports.push(0, result);
                Ok(Then::More)
            }),
            Op::ForkJoin { .. } => self.add(ins, outs, |ports| {
                or_end!(ports.has(0, 1));
                let item = ports.pop(0, 1)[0];
                ports.push(0, fork_join(item));
                Ok(Then::More)
            }),
            Op::Batch(size) => self.add(ins, outs, move |ports| {
                let size = match ports.has(0, size)? {
                    Some(()) => size,
                    None => ports.window(0, size).len(),
                };
                if size == 0 {
                    return Ok(Then::End);
                }
                let batch = ports.pop(0, size);
                ports.push(0, digest(batch));
                Ok(Then::More)
            }),
            Op::Take(count) => {
                let mut left = count;
                self.add(ins, outs, move |ports| {
                    if left == 0 {
                        return Ok(Then::End);
                    }
                    or_end!(ports.has(0, 1));
                    left -= 1;
                    let item = ports.pop(0, 1)[0];
                    ports.push(0, item);
                    Ok(Then::More)
                });
            }
            Op::Total => {
                let mut total = 7;
                self.add(ins, outs, move |ports| {
                    if ports.has(0, 1)?.is_none() {
                        ports.push(0, total);
                        return Ok(Then::End);
                    }
                    let item = ports.pop(0, 1)[0];
                    total = mix(total, item);
                    if item.is_multiple_of(3) {
                        ports.push(0, item);
                    }
                    Ok(Then::More)
                });
            }
        }
    }

    fn add_map(&mut self, ins: Vec<usize>, outs: Vec<usize>, parallel: bool) {
        let mut state = 0;
        self.add(ins, outs, move |ports| {
            or_end!(ports.has(0, 1));
            let item = ports.pop(0, 1)[0];
            state = if parallel { mix(item, 5) } else { mix(state, item) };
            ports.push(0, state);
            Ok(Then::More)
        });
    }

    fn add_zip(&mut self, ins: Vec<usize>, outs: Vec<usize>, (a, b): (u32, u32)) {
        self.add(ins, outs, move |ports| {
            or_end!(ports.has(0, a as usize));
            or_end!(ports.has(1, b as usize));
            let mut items = ports.pop(0, a as usize);
            items.extend(ports.pop(1, b as usize));
            ports.push(0, digest(items));
            Ok(Then::More)
        });
    }

    fn add_loop(&mut self, from: usize, to: usize, entry: Entry, initial: usize, body: &[bool]) {
        let (back, mut at) = (self.channel(), self.channel());
        self.channels[back].items.extend(initial_items(initial));
        self.loops.push((from, back));
        self.add(vec![from, back], vec![at], move |ports| {
            let pops = match entry {
                Entry::Zip => [1, 1],
                Entry::ByData => [(or_end!(ports.peek(1)) % 3) as usize, 1],
                Entry::Drain if ports.has(0, 1)?.is_some() => [1, 0],
                Entry::Drain => [0, 1],
            };
            or_end!(ports.has(0, pops[0]));
            or_end!(ports.has(1, pops[1]));
            let mut items = ports.pop(0, pops[0]);
            items.extend(ports.pop(1, pops[1]));
            ports.push(0, digest(items));
            Ok(Then::More)
        });
        for parallel in body {
            let next = self.channel();
            self.add_map(vec![at], vec![next], *parallel);
            at = next;
        }
        self.add(vec![at], vec![to, back], move |ports| {
            or_end!(ports.has(0, 1));
            let item = ports.pop(0, 1)[0];
            let (out, round) = leaves(entry, item);
            if out {
                ports.push(0, mix(item, 1));
            }
            if round {
                ports.push(1, mix(item, 2));
            }
            Ok(Then::More)
        });
    }

    /// Runs until all nodes have ended; `None` if they push more than [`MOST_ITEMS`].
    fn run(&mut self) -> Option<()> {
        let mut pushed = 0;
        loop {
            let before = self.nodes.iter().filter(|node| node.done).count();
            let fired = self.pass(&mut pushed)?;
            let ended = self.nodes.iter().filter(|node| node.done).count();
            if ended == self.nodes.len() {
                return Some(());
            }
            if !fired && ended == before {
                self.close_loops();
            }
        }
    }

    /// Called when no node can fire: ends the feedback of each loop if the loop's outside input has ended.
    fn close_loops(&mut self) {
        let mut closed = false;
        for (outside, back) in &self.loops {
            if self.channels[*outside].ended && !self.channels[*back].ended {
                self.channels[*back].ended = true;
                closed = true;
            }
        }
        assert!(closed, "all sources end, so only a loop can remain");
    }

    fn pass(&mut self, pushed: &mut usize) -> Option<bool> {
        let mut fired = false;
        for node in self.nodes.iter_mut().filter(|node| !node.done) {
            let (ins, outs) = (&node.ins, &node.outs);
            let mut ports = Ports { channels: &mut self.channels, ins, outs, pushed: 0 };
            loop {
                match (node.fire)(&mut ports) {
                    Ok(Then::More) => fired = true,
                    Ok(Then::End) => {
                        node.done = true;
                        break;
                    }
                    Err(NotYet) => break,
                }
                if *pushed + ports.pushed > MOST_ITEMS {
                    return None;
                }
            }
            *pushed += ports.pushed;
            if node.done {
                node.outs.iter().for_each(|channel| self.channels[*channel].ended = true);
            }
        }
        Some(fired)
    }
}

/// The result of an item of a fork-join, by recursion.
fn fork_join(value: u64) -> u64 {
    match Forked::of(value) {
        Forked::Done(result) => result,
        Forked::Again(next) => fork_join(next),
        Forked::Split(parts) => digest(parts.into_iter().map(fork_join)),
    }
}

/// The numbers of the ports whose turns the items are, in rounds of these weights.
fn turns(weights: Vec<usize>) -> impl Iterator<Item = usize> {
    let round: Vec<usize> =
        weights.iter().enumerate().flat_map(|(at, weight)| std::iter::repeat_n(at, *weight)).collect();
    round.into_iter().cycle()
}

/// The initial items of a loop's feedback channel.
pub fn initial_items(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(|i| mix(11, i))
}

/// Whether an item leaves a loop, and whether it is fed back.
pub fn leaves(entry: Entry, item: u64) -> (bool, bool) {
    match entry {
        Entry::Zip | Entry::ByData => (true, true),
        Entry::Drain => (!item.is_multiple_of(3), item.is_multiple_of(3)),
    }
}
