//! The messages of misfits: what is wrong, in the words of the text form, and a line of help.

use crate::passes::batch::MOST_FIRINGS;
use crate::passes::threads::MOST_THREADS;
use crate::passes::window::MOST_TICKETS;
use crate::{Misfit, Place, PlanError};
use std::fmt;

/// The maximum number of bytes of one channel's slots (16 GiB).
pub(crate) const MOST_BYTES: usize = 1 << 34;

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, set) = (&self.name, Set(self.place));
        match &self.misfit {
            Misfit::Nodes { plan, graph } => {
                write!(
                    f,
                    "the plan has {plan} nodes, the graph has {graph}\nhelp: make a new plan for this graph"
                )
            }
            Misfit::Channels { plan, graph } => write!(
                f,
                "the plan has {plan} channels, the graph has {graph}\nhelp: make a new plan for this graph"
            ),
            Misfit::Fingerprint { plan, graph } => write!(
                f,
                "the plan is for another graph: it names graph `{plan}`, this graph is `{graph}`\n\
                 help: make a new plan for this graph"
            ),
            Misfit::Policy(why) => write!(f, "the plan names policy `{node}`: {why}"),
            Misfit::Threads(threads) => {
                write!(f, "the plan has {threads} threads, expected 1 to {MOST_THREADS}")
            }
            Misfit::Batch(batch) => write!(f, "the plan has `batch {batch}`, expected 1 to {MOST_FIRINGS}"),
            Misfit::Window(window) => {
                write!(f, "the plan has `window {window}`, expected a power of two from 2 to {MOST_TICKETS}")
            }
            Misfit::Unknown => {
                write!(f, "{} is in the plan, the graph has none of this number", Named(self.place))
            }
            Misfit::Claim => write!(f, "node `{node}` has `claim 0` in the plan, at least 1 is needed"),
            Misfit::Replicas => write!(
                f,
                "node `{node}` has `replicas 0` in the plan, at least 1 is needed\nhelp: leave it out for no limit"
            ),
            Misfit::ReplicasOfSequential => write!(
                f,
                "node `{node}` has replicas in the plan and is not parallel, so one worker runs it at a time\n\
                 help: leave out `replicas`"
            ),
            Misfit::Worker { worker, threads } => write!(
                f,
                "node `{node}` belongs to worker {worker} in the plan, the plan has {threads} threads\n\
                 help: choose a worker from 0 to {}",
                threads.saturating_sub(1)
            ),
            Misfit::WorkerOfParallel => write!(
                f,
                "node `{node}` belongs to a worker in the plan and is parallel, so any worker may run it\n\
                 help: leave out `worker`, or limit its workers by `replicas`"
            ),
            Misfit::NoWorkers => write!(
                f,
                "node `{node}` has `workers` without a number in the plan\n\
                 help: list at least one worker, or leave out `workers`"
            ),
            Misfit::WorkersOfSequential => write!(
                f,
                "node `{node}` has `workers` in the plan and is not parallel, so one worker runs it at a time\n\
                 help: name it by `worker N`"
            ),
            Misfit::Shares { shares, workers } => write!(
                f,
                "node `{node}` has {shares} shares in the plan and {workers} workers in its list\n\
                 help: give one share for each worker, each at least 1"
            ),
            Misfit::WorkerTwice(worker) => write!(
                f,
                "worker {worker} is twice in the list of node `{node}` in the plan\nhelp: list it once"
            ),
            Misfit::TooManyWorkers { workers, limit } => write!(
                f,
                "node `{node}` has {workers} workers in the plan, at most {limit} may fire it at a time\n\
                 help: shorten the list, or raise the limit"
            ),
            Misfit::Unserved => write!(
                f,
                "node `{node}` has no worker in the plan, and under the policy `pools` workers serve only the nodes that list \
                 them\nhelp: add `worker N`, or `workers N ..` to a parallel node"
            ),
            Misfit::ServesTwo { worker, other } => write!(
                f,
                "worker {worker} serves node `{node}` and node `{other}` in the plan, under the policy `pools` it serves one\n\
                 help: give each node workers of its own"
            ),
            Misfit::PoolThreads(threads) => write!(
                f,
                "under the policy `pools` the nodes need {threads} workers, at most {MOST_THREADS} can run\n\
                 help: ask for fewer workers for each parallel node, or choose another policy"
            ),
            Misfit::WorkerAndOwnThread => write!(
                f,
                "node `{node}` belongs to a worker in the plan and has a thread of its own\n\
                 help: leave out `worker` or `own-thread`"
            ),
            Misfit::ThreadOfParallel => write!(
                f,
                "node `{node}` has a thread of its own in the plan and is parallel\nhelp: leave out `own-thread`"
            ),
            Misfit::Blocks => write!(
                f,
                "node `{node}` blocks, and has no thread of its own in the plan\nhelp: add `own-thread`"
            ),
            Misfit::Capacity { planned, needed } => write!(
                f,
                "channel `{node}` has capacity {planned} in the plan, a firing needs {needed}\n\
                 help: raise the capacity to {needed}"
            ),
            Misfit::Bytes { items, bytes, weights } => {
                write!(f, "channel `{node}` would hold {items} items of {bytes} bytes")?;
                if *weights > 0 {
                    write!(f, ", with {weights} bytes for the weight of each")?;
                }
                write!(f, ": more than {MOST_BYTES} bytes\nhelp: lower its capacity, or its slots")
            }
            Misfit::Memory { bytes } => write!(
                f,
                "channel `{node}` takes {bytes} bytes, more than the system has left\n\
                 help: lower its capacity, or its slots"
            ),
            Misfit::BytesInAll { total, most, largest } => write!(
                f,
                "the channels would take {total} bytes, more than {most}: the largest, `{node}`, takes {largest}\n\
                 help: lower the capacities"
            ),
            Misfit::Slots { slots, capacity } => write!(
                f,
                "channel `{node}` has {slots} slots in the plan, fewer than its capacity {capacity}\n\
                 help: leave out `slots` for a channel that keeps its capacity"
            ),
            Misfit::Widen => write!(
                f,
                "channel `{node}` has slots in the plan, and cannot widen\n\
                 help: leave out `slots`: only a channel of items that own memory widens, or one between kernels next to \
                 an `own-thread`, without weights and budget"
            ),
            Misfit::Unweighed => write!(
                f,
                "channel `{node}` has a limit of bytes in the plan, and its items are not weighed\n\
                 help: leave out `bytes`, or weigh the stream's items"
            ),
            Misfit::ByteLimit => {
                write!(f, "channel `{node}` has `bytes 0` in the plan, at least 1 is needed")
            }
            Misfit::TooFew => write!(f, "{set} has too few nodes\nhelp: leave it out"),
            Misfit::Twice => {
                write!(f, "node `{node}` is in {set}, and in one before it or twice in this one")
            }
            Misfit::OwnThread => write!(
                f,
                "node `{node}` is in {set} and has a thread of its own, so no worker runs it\n\
                 help: take it out of the {}",
                set.kind()
            ),
            Misfit::Returns { from } => write!(
                f,
                "data that leaves {set} returns to it from `{from}` to `{node}`\n\
                 help: add the nodes between them, or cut the segment in two"
            ),
            Misfit::Together(other) => write!(
                f,
                "nodes `{node}` and `{other}` are in different segments, and one piece of code executes both\n\
                 help: put them in one segment"
            ),
            Misfit::NoSegment => {
                write!(
                    f,
                    "node `{node}` is in no segment of the plan\nhelp: add it to one, or leave out all segments"
                )
            }
            Misfit::Scattered => write!(
                f,
                "{set} continues at `{node}` after nodes of another segment, in the order in which the code executes them\n\
                 help: cut the segment in two"
            ),
            Misfit::Workers { first, second } => write!(
                f,
                "node `{node}` of {set} belongs to worker {second}, a node before it to worker {first}\n\
                 help: give all nodes of a {} one worker",
                set.kind()
            ),
            Misfit::Unconnected => write!(
                f,
                "node `{node}` is in {set}, and no channels of static rates inside the region join it to the others\n\
                 help: take it out of the region"
            ),
            Misfit::OtherSegment => write!(
                f,
                "node `{node}` of {set} is in another segment than a node before it\n\
                 help: cut the region at the segment's end"
            ),
        }
    }
}

thalweg_graph::error_type!(PlanError);

/// A segment or a region in a message.
struct Set(Place);

impl Set {
    fn kind(&self) -> &'static str {
        if matches!(self.0, Place::Region(_)) { "region" } else { "segment" }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Segment(i) | Place::Region(i) => write!(f, "{} {i}", self.kind()),
            _ => f.write_str("the plan"),
        }
    }
}

/// A node or a channel by its number.
struct Named(Place);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Place::Node(node) => write!(f, "node {}", node.0),
            Place::Channel(channel) => write!(f, "channel {}", channel.0),
            _ => write!(f, "a node of {}", Set(self.0)),
        }
    }
}
