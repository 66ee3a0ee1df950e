//! Random networks of processes as data, a reference executor with unbounded channels, and the same network
//! for the engine.
//!
//! By Kahn's theorem every run of a network agrees with the reference: if all required processes end in the
//! reference, they end in every run, with the same results; if some required process waits for ever, every
//! run ends in a deadlock on one of the reference's cycles.

use super::spec::mix;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use thalweg::node::{BlockingRx, BlockingTx};
use thalweg::{Error, Graph, Options, Report, Run, Rx, Tx, input, output};

/// A channel, and the number of initial items if it is a feedback channel.
#[derive(Clone, Debug)]
pub struct Channel {
    pub from: usize,
    pub to: usize,
    pub initial: usize,
}

impl Channel {
    /// Whether the consumer is built before the producer.
    fn is_feedback(&self) -> bool {
        self.to <= self.from
    }
}

/// One step of a process's loop.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// Receives one item on one of its inputs.
    Receive(u8),
    /// Sends a number of items on one of its outputs.
    Send(u8, u8),
    /// Sends one item if its state, which depends on the items received so far, is odd.
    Choose(u8),
}

#[derive(Clone, Debug)]
pub struct Program {
    steps: Vec<Step>,
    rounds: usize,
    /// Whether it ends as soon as a receive finds an input ended; other processes go on.
    ends_with_input: bool,
    /// Whether it is a coroutine.
    is_coroutine: bool,
}

#[derive(Clone, Debug)]
pub struct Net {
    programs: Vec<Program>,
    channels: Vec<Channel>,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<u8>().prop_map(Step::Receive),
        3 => (any::<u8>(), 1..6u8).prop_map(|(port, count)| Step::Send(port, count)),
        1 => any::<u8>().prop_map(Step::Choose),
    ]
}

/// Networks of up to eight processes. The last process sends nothing.
pub fn net() -> impl Strategy<Value = Net> {
    let program = (prop::collection::vec(step(), 1..6), 1..12usize, any::<bool>(), any::<bool>()).prop_map(
        |(steps, rounds, ends_with_input, is_coroutine)| Program {
            steps,
            rounds,
            ends_with_input,
            is_coroutine,
        },
    );
    (
        prop::collection::vec(program, 2..9),
        prop::collection::vec((any::<u8>(), any::<u8>(), 0..3usize), 1..16),
    )
        .prop_map(|(programs, channels)| {
            let (senders, all) = (programs.len() - 1, programs.len());
            let channel = |(from, to, initial): (u8, u8, usize)| {
                let (from, to) = (usize::from(from) % senders, usize::from(to) % all);
                Channel { from, to, initial: if to <= from { initial } else { 0 } }
            };
            let mut channels: Vec<Channel> = channels.into_iter().map(channel).collect();
            // Every process sends to another one, at least to the last.
            for from in 0..senders {
                if !channels.iter().any(|channel| channel.from == from && channel.to != from) {
                    channels.push(Channel { from, to: senders, initial: 0 });
                }
            }
            Net { programs, channels }
        })
}

/// The next operation of a process.
enum Action {
    Receive(usize),
    Send(usize, u64),
    Done,
}

/// A process as a state machine, which the reference and the engine both execute.
struct Machine {
    program: Program,
    inputs: usize,
    outputs: usize,
    at: usize,
    /// Remaining sends of the current step.
    left: u8,
    state: u64,
}

impl Machine {
    fn new(net: &Net, process: usize) -> Machine {
        let inputs = net.channels.iter().filter(|channel| channel.to == process).count();
        let outputs = net.channels.iter().filter(|channel| channel.from == process).count();
        let program = net.programs[process].clone();
        Machine { program, inputs, outputs, at: 0, left: 0, state: process as u64 }
    }

    fn next(&mut self) -> Action {
        let steps = self.program.steps.len();
        while self.at < steps * self.program.rounds {
            let step = self.program.steps[self.at % steps];
            match step {
                Step::Receive(port) if self.inputs > 0 => {
                    return Action::Receive(usize::from(port) % self.inputs);
                }
                Step::Send(port, count) if self.outputs > 0 => {
                    self.left = if self.left == 0 { count } else { self.left };
                    return self.send(port);
                }
                Step::Choose(port) if self.outputs > 0 && self.state & 1 == 1 => {
                    self.left = 1;
                    return self.send(port);
                }
                _ => self.at += 1,
            }
        }
        Action::Done
    }

    fn send(&mut self, port: u8) -> Action {
        self.left -= 1;
        self.at += usize::from(self.left == 0);
        self.state = mix(self.state, 3);
        Action::Send(usize::from(port) % self.outputs, self.state)
    }

    fn received(&mut self, item: Option<u64>) {
        self.state = mix(self.state, item.unwrap_or(5));
        self.at += 1;
        if item.is_none() && self.program.ends_with_input {
            self.at = usize::MAX;
        }
    }
}

/// The expected outcome of a network's run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expected {
    /// How its run ends.
    pub end: RunEnd,
    /// The final state of each process that ends if the network executes for as long as any process can.
    /// A run may end earlier and cancel a process. No process may end in another state: it would have
    /// observed the end of a cancelled process.
    pub states: Vec<Option<u64>>,
}

/// How the run of a network ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunEnd {
    /// All required processes end, with these final states.
    Completes(Vec<Option<u64>>),
    /// One of these cycles of processes waits for ever, so a required process never ends.
    Deadlocks(BTreeSet<BTreeSet<usize>>),
}

/// The state of a network during the reference's run.
struct Execution<'a> {
    net: &'a Net,
    machines: Vec<Machine>,
    queues: Vec<VecDeque<u64>>,
    /// By channel: no item will follow.
    ended: Vec<bool>,
    /// By process: it has ended.
    done: Vec<bool>,
    /// By process: the channel that its pending receive waits for.
    waits: Vec<Option<usize>>,
}

/// Runs a network with unbounded channels, for as long as any process can run.
pub fn expected(net: &Net) -> Expected {
    let processes = net.programs.len();
    let initial = |(id, channel): (usize, &Channel)| (0..channel.initial).map(|i| first(id, i)).collect();
    let mut run = Execution {
        net,
        machines: (0..processes).map(|process| Machine::new(net, process)).collect(),
        queues: net.channels.iter().enumerate().map(initial).collect(),
        ended: vec![false; net.channels.len()],
        done: vec![false; processes],
        waits: vec![None; processes],
    };
    let mut end = None;
    loop {
        while (0..processes).any(|process| run.advance(process)) {}
        if (0..processes).all(|process| run.done[process] || !run.is_required(process)) {
            let state = |p: usize| run.is_required(p).then(|| run.machines[p].state);
            end.get_or_insert_with(|| RunEnd::Completes((0..processes).map(state).collect()));
        }
        let cycles = run.cycles();
        if !cycles.iter().any(|cycle| run.end_feedback(cycle)) {
            let state = |p: usize| run.done[p].then(|| run.machines[p].state);
            let states = (0..processes).map(state).collect();
            return Expected { end: end.unwrap_or(RunEnd::Deadlocks(cycles)), states };
        }
    }
}

/// An initial item of a channel.
fn first(channel: usize, at: usize) -> u64 {
    mix(channel as u64, at as u64)
}

impl Execution<'_> {
    fn ports(&self, process: usize, sends: bool) -> Vec<usize> {
        let end = |channel: &Channel| if sends { channel.from } else { channel.to };
        let channels = self.net.channels.iter().enumerate();
        channels.filter(|(_, channel)| end(channel) == process).map(|(id, _)| id).collect()
    }

    /// Runs a process until it waits; returns whether it executed any operation.
    fn advance(&mut self, process: usize) -> bool {
        let (ins, outs) = (self.ports(process, false), self.ports(process, true));
        let mut moved = false;
        while !self.done[process] {
            let action = match self.waits[process] {
                Some(channel) => Action::Receive(ins.iter().position(|id| *id == channel).unwrap()),
                None => self.machines[process].next(),
            };
            match action {
                Action::Receive(port) => {
                    let channel = ins[port];
                    let item = self.queues[channel].pop_front();
                    if item.is_none() && !self.ended[channel] {
                        self.waits[process] = Some(channel);
                        return moved;
                    }
                    self.waits[process] = None;
                    self.machines[process].received(item);
                }
                Action::Send(port, item) => {
                    let channel = outs[port];
                    if !self.done[self.net.channels[channel].to] && !self.ended[channel] {
                        self.queues[channel].push_back(item);
                    }
                }
                Action::Done => {
                    self.done[process] = true;
                    outs.iter().for_each(|channel| self.ended[*channel] = true);
                }
            }
            moved = true;
        }
        moved
    }

    /// The cycles of processes that wait for each other, when no process can run. Each process waits for one.
    fn cycles(&self) -> BTreeSet<BTreeSet<usize>> {
        let next = |process: usize| self.waits[process].map(|channel| self.net.channels[channel].from);
        let waiting = (0..self.done.len()).filter(|process| !self.done[*process]);
        let cycle = |start: usize| {
            // After as many steps as there are processes the walk is on the cycle that it leads to.
            let on = (0..self.done.len()).try_fold(start, |at, _| next(at))?;
            let mut cycle = BTreeSet::from([on]);
            let mut at = next(on)?;
            while cycle.insert(at) {
                at = next(at)?;
            }
            Some(cycle)
        };
        waiting.filter_map(cycle).collect()
    }

    /// Ends the feedback channels of the loop that contains a cycle, if the loop has inputs from outside, all
    /// of them have ended, and no process that waits for a channel of the loop has unread items from outside.
    /// Returns whether any channel ended.
    fn end_feedback(&mut self, cycle: &BTreeSet<usize>) -> bool {
        let start = *cycle.first().unwrap();
        let inside = |process: usize| self.reaches(start, process) && self.reaches(process, start);
        let channels = self.net.channels.iter().enumerate();
        let mut entering = channels.clone().filter(|(_, c)| inside(c.to) && !inside(c.from)).peekable();
        if entering.peek().is_none() || !entering.all(|(id, _)| self.ended[id]) {
            return false;
        }
        let waits_inside = |process: usize| {
            self.waits[process].is_some_and(|channel| inside(self.net.channels[channel].from))
        };
        let unread = |(id, c): (usize, &Channel)| {
            inside(c.to) && !inside(c.from) && waits_inside(c.to) && !self.queues[id].is_empty()
        };
        if channels.clone().any(unread) {
            return false;
        }
        let back = |(id, c): &(usize, &Channel)| {
            c.is_feedback() && inside(c.to) && inside(c.from) && !self.ended[*id]
        };
        let ends: Vec<usize> = channels.filter(back).map(|(id, _)| id).collect();
        ends.iter().for_each(|id| self.ended[*id] = true);
        !ends.is_empty()
    }

    /// Whether the run must complete this process: it has no outputs, or its messages reach no process
    /// without outputs.
    fn is_required(&self, process: usize) -> bool {
        let is_sink = |process: usize| self.machines[process].outputs == 0;
        let reaches_sink = (0..self.done.len()).any(|other| is_sink(other) && self.reaches(process, other));
        is_sink(process) || !reaches_sink
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
        while let Some(at) = open.pop() {
            let next =
                self.net.channels.iter().filter(|channel| channel.from == at).map(|channel| channel.to);
            open.extend(next.filter(|to| seen.insert(*to)));
        }
        seen.contains(&to)
    }
}

/// A message of a network. It has a number.
pub trait Message: std::marker::Send + 'static {
    /// Coroutines are plain processes: with processes that are bound to their workers no items are carried on.
    const MOVES: bool;
    fn of(number: u64) -> Self;
    fn number(self) -> u64;
}

impl Message for u64 {
    const MOVES: bool = false;
    fn of(number: u64) -> u64 {
        number
    }
    fn number(self) -> u64 {
        self
    }
}

/// A message that owns memory.
impl Message for Box<u64> {
    const MOVES: bool = true;
    fn of(number: u64) -> Box<u64> {
        Box::new(number)
    }
    fn number(self) -> u64 {
        *self
    }
}

/// Runs a network on the engine; returns the run's result and the final states of the processes that ended.
pub fn run<M: Message>(net: &Net, options: &Options) -> (Result<Report, Error>, Vec<Option<u64>>) {
    let graph = Graph::new();
    let results = Arc::new(Mutex::new(vec![None; net.programs.len()]));
    let (mut streams, mut ends) = (Vec::new(), Vec::new());
    for (id, channel) in net.channels.iter().enumerate() {
        let back = channel.is_feedback().then(|| {
            let items: Vec<M> = (0..channel.initial).map(|i| M::of(first(id, i))).collect();
            graph.feedback(items)
        });
        let (end, stream) = back.unzip();
        streams.push(stream);
        ends.push(end);
    }
    for process in 0..net.programs.len() {
        let mine = |channel: &Channel| channel.to == process;
        let inputs: Vec<_> = (0..net.channels.len())
            .filter(|id| mine(&net.channels[*id]))
            .map(|id| input(&format!("in{id}"), streams[id].take().expect("the stream was built before")))
            .collect();
        let outs: Vec<usize> =
            (0..net.channels.len()).filter(|id| net.channels[*id].from == process).collect();
        let outputs: Vec<_> = outs.iter().map(|id| output(&format!("out{id}"))).collect();
        let (mut machine, results) = (Machine::new(net, process), results.clone());
        let name = process.to_string();
        let streams_out = if net.programs[process].is_coroutine && !M::MOVES {
            let body = move |mut rxs: Vec<BlockingRx<M>>, mut txs: Vec<BlockingTx<M>>| {
                loop {
                    match machine.next() {
                        Action::Receive(port) => machine.received(rxs[port].recv().map(M::number)),
                        Action::Send(port, item) => txs[port].send(M::of(item)),
                        Action::Done => break,
                    }
                }
                results.lock().unwrap()[process] = Some(machine.state);
            };
            graph.coroutine(&name, inputs, outputs, body)
        } else {
            let body = move |mut rxs: Vec<Rx<M>>, mut txs: Vec<Tx<M>>| async move {
                loop {
                    match machine.next() {
                        Action::Receive(port) => machine.received(rxs[port].recv().await.map(M::number)),
                        Action::Send(port, item) => txs[port].send(M::of(item)).await,
                        Action::Done => break,
                    }
                }
                results.lock().unwrap()[process] = Some(machine.state);
            };
            graph.process(&name, inputs, outputs, body)
        };
        for (id, stream) in outs.into_iter().zip(streams_out) {
            match ends[id].take() {
                Some(end) => stream.feed(end),
                None => streams[id] = Some(stream),
            }
        }
    }
    let end = graph.build().expect("a legal network").run_with(options).map(Run::into_report);
    let results = std::mem::take(&mut *results.lock().unwrap());
    (end.map_err(Error::from), results)
}
