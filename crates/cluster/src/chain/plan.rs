//! What a run of a chain needs, beside the types of its items.

use std::fmt;
use std::sync::Arc;

use thalweg::Graph;

use super::Batches;
use super::batch::{Cause, Failure, guarded};
use crate::cluster::Cluster;
use crate::dataflow::{Flow, Station};
use crate::ending::Ending;
use crate::engine::Engine;
use crate::inbox::{Inbox, NoBatch};
use crate::order::{Expected, Whole};
use crate::outbox::Outbox;
use crate::piece::{Damaged, Piece, Place};
use crate::ticket::Ticket;
use crate::watch::Watch;
use crate::window::Window;

/// How many processes make the pieces of a batch.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Makers {
    /// The one that ran its stages.
    One,
    /// Each.
    All,
}

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
    /// The number of parts.
    pub parts: u32,
    /// How the process goes from part to part.
    pub step: Step,
    /// The operators, which all processes must have alike.
    pub shape: String,
}

/// Which tickets come next in a process.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// It has each part of this number behind the last.
    Part(u32),
    /// It has each batch of this number behind the last, of a single part.
    Batch(u32),
}

impl<'env> Plan<'env> {
    pub fn new(cluster: &Cluster, parts: u32, step: Step, shape: String) -> Plan<'env> {
        let settings = &cluster.settings;
        let processes = cluster.processes();
        let room = match (settings.window, step) {
            (Some(window), Step::Part(_)) => window / processes,
            (Some(window), Step::Batch(_)) => window,
            (None, step) => {
                let threads = thalweg::embed::machine::threads();
                let one = (4 * threads).max(32);
                if matches!(step, Step::Part(_)) { one } else { one * processes }
            }
        };
        let first = match step {
            Step::Part(_) => Ticket::first_of(parts.min(cluster.process() as u32)),
            Step::Batch(_) => Ticket::first_of(0),
        };
        // A window that shrinks has room for an epoch.
        let least = settings.budget.map(|_| 1);
        // The same in processes with different numbers of threads: by times of other epochs, the sink would not make room.
        let usual = || settings.window.map_or(8, |_| u32::try_from(room / 4).unwrap_or(u32::MAX));
        let epoch = least.or(settings.epoch).unwrap_or_else(usual);
        let (source, engine) = (Arc::new(Outbox::new(first)), Engine::default());
        let window = Arc::new(Window::new(room, epoch, engine.clone()));
        let shape = format!("{shape} in epochs of {}", window.epoch());
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
            parts,
            step,
            shape,
        }
    }

    pub fn process(&self) -> usize {
        self.cluster.process()
    }

    pub fn processes(&self) -> usize {
        self.cluster.processes()
    }

    /// How items go from this process to another, or to itself.
    pub fn places(&self) -> impl Fn(u32) -> Place + Copy + Send + Sync + use<> {
        let me = self.process() as u32;
        let here = if self.cluster.settings.budget.is_some() { Place::Counted } else { Place::Here };
        move |to| if to == me { here } else { Place::There }
    }

    /// Adds a place where pieces are exchanged. Returns its inbox, if this process has the stage behind it.
    pub fn station(&mut self, name: &'static str, expected: Expected, is_here: bool) -> Arc<Inbox> {
        let inbox = Arc::new(Inbox::new(name, expected, self.engine.clone()));
        self.out = Arc::new(Outbox::new(expected.first()));
        if !is_here {
            self.out.close();
        }
        self.flow.stations.push(Station { inbox: is_here.then(|| inbox.clone()), outbox: self.out.clone() });
        inbox
    }

    /// All tickets of the parts from this one on.
    pub fn all(&self, first: u32, makers: Makers) -> Expected {
        let pieces = if makers == Makers::All { self.processes() } else { 1 };
        Expected::All { first, parts: self.parts, pieces }
    }

    /// The ticket that this process has behind one of its own.
    pub fn next(&self) -> impl Fn(Ticket, bool) -> Ticket + Copy + Send + use<> {
        let step = self.step;
        move |ticket, last| match step {
            Step::Part(count) if last => Ticket::first_of(ticket.part.saturating_add(count)),
            Step::Part(_) => ticket.next(false),
            Step::Batch(count) => Ticket { batch: ticket.batch.saturating_add(count), ..ticket },
        }
    }

    /// Makes the window smaller when a batch is larger than those before, if there is a budget.
    fn shrink(&self) -> impl Fn(&[Piece]) + Send + Sync + use<> {
        let readers = if matches!(self.step, Step::Part(_)) { self.processes() } else { 1 };
        let budget = self.cluster.settings.budget.map(|bytes| bytes / readers);
        let window = self.flow.window.clone();
        move |pieces| {
            if let Some(budget) = budget {
                let bytes: usize = pieces.iter().map(|piece| piece.body.bytes()).sum();
                window.shrink(budget / bytes.max(1));
            }
        }
    }

    /// Runs the stages of batches, in parallel, and sends the pieces that a function makes of the items, in order. `name`: of
    /// the operator whose function that is.
    pub fn run_stages<T: Send + 'env>(
        &mut self,
        name: &'static str,
        batches: Batches<'env, T>,
        pieces: impl Fn(Ticket, bool, Vec<T>) -> Result<Vec<Piece>, Damaged> + Send + Sync + 'env,
    ) {
        let (out, parts) = (self.out.clone(), self.parts);
        let next = self.next();
        let (watch, shrink) = (self.watch.clone(), self.shrink());
        let run = move |batch: super::Batch<'env, T>| -> Result<_, Cause> {
            let (ticket, last) = (batch.ticket, batch.last);
            let _call = watch.call();
            let items = batch.run()?;
            let pieces = guarded(name, ticket, || {
                pieces(ticket, last, items).map_err(|damaged| failure(name, ticket, damaged).into())
            })?;
            shrink(&pieces);
            Ok((ticket, last, pieces))
        };
        self.graph.source(batches).blocking().named("source").try_par_map(run).named("stages").for_each(
            move |(ticket, last, pieces)| {
                let next = next(ticket, last);
                out.push(pieces, next);
                if next.part >= parts {
                    out.close();
                }
            },
        );
    }
}

/// What is wrong with a piece, as an error of a stage.
pub(super) fn failure(stage: &str, ticket: Ticket, damaged: Damaged) -> Failure {
    Failure { stage: stage.to_owned(), ticket, text: format!("a piece {}", damaged.0), cause: None }
}

/// The batches that arrive in an inbox, until all have or the run ends early.
pub(super) fn arriving(inbox: Arc<Inbox>) -> impl Iterator<Item = Result<Whole, Missing>> + Send {
    std::iter::from_fn(move || match inbox.take() {
        Ok(whole) => Some(Ok(whole)),
        Err(NoBatch::Missing(ticket)) => Some(Err(Missing(ticket))),
        Err(NoBatch::Complete | NoBatch::Stopped) => None,
    })
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
