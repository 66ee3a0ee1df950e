//! One firing of one node.

use super::Stop;
use super::deadlock::Lack;
use super::host::{FilterHost, SLICE};
use super::world::{State, World};
use crate::Span;
use crate::diagnostic::Diagnostic;
use crate::eval::{Budget, Code, Failure, Globals, Machine};
use crate::files::Source;
use crate::flat::{ChannelId, Firing, NodeId, NodeKind};
use crate::hir::StreamBody;
use crate::tree::{self, Weights};
use crate::value::Value;
use std::time::Duration;

/// The result of an attempt to fire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fired {
    /// The node has fired.
    Yes,
    /// It needs more items from this channel.
    Lacks(ChannelId),
    /// The file has ended; the node produces no more items.
    Over,
}

/// After this many consecutive firings without items a filter of dynamic rates is considered finished.
const MAX_IDLE: u32 = 1 << 16;

/// Suspends a firing of dynamic rates until more items may have arrived.
pub(super) type Wait<'a> = &'a dyn Fn();

impl World {
    /// Fires a node if its input is complete.
    pub(super) fn fire(&self, node: NodeId, wait: Wait<'_>) -> Result<Fired, Stop> {
        if let Some(lacking) = self.lacks(node) {
            return Ok(Fired::Lacks(lacking));
        }
        let mut state = self.nodes[node.0 as usize].borrow_mut();
        let fired = match self.compiled.flat.kind(node) {
            NodeKind::Split(weights) => self.split(node, weights),
            NodeKind::Join(weights) => self.join(node, weights),
            NodeKind::Filter(_) => self.fire_filter(node, &mut state, wait)?,
        };
        if fired == Fired::Yes {
            let firings = &self.firings[node.0 as usize];
            firings.set(firings.get() + 1);
            self.within_budget(node)?;
        }
        Ok(fired)
    }

    fn firing(&self, node: NodeId) -> Firing {
        if self.firings[node.0 as usize].get() == 0 { Firing::First } else { Firing::Later }
    }

    /// Items required on an input for the next firing to start.
    fn needs(&self, node: NodeId, at: usize) -> u64 {
        self.compiled.flat.peek(node, at, self.firing(node))
    }

    /// A channel with fewer items than the next firing requires to start.
    pub(super) fn lacks(&self, node: NodeId) -> Option<ChannelId> {
        let mut inputs = self.compiled.flat.inputs(node).enumerate();
        if self.idle[node.0 as usize].get() >= MAX_IDLE {
            return inputs.next().map(|(_, channel)| channel);
        }
        inputs.find(|(at, channel)| self.items(*channel) < self.needs(node, *at)).map(|(_, channel)| channel)
    }

    /// All items that a node lacks to continue or to start its next firing.
    pub(super) fn lacking(&self, node: NodeId) -> Vec<Lack> {
        let awaited = self.awaited[node.0 as usize].get();
        let lack = |(at, channel): (usize, ChannelId)| {
            let needs = if awaited > 0 { awaited } else { self.needs(node, at) };
            let more = needs.saturating_sub(self.items(channel));
            (more > 0).then_some(Lack { channel, more })
        };
        self.compiled.flat.inputs(node).enumerate().filter_map(lack).collect()
    }

    /// Fails if a node's queues exceed the budget.
    fn within_budget(&self, node: NodeId) -> Result<(), Stop> {
        let flat = &self.compiled.flat;
        for channel in flat.inputs(node).chain(flat.outputs(node)) {
            if !self.room.holds(channel, self.items(channel)) {
                return Err(self.budget_error());
            }
        }
        Ok(())
    }

    fn budget_error(&self) -> Stop {
        Stop::Fault(Box::new(self.room.diagnostic(&self.compiled.flat)))
    }

    fn split(&self, node: NodeId, weights: &Weights) -> Fired {
        let flat = &self.compiled.flat;
        let input = flat.input(node).expect("a splitter that fires has an input");
        let mut input = self.channel(input).borrow_mut();
        match weights {
            Weights::Duplicate => {
                let item = input.pop_front().expect("the input was checked");
                flat.outputs(node)
                    .for_each(|output| self.channel(output).borrow_mut().push_back(item.clone()));
            }
            Weights::RoundRobin(weights) => {
                for (output, weight) in flat.outputs(node).zip(weights) {
                    self.channel(output).borrow_mut().extend(input.drain(..*weight as usize));
                }
            }
        }
        Fired::Yes
    }

    fn join(&self, node: NodeId, weights: &Weights) -> Fired {
        let flat = &self.compiled.flat;
        let Weights::RoundRobin(weights) = weights else { unreachable!("joiners do not duplicate") };
        let output = flat.output(node).expect("a joiner that fires has an output");
        let mut output = self.channel(output).borrow_mut();
        for (input, weight) in flat.inputs(node).zip(weights) {
            output.extend(self.channel(input).borrow_mut().drain(..*weight as usize));
        }
        Fired::Yes
    }

    fn fire_filter(&self, node: NodeId, state: &mut State, wait: Wait<'_>) -> Result<Fired, Stop> {
        let flat = &self.compiled.flat;
        let (input, output) = (flat.input(node), flat.output(node));
        let pop_input = || input.and_then(|input| self.channel(input).borrow_mut().pop_front());
        let push_output = |item| {
            if let Some(output) = output {
                self.channel(output).borrow_mut().push_back(item);
            }
        };
        match state {
            State::Stateless => push_output(pop_input().expect("the input was checked")),
            State::Writer(sink) => {
                let item = pop_input().expect("the input was checked");
                let given = sink.as_mut().map_or(Ok(()), |sink| sink.push(&item));
                given.map_err(|error| self.fault(node, &error.to_string()))?;
            }
            State::Reader { source, again } => {
                if source.would_block(Duration::ZERO).map_err(|error| self.read_error(node, &error))? {
                    self.flush()?;
                }
                match read(&mut **source, *again).map_err(|error| self.read_error(node, &error))? {
                    Some(item) => push_output(item),
                    None => return Ok(Fired::Over),
                }
            }
            State::Written { .. } => return self.execute(node, state, wait),
        }
        Ok(Fired::Yes)
    }

    /// Executes the work of a filter, after handling the messages that are due.
    fn execute(&self, node: NodeId, state: &mut State, wait: Wait<'_>) -> Result<Fired, Stop> {
        let program = &self.compiled.program;
        let filter = self.filter(node).expect("the node is a filter");
        let tree::Code::Written { stream, params, .. } = &filter.code else {
            unreachable!("the filter has code")
        };
        let StreamBody::Filter(code) = &program.streams[stream.0 as usize].body else {
            unreachable!("the stream is a filter")
        };
        let State::Written { fields, random, scratch } = state else {
            unreachable!("the node has a filter's state")
        };
        let firings = self.firings[node.0 as usize].get();
        let prework = code.prework.as_ref().filter(|_| firings == 0);
        let rates = if prework.is_some() { filter.prework.unwrap_or(filter.work) } else { filter.work };
        let flat = &self.compiled.flat;
        let mut host = FilterHost {
            world: self,
            node,
            input: flat.input(node),
            output: flat.output(node),
            rates,
            popped: 0,
            pushed: 0,
            executions: firings.saturating_sub(u64::from(code.prework.is_some())) as i32,
            random,
            steps: self.steps.saturating_sub(SLICE),
            wait,
        };
        let scope = Code {
            program,
            structs: &self.compiled.tree.structs,
            params,
            functions: &code.functions,
            output: &filter.output,
        };
        let mut budget = Budget { steps: self.steps.min(SLICE), ..Budget::unlimited() };
        let globals = Globals::Fixed(&self.compiled.tree.globals);
        let mut machine = Machine::new(scope, globals, fields, &mut host, scratch, &mut budget);
        let envelopes = self.router.borrow_mut().arrived(node, firings + 1);
        for envelope in envelopes {
            let handler = &code.handlers[envelope.handler as usize];
            machine.run_function(handler, envelope.args).map_err(|failure| self.failed(node, &failure))?;
        }
        let work = prework.unwrap_or(&code.work);
        machine.run(&work.body).map_err(|failure| self.failed(node, &failure))?;
        host.end().map_err(|what| self.failed_at(node, work.span, &what))?;
        let idle = &self.idle[node.0 as usize];
        idle.set(if host.popped + host.pushed > 0 { 0 } else { idle.get() + 1 });
        Ok(Fired::Yes)
    }

    /// The error of a source that cannot be read; interrupting a blocked read also fails.
    fn read_error(&self, node: NodeId, error: &std::io::Error) -> Stop {
        if self.stops() { Stop::Interrupted } else { self.fault(node, &error.to_string()) }
    }

    /// The error of a filter's code.
    fn failed(&self, node: NodeId, failure: &Failure) -> Stop {
        if self.stopped.get() {
            return Stop::Interrupted;
        }
        if let Some(error) = self.unprinted.take() {
            return Stop::Output(error);
        }
        if self.over.get() {
            return self.budget_error();
        }
        self.failed_at(node, failure.span, &failure.fault.0)
    }

    /// The error of a firing.
    fn failed_at(&self, node: NodeId, span: Span, what: &str) -> Stop {
        let filter = &self.compiled.flat.node(node).name();
        let firing = self.firings[node.0 as usize].get() + 1;
        let message = format!("`{filter}`, in firing {firing}: {what}");
        Stop::Fault(Box::new(Diagnostic::new(span, message)))
    }
}

fn read(source: &mut dyn Source, again: bool) -> std::io::Result<Option<Value>> {
    let item = source.next()?;
    if item.is_none() && again && source.rewind()? {
        return source.next();
    }
    Ok(item)
}
