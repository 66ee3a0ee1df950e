//! The state of a run: items in channels, and the state of nodes.

use super::room::Room;
use super::{Options, RunLimits, Stop};
use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::eval::{Random, Scratch};
use crate::files::{Files, Layout, Sink, Source, one_nan};
use crate::flat::{ChannelId, NodeId};
use crate::messages::MessageRouter;
use crate::tree::{Code, Filter};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

/// The state of a run.
pub(super) struct World {
    pub(super) compiled: Arc<Compiled>,
    /// The queue of each channel.
    channels: Vec<RefCell<VecDeque<Value>>>,
    /// The state of each node; borrowed while the node fires.
    pub(super) nodes: Vec<RefCell<State>>,
    /// Firings of each node so far.
    pub(super) firings: Vec<Cell<u64>>,
    /// Consecutive firings of each node without items.
    pub(super) idle: Vec<Cell<u32>>,
    /// Items that each node's suspended firing waits for; 0 if none is suspended.
    pub(super) awaited: Vec<Cell<u64>>,
    /// Memory accounting of queues.
    pub(super) room: Room,
    /// Whether queues exceeded their budget within a firing.
    pub(super) over: Cell<bool>,
    /// Messages in flight.
    pub(super) router: RefCell<MessageRouter<Vec<Value>>>,
    out: RefCell<Box<dyn Write>>,
    interrupted: Box<dyn Fn() -> bool>,
    /// The error of a firing that could not print.
    pub(super) unprinted: RefCell<Option<String>>,
    /// Whether an interrupt ended a firing early.
    pub(super) stopped: Cell<bool>,
    /// The step limit of each firing.
    pub(super) steps: u64,
}

/// The state of a node.
pub(super) enum State {
    /// A filter of the program.
    Written {
        fields: Vec<Value>,
        random: Random,
        /// Storage for the variables of its firings.
        scratch: Scratch,
    },
    Reader {
        source: Box<dyn Source>,
        again: bool,
    },
    Writer(Option<Box<dyn Sink>>),
    /// A splitter, joiner or identity has no state.
    Stateless,
}

impl World {
    pub(super) fn new(
        compiled: Arc<Compiled>,
        (options, limits): (Options, RunLimits),
        files: &mut dyn Files,
        out: Box<dyn Write>,
        interrupted: Box<dyn Fn() -> bool>,
    ) -> Result<World, Stop> {
        let states = compiled.flat.graph.node_ids().map(|node| match compiled.flat.filter(node) {
            Some(id) => initial_state(&compiled, id.0, options, files),
            None => Ok(State::Stateless),
        });
        let nodes = states.map(|state| state.map(RefCell::new)).collect::<Result<Vec<_>, Stop>>()?;
        let initial = |channel| RefCell::new(compiled.flat.initial(channel).iter().cloned().collect());
        Ok(World {
            channels: compiled.flat.graph.channel_ids().map(initial).collect(),
            firings: nodes.iter().map(|_| Cell::new(0)).collect(),
            idle: nodes.iter().map(|_| Cell::new(0)).collect(),
            awaited: nodes.iter().map(|_| Cell::new(0)).collect(),
            room: Room::new(&compiled, limits.bytes),
            over: Cell::new(false),
            router: RefCell::new(MessageRouter::new(&compiled)),
            nodes,
            out: RefCell::new(out),
            interrupted,
            unprinted: RefCell::default(),
            stopped: Cell::new(false),
            steps: limits.steps,
            compiled,
        })
    }

    /// The filter of a node, if it is one.
    pub(super) fn filter(&self, node: NodeId) -> Option<&Filter> {
        Some(&self.compiled.tree.filters[self.compiled.flat.filter(node)?.0 as usize])
    }

    pub(super) fn channel(&self, channel: ChannelId) -> &RefCell<VecDeque<Value>> {
        &self.channels[channel.0 as usize]
    }

    /// The number of items in a channel.
    pub(super) fn items(&self, channel: ChannelId) -> u64 {
        self.channel(channel).borrow().len() as u64
    }

    /// Prints, unless the run was interrupted.
    pub(super) fn print(&self, text: &str) -> Result<(), String> {
        if self.interrupted() {
            return Ok(());
        }
        let written = self.out.borrow_mut().write_all(text.as_bytes());
        written.map_err(|error| write_error(&error))
    }

    /// Flushes standard output, pipes and devices.
    pub(super) fn flush(&self) -> Result<(), Stop> {
        self.out.borrow_mut().flush().map_err(|error| Stop::Output(write_error(&error)))?;
        for (at, state) in self.nodes.iter().enumerate() {
            if let Ok(mut state) = state.try_borrow_mut()
                && let State::Writer(Some(sink)) = &mut *state
            {
                sink.flush().map_err(|error| self.fault(NodeId(at as u32), &error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Whether the run must end at once.
    pub(super) fn interrupted(&self) -> bool {
        (self.interrupted)()
    }

    /// As [`interrupted`](Self::interrupted), for a check within a firing.
    pub(super) fn stops(&self) -> bool {
        let stops = self.interrupted();
        self.stopped.set(self.stopped.get() || stops);
        stops
    }

    /// Completes all outputs; as parts, if the run was interrupted.
    pub(super) fn finish(&self, interrupted: bool) -> Result<(), Stop> {
        match self.out.borrow_mut().flush() {
            // A reader that waits takes no more.
            Err(error) if !interrupted => return Err(Stop::Output(write_error(&error))),
            Err(_) | Ok(()) => {}
        }
        for (at, state) in self.nodes.iter().enumerate() {
            if let State::Writer(sink) = &mut *state.borrow_mut()
                && let Some(mut sink) = sink.take()
            {
                if interrupted {
                    sink.mark_partial();
                }
                sink.finish().map_err(|error| self.fault(NodeId(at as u32), &error.to_string()))?;
            }
        }
        Ok(())
    }

    /// An error of a node.
    pub(super) fn fault(&self, node: NodeId, what: &str) -> Stop {
        let (flat, name) = (&self.compiled.flat, &self.compiled.flat.node(node).name());
        Stop::Fault(Box::new(Diagnostic::new(flat.span(node), format!("`{name}`: {what}"))))
    }
}

fn write_error(error: &std::io::Error) -> String {
    format!("the output cannot be written: {error}")
}

/// The initial state of a filter.
fn initial_state(
    compiled: &Compiled,
    id: u32,
    options: Options,
    files: &mut dyn Files,
) -> Result<State, Stop> {
    let filter = &compiled.tree.filters[id as usize];
    let layout = |shape| Layout { shape, structs: &compiled.tree.structs };
    let fault = |error: std::io::Error| {
        let message = format!("`{}`: {error}", filter.path);
        Stop::Fault(Box::new(Diagnostic::new(filter.span, message)))
    };
    Ok(match &filter.code {
        Code::Written { fields, .. } => State::Written {
            fields: fields.clone(),
            random: Random::of_work(id),
            scratch: Scratch::default(),
        },
        Code::Identity => State::Stateless,
        Code::FileReader(name) => {
            let source = files.source(name, &layout(&filter.output)).map_err(fault)?;
            State::Reader { source, again: options.repeat_input }
        }
        Code::FileWriter(name, rate) => {
            let sink = one_nan::open(files, name, &layout(&filter.input), *rate).map_err(fault)?;
            State::Writer(Some(sink))
        }
    })
}
