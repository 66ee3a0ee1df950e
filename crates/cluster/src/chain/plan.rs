//! What a run of a chain needs, beside the types of its items.

use std::fmt;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use thalweg::{Graph, Stream, output};

use super::batch::{Cause, Failure, Stage};
use super::budget::Budget;
use super::handover::Handover;
use super::items::Items;
use super::onward::{At, Onward, Ordered};
use crate::cluster::Cluster;
use crate::dataflow::{Flow, Station};
use crate::ending::Ending;
use crate::engine::Engine;
use crate::error::Error;
use crate::group::{Group, GroupSize};
use crate::inbox::{Inbox, NoBatch};
use crate::order::{Expected, Whole};
use crate::outbox::Outbox;
use crate::output::FileOutput;
use crate::piece::{Damaged, Piece, Place};
use crate::ticket::Ticket;
use crate::watch::Watch;
use crate::window::Window;

/// The graph and the dataflow of this process, as far as they are built.
pub(super) struct Plan<'env> {
    pub cluster: Cluster,
    /// The stages of this process.
    pub graph: Graph<'env>,
    pub flow: Flow,
    /// The run of the graph that the next stage belongs to.
    pub engine: Engine,
    /// That of the stages.
    pub stages: Engine,
    /// What the graph behind the sink takes from, and its run.
    pub sink: Option<(Arc<Inbox>, Engine)>,
    pub ending: Arc<Ending>,
    pub watch: Arc<Watch>,
    /// Where the next stage sends its pieces.
    pub out: Arc<Outbox>,
    /// The first part that the next stage gets.
    first: u32,
    /// The number of parts.
    parts: u32,
    /// How the process goes from part to part.
    pub step: Step,
    /// The operators, which all processes must have alike.
    pub shape: String,
    pub budget: Option<Arc<Budget>>,
    /// A keyed stage is followed by `par_flat_map`: several items have one place in the order of their batch.
    pub has_ties: bool,
    /// Why the chain cannot run.
    pub refused: Option<Error>,
    /// Where the source begins.
    pub start: Start,
    /// The file that the chain ends with.
    pub file: Option<Arc<FileOutput>>,
}

/// Which tickets come next in a process.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// It has each part of this number behind the last.
    Part(u32),
    /// It has each batch of this number behind the last, of a single part.
    Batch(u32),
    /// It has a share of every batch.
    Every,
}

impl Step {
    /// The first ticket of process `me` that is not before `from`.
    fn first(self, me: u32, parts: u32, from: Ticket) -> Ticket {
        match self {
            Step::Part(_) if from.part >= parts => Ticket::first_of(parts),
            Step::Part(count) => {
                let behind = (me + count - from.part % count) % count;
                let part = from.part.saturating_add(behind).min(parts);
                if part == from.part { from } else { Ticket::first_of(part) }
            }
            Step::Batch(_) | Step::Every => from,
        }
    }
}

/// The ticket that the source begins with, which is known when the run begins.
#[derive(Clone, Default)]
pub(super) struct Start(Arc<OnceLock<Ticket>>);

impl Start {
    /// The ticket: the first of all, unless the run goes on with an earlier one.
    pub fn ticket(&self) -> Ticket {
        self.0.get().copied().unwrap_or(Ticket::first_of(0))
    }

    fn set(&self, ticket: Ticket) {
        _ = self.0.set(ticket);
    }
}

impl<'env> Plan<'env> {
    pub fn new(cluster: &Cluster, parts: u32, step: Step, shape: String) -> Plan<'env> {
        let settings = &cluster.settings;
        let processes = cluster.processes();
        let room = match (settings.window, step) {
            (Some(window), Step::Part(_)) => window / processes,
            (Some(window), Step::Batch(_) | Step::Every) => window,
            (None, step) => {
                let threads = thalweg::embed::machine::threads();
                let one = (4 * threads).max(32);
                if matches!(step, Step::Part(_)) { one } else { one * processes }
            }
        };
        let first = step.first(cluster.process() as u32, parts, Ticket::first_of(0));
        // A window that shrinks has room for an epoch.
        let least = settings.budget.map(|_| 1);
        // The same in processes with different numbers of threads: by times of other epochs, the sink would not make room.
        let usual = || settings.window.map_or(8, |_| u32::try_from(room / 4).unwrap_or(u32::MAX));
        let epoch = least.or(settings.epoch).unwrap_or_else(usual);
        let (source, engine) = (Arc::new(Outbox::new(first)), Engine::default());
        let window = Arc::new(Window::new(room, epoch, engine.clone()));
        let (items, bytes) = (settings.batch, settings.batch_bytes);
        let shape = format!("{shape} in batches of {items} items or {bytes} bytes");
        let readers = if matches!(step, Step::Part(_)) { processes } else { 1 };
        let budget = settings.budget.map(|bytes| Arc::new(Budget::new(bytes, readers, window.clone())));
        Plan {
            cluster: cluster.clone(),
            graph: Graph::new(),
            flow: Flow { source: source.clone(), stations: Vec::new(), window },
            engine: engine.clone(),
            stages: engine,
            sink: None,
            ending: Arc::default(),
            watch: Arc::default(),
            out: source,
            first: 0,
            parts,
            step,
            shape,
            budget,
            has_ties: false,
            refused: None,
            start: Start::default(),
            file: None,
        }
    }

    pub fn process(&self) -> usize {
        self.cluster.process()
    }

    pub fn processes(&self) -> usize {
        self.cluster.processes()
    }

    /// What leaves out all batches before a ticket, before the run. Only for a chain in which they change nothing behind them: see
    /// [`Resumes::ByTicket`](crate::output::Resumes).
    pub fn begin_at(&self) -> impl FnOnce(Ticket) + use<> {
        let (start, source) = (self.start.clone(), self.flow.source.clone());
        let (step, me, parts) = (self.step, self.process() as u32, self.parts);
        let stations = self.flow.stations.iter();
        let stations: Vec<_> =
            stations.filter_map(|it| Some((it.inbox.clone()?, it.outbox.clone()))).collect();
        move |from| {
            if from == Ticket::first_of(0) {
                return;
            }
            start.set(from);
            source.begin_at(step.first(me, parts, from));
            if from.part >= parts {
                source.close();
            }
            for (inbox, outbox) in stations {
                outbox.begin_at(inbox.begin_at(from));
            }
        }
    }

    /// How items go from this process to another, or to itself.
    pub fn places(&self) -> impl Fn(u32) -> Place + Copy + Send + Sync + use<> {
        let me = self.process() as u32;
        let here = if self.cluster.settings.budget.is_some() { Place::Counted } else { Place::Here };
        move |to| if to == me { here } else { Place::There }
    }

    /// Adds a place where pieces are exchanged. Returns its inbox, if this process has the stage behind it.
    pub fn station(&mut self, name: &'static str, expected: Expected, is_here: bool) -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::new(name, expected));
        self.out = Arc::new(Outbox::new(expected.first()));
        if !is_here {
            self.out.close();
        }
        self.flow.stations.push(Station { inbox: is_here.then(|| inbox.clone()), outbox: self.out.clone() });
        inbox
    }

    /// The parts that the next stage gets.
    pub fn range(&self) -> Range<u32> {
        self.first..self.parts
    }

    /// All tickets that the next stage gets.
    pub fn all(&self) -> Expected {
        // Of a batch, the process that ran its stages makes the pieces, and each one where keys live.
        let pieces = if matches!(self.step, Step::Every) { self.processes() } else { 1 };
        Expected::All { first: Ticket::first_of(self.first), parts: self.parts, pieces }
    }

    /// Adds a part behind all others, which is all that the next stage gets. Returns its number.
    pub fn add_part(&mut self) -> u32 {
        self.first = self.parts;
        match self.parts.checked_add(1).filter(|parts| *parts < u32::MAX) {
            Some(parts) => self.parts = parts,
            None => self.refuse("there are more than 2^32 parts", "read fewer parts, of more items each"),
        }
        self.first
    }

    /// Lets the run fail before it begins, in all processes.
    pub fn refuse(&mut self, why: impl Into<String>, help: &str) {
        self.refused.get_or_insert_with(|| Error::new(why).with_help(help));
    }

    /// The ticket that this process has behind one of its own.
    pub fn next(&self) -> impl Fn(Ticket, bool) -> Ticket + Copy + Send + use<> {
        let step = self.step;
        move |ticket, last| match step {
            Step::Part(count) if last => Ticket::first_of(ticket.part.saturating_add(count)),
            Step::Part(_) => ticket.next(false),
            Step::Batch(count) => Ticket { batch: ticket.batch.saturating_add(count), ..ticket },
            Step::Every => ticket.next(last),
        }
    }

    /// Counts the bytes of a batch, if there is a budget.
    pub fn count(&self) -> impl Fn(&[Piece]) + Send + Sync + use<> {
        // A process that has a share of every batch takes the shares of the others for as large.
        let shares = if matches!(self.step, Step::Every) { self.processes() } else { 1 };
        let budget = self.budget.clone();
        move |pieces| {
            if let Some(budget) = &budget {
                let bytes: usize = pieces.iter().map(|piece| piece.body.bytes()).sum();
                budget.batch(bytes.saturating_mul(shares));
            }
        }
    }

    /// Sends the pieces that a function makes of the items, in order. `name`: of the operator whose function that is.
    pub fn send<T>(
        &self,
        name: &'static str,
        is_parallel: bool,
        pieces: impl Fn(At, Items<T>) -> Result<Vec<Piece>, Damaged> + Send + Sync + 'env,
    ) -> Onward<'env, Items<T>> {
        let (out, parts, next, count) = (self.out.clone(), self.parts, self.next(), self.count());
        let each = move |stage: &mut Stage, at: At, items| -> Result<Ordered<'env>, Cause> {
            *stage = Stage::Fixed(name);
            let pieces = pieces(at, items).map_err(|damaged| failure(name, at.ticket, damaged))?;
            count(&pieces);
            let out = out.clone();
            Ok(Box::new(move || {
                let next = if at.more { at.ticket } else { next(at.ticket, at.last) };
                out.push(pieces, next);
                if next.part >= parts {
                    out.close();
                }
                Ok(())
            }))
        };
        Onward { each: Arc::new(each), end: None, is_parallel, out: self.out.clone() }
    }

    /// Calls a function with each item of an iterator, on a thread of its own, since the iterator may wait for the outside world.
    pub fn read<X>(
        &self,
        items: impl IntoIterator<Item = X, IntoIter: Send + 'env>,
        mut f: impl FnMut(Option<X>) -> Result<(), Cause> + Send + 'env,
    ) {
        let mut items = items.into_iter();
        self.graph.kernel("read", (), ()).blocking().sequential(move |_, _| -> Result<_, Cause> {
            let item = items.next();
            let ends = item.is_none();
            f(item)?;
            Ok(if ends { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
    }

    /// Reads batches, and runs stages for several at a time.
    pub fn read_batches<P: Send + 'env>(
        &self,
        batches: impl IntoIterator<Item = (At, P), IntoIter: Send + 'env>,
        onward: Onward<'env, P>,
    ) {
        let read = Arc::new(Handover::new());
        let (handover, end) = (read.clone(), onward.end.is_some());
        self.read(batches, move |batch| {
            match batch {
                Some(batch) => handover.push(Some(batch)),
                None => {
                    end.then(|| handover.push(None));
                    handover.end();
                }
            }
            Ok(())
        });
        let size = Arc::new(GroupSize::new());
        let of = size.clone();
        let groups = self.graph.process("source", (), output("out"), |(), mut groups| async move {
            while let Some(group) = read.take(of.most()).await {
                groups.send(group).await;
            }
        });
        self.in_parallel(groups, size, onward);
    }

    /// Runs stages for several batches at a time, and what they leave in order. A group is what one thread runs: see
    /// [`GroupSize`].
    pub fn in_parallel<P: Send + 'env>(
        &self,
        groups: Stream<'env, Group<Option<(At, P)>>>,
        size: Arc<GroupSize>,
        onward: Onward<'env, P>,
    ) {
        let (out, watch) = (onward.out.clone(), self.watch.clone());
        let run = onward.run();
        let run_group = move |mut group: Group<Option<(At, P)>>| -> Result<Group<Ordered<'env>>, Cause> {
            let _call = watch.call();
            let (began, batches) = (Instant::now(), group.len());
            let mut ordered = Group::new();
            while let Some(batch) = group.pop() {
                ordered.push(run(batch)?);
            }
            size.note(batches, began.elapsed());
            Ok(ordered)
        };
        let watch = self.watch.clone();
        let finish = move |mut ordered: Group<Ordered<'env>>| {
            let _call = watch.call();
            let finished = std::iter::from_fn(|| ordered.pop()).try_for_each(|ordered| ordered());
            out.flush();
            finished
        };
        groups.try_par_map(run_group).named("stages").try_map(finish).discard();
    }
}

/// What is wrong with a piece, as an error of a stage.
pub(super) fn failure(stage: &str, ticket: Ticket, damaged: Damaged) -> Failure {
    Failure { stage: stage.to_owned(), ticket, text: damaged.to_string(), help: None, cause: None }
}

/// The batches that wait in an inbox, at most this number, and at least one; `None` when all were taken or the run ends early.
pub(super) async fn arrived(inbox: &Inbox, most: usize) -> Option<Result<Group<Whole>, Missing>> {
    match inbox.batches(most).await {
        Ok(group) => Some(Ok(group)),
        Err(NoBatch::Missing(ticket)) => Some(Err(Missing(ticket))),
        Err(NoBatch::Complete | NoBatch::Stopped) => None,
    }
}

/// A batch never arrived, although no process sends any more: a defect of this crate.
#[derive(Debug)]
pub(super) struct Missing(Ticket);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing: please report this", self.0)
    }
}

impl std::error::Error for Missing {}
