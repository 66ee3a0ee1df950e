//! What a run has: items in channels, and what filters keep.

use super::room::Room;
use super::{Options, Stop, Within};
use crate::Compiled;
use crate::diagnostic::Diagnostic;
use crate::eval::{Random, Scratch};
use crate::files::{Files, Layout, Sink, Source};
use crate::flat::{ChannelId, NodeId, NodeKind};
use crate::messages::Post;
use crate::tree::{Code, Filter};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;

/// A run's state.
pub(super) struct World {
    pub(super) compiled: Arc<Compiled>,
    /// Items, by channel.
    channels: Vec<RefCell<VecDeque<Value>>>,
    /// What filters keep, by node; it is borrowed while the node fires.
    pub(super) nodes: Vec<RefCell<State>>,
    /// Firings of each node so far.
    pub(super) firings: Vec<Cell<u64>>,
    /// Latest firings of each node that moved no item.
    pub(super) idle: Vec<Cell<u32>>,
    /// Items that each node's firing waits for in its middle; 0 where none does.
    pub(super) awaited: Vec<Cell<u64>>,
    /// What queues hold.
    pub(super) room: Room,
    /// Whether queues have outgrown their budget in the middle of a firing.
    pub(super) over: Cell<bool>,
    /// Messages on their way.
    pub(super) post: RefCell<Post<Vec<Value>>>,
    out: RefCell<Box<dyn Write>>,
    interrupted: Box<dyn Fn() -> bool>,
    /// Why a firing could not print.
    pub(super) unprinted: RefCell<Option<String>>,
    /// Whether a firing was left in its middle because of that.
    pub(super) stopped: Cell<bool>,
    /// What each firing may do.
    pub(super) steps: u64,
}

/// What a node keeps.
pub(super) enum State {
    /// A filter of the program.
    Written {
        fields: Vec<Value>,
        random: Random,
        /// Room for the variables of its firings.
        scratch: Scratch,
    },
    Reader {
        source: Box<dyn Source>,
        again: bool,
    },
    Writer(Option<Box<dyn Sink>>),
    /// A splitter, a joiner, an identity.
    Nothing,
}

impl World {
    pub(super) fn new(
        compiled: Arc<Compiled>,
        (options, within): (Options, Within),
        files: &mut dyn Files,
        out: Box<dyn Write>,
        interrupted: Box<dyn Fn() -> bool>,
    ) -> Result<World, Stop> {
        let states = compiled.flat.nodes.iter().map(|node| match &node.kind {
            NodeKind::Filter(id) => begin(&compiled, id.0, options, files),
            NodeKind::Split(_) | NodeKind::Join(_) => Ok(State::Nothing),
        });
        let nodes = states.map(|state| state.map(RefCell::new)).collect::<Result<Vec<_>, Stop>>()?;
        let initial =
            |channel: &crate::flat::Channel| RefCell::new(channel.initial.iter().cloned().collect());
        Ok(World {
            channels: compiled.flat.channels.iter().map(initial).collect(),
            firings: nodes.iter().map(|_| Cell::new(0)).collect(),
            idle: nodes.iter().map(|_| Cell::new(0)).collect(),
            awaited: nodes.iter().map(|_| Cell::new(0)).collect(),
            room: Room::new(&compiled, within.bytes),
            over: Cell::new(false),
            post: RefCell::new(Post::new(&compiled)),
            nodes,
            out: RefCell::new(out),
            interrupted,
            unprinted: RefCell::default(),
            stopped: Cell::new(false),
            steps: within.steps,
            compiled,
        })
    }

    /// The filter that a node is, if it is one.
    pub(super) fn filter(&self, node: NodeId) -> Option<&Filter> {
        match self.compiled.flat.nodes[node.0 as usize].kind {
            NodeKind::Filter(id) => Some(&self.compiled.tree.filters[id.0 as usize]),
            NodeKind::Split(_) | NodeKind::Join(_) => None,
        }
    }

    pub(super) fn channel(&self, channel: ChannelId) -> &RefCell<VecDeque<Value>> {
        &self.channels[channel.0 as usize]
    }

    /// Items in a channel.
    pub(super) fn items(&self, channel: ChannelId) -> u64 {
        self.channel(channel).borrow().len() as u64
    }

    pub(super) fn print(&self, text: &str) -> Result<(), String> {
        let written = self.out.borrow_mut().write_all(text.as_bytes());
        written.map_err(|error| unwritten(&error))
    }

    /// What goes to pipes and devices goes there now.
    pub(super) fn flush(&self) -> Result<(), Stop> {
        self.out.borrow_mut().flush().map_err(|error| Stop::Output(unwritten(&error)))?;
        for (at, state) in self.nodes.iter().enumerate() {
            if let Ok(mut state) = state.try_borrow_mut()
                && let State::Writer(Some(sink)) = &mut *state
            {
                sink.flush().map_err(|error| self.fault(NodeId(at as u32), &error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Whether the run is to end at once.
    pub(super) fn interrupted(&self) -> bool {
        (self.interrupted)()
    }

    /// The same, for a firing that ends in its middle then.
    pub(super) fn stops(&self) -> bool {
        let stops = self.interrupted();
        self.stopped.set(self.stopped.get() || stops);
        stops
    }

    /// All that was written becomes visible.
    pub(super) fn finish(&self) -> Result<(), Stop> {
        self.out.borrow_mut().flush().map_err(|error| Stop::Output(unwritten(&error)))?;
        for (at, state) in self.nodes.iter().enumerate() {
            if let State::Writer(sink) = &mut *state.borrow_mut()
                && let Some(sink) = sink.take()
            {
                sink.finish().map_err(|error| self.fault(NodeId(at as u32), &error.to_string()))?;
            }
        }
        Ok(())
    }

    /// Something is wrong at a node.
    pub(super) fn fault(&self, node: NodeId, what: &str) -> Stop {
        let node = &self.compiled.flat.nodes[node.0 as usize];
        Stop::Fault(Box::new(Diagnostic::new(node.span, format!("`{}`: {what}", node.name))))
    }
}

fn unwritten(error: &std::io::Error) -> String {
    format!("the output cannot be written: {error}")
}

/// What a filter keeps when it begins.
fn begin(compiled: &Compiled, id: u32, options: Options, files: &mut dyn Files) -> Result<State, Stop> {
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
        Code::Identity => State::Nothing,
        Code::FileReader(name) => {
            let source = files.source(name, &layout(&filter.output)).map_err(fault)?;
            State::Reader { source, again: options.repeat_input }
        }
        Code::FileWriter(name) => {
            let sink = files.sink(name, &layout(&filter.input)).map_err(fault)?;
            State::Writer(Some(sink))
        }
    })
}
