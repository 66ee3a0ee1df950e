//! The engine graph, and the caller's thread, which feeds it.
//!
//! Batches go out through `jobs` and return through `results`, in order. The caller ends the graph by
//! dropping `jobs`. How many batches are under way decides how the caller waits for slow input ([`More`]).

use super::files::Files;
use super::layout::Layout;
use super::node::{Batch, Node};
use crate::run::Printer;
use crate::run::engine::{beside, next};
use crate::run::input::{BUSY, LONG, There};
use crate::threads::{Split, Threads};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use thalweg::{Graph, Handle, Options as Engine, Stream};
use thalweg_lang::interpret::{Stop, Surroundings};

/// Whether to read another batch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum More {
    Now,
    /// As soon as there is more input; a thread is idle.
    Soon,
    /// When a batch under way is finished.
    Later,
    No,
}

/// The least part of a full batch, as a divisor, that pays while others are under way.
const PART: u64 = 4;

/// The caller's thread.
pub(super) struct Caller<'c, 'm, 'a> {
    pub(super) layout: &'m Layout<'m>,
    pub(super) threads: &'c Threads,
    /// Tells firings under way to stop.
    pub(super) stopped: &'c AtomicBool,
    pub(super) files: Files<'m>,
    pub(super) printer: &'c mut Printer<'a>,
    /// The ends of the steady states that have been read, that are to be read, and that have been written.
    pub(super) next: u64,
    pub(super) until: u64,
    pub(super) written: u64,
    /// Batches that no other actor holds.
    pub(super) spare: Vec<Batch<'m>>,
}

impl<'m> Caller<'_, 'm, '_> {
    /// Runs until all is done, or the run is interrupted; returns the last batch, if there was one.
    pub(super) fn run(
        &mut self,
        nodes: &[Node<'m>],
        around: &mut Surroundings<'_>,
    ) -> Result<Option<Batch<'m>>, Stop> {
        let ((jobs, queue), (give, results)) = (channel(), channel());
        let graph = graph(self.layout, nodes, thalweg::from_iter(queue).blocking(), give);
        let (last, _) = beside(graph, &self.engine(), |engine| self.feed(jobs, (&results, engine), around))?;
        Ok(last)
    }

    fn engine(&self) -> Engine {
        let engine = Engine::new().threads(self.threads.count).run_length(1);
        let engine = match &self.threads.policy {
            Some(policy) => engine.policy(policy),
            None => engine,
        };
        if self.threads.split == Split::Filters { engine.one_to_one() } else { engine }
    }

    /// Keeps all batches busy; returns the last one.
    fn feed(
        &mut self,
        jobs: Sender<Batch<'m>>,
        (results, engine): (&Receiver<Batch<'m>>, &Handle),
        around: &mut Surroundings<'_>,
    ) -> Result<Option<Batch<'m>>, Stop> {
        let (mut jobs, mut under_way, mut last) = (Some(jobs), 0, None);
        loop {
            let mut soon = false;
            // With a barrier all wait for the last one.
            if under_way == 0 || self.threads.split != Split::DataParallel {
                while let Some(sender) = &jobs {
                    if self.next >= self.until || (around.interrupted)() {
                        jobs = None;
                        break;
                    }
                    let Some(batch) = self.spare.pop() else { break };
                    let (n, more) = self.input(under_way)?;
                    soon = more == More::Soon && self.threads.split != Split::DataParallel;
                    match self.read(batch, n) {
                        batch if n == 0 => self.spare.push(batch),
                        batch => under_way += usize::from(sender.send(batch).is_ok()),
                    }
                    match more {
                        More::Now => {}
                        More::Soon | More::Later => break,
                        More::No => jobs = None,
                    }
                }
            }
            let batch = if soon && !engine.is_over() {
                let Ok(batch) = results.try_recv() else { continue };
                Some(batch)
            } else {
                // No result comes any more where the engine has failed.
                (under_way > 0).then(|| next(results, engine, self.stopped, &around.interrupted)).flatten()
            };
            let Some(batch) = batch else { return Ok(last) };
            under_way -= 1;
            let batch = self.write(batch, around)?;
            self.spare.extend(last.replace(batch));
        }
    }

    /// The length of the next batch, with this many under way. It may be short while a thread is idle.
    fn input(&mut self, under_way: usize) -> Result<(u64, More), Stop> {
        let wanted = self.layout.batch.min(self.until - self.next);
        loop {
            let There { n, over } = self.files.there(wanted, if under_way > 0 { BUSY } else { LONG });
            if over {
                return Ok((n, More::No));
            }
            let least = self.layout.least();
            let enough = match under_way {
                0 => least,
                _ if under_way < self.threads.count => least.max(wanted / PART),
                _ => wanted,
            };
            if n >= enough.min(wanted) {
                return Ok((n, More::Now));
            }
            if under_way > 0 {
                return Ok((0, if under_way < self.threads.count { More::Soon } else { More::Later }));
            }
            if least > 1 {
                // One thread recomputes nothing.
                return Ok((0, More::No));
            }
            self.printer.flush().map_err(Stop::Output)?;
            self.files.wait()?;
        }
    }

    fn read(&mut self, mut batch: Batch<'m>, n: u64) -> Batch<'m> {
        (batch.first, batch.n) = (self.next, n);
        if n > 0 {
            self.files.read(&mut batch);
            self.next += n;
        }
        batch
    }

    fn write(&mut self, mut batch: Batch<'m>, around: &mut Surroundings<'_>) -> Result<Batch<'m>, Stop> {
        self.printer.write_bytes(&batch.text).map_err(Stop::Output)?;
        batch.text.clear();
        self.files.write(&batch)?;
        self.written = batch.first + batch.n;
        match batch.failure.take() {
            Some(stop) => Err(stop),
            None => {
                (around.progress)(self.written);
                Ok(batch)
            }
        }
    }
}

/// The engine graph: a chain, since each segment follows all that it depends on.
fn graph<'t, 'm>(
    layout: &Layout<'_>,
    nodes: &'t [Node<'m>],
    batches: Stream<'t, Batch<'m>>,
    give: Sender<Batch<'m>>,
) -> Graph<'t>
where
    'm: 't,
{
    let mut chain = batches.named("input");
    for (at, (segment, node)) in layout.segments.iter().zip(nodes).enumerate() {
        chain = if segment.parallel {
            chain.par_map(move |batch| node.run(batch))
        } else {
            chain.map(move |batch| node.run(batch))
        };
        chain = chain.named(&format!("segment {at}"));
    }
    // If the caller no longer receives, the run is about to end.
    chain.for_each(move |batch| _ = give.send(batch)).named("output").graph()
}
