//! The engine's graph, and the caller's thread that feeds it.

use super::cut::Cut;
use super::member::Member;
use super::packet::Packet;
use super::share::Share;
use crate::Native;
use crate::ir::MemKind;
use crate::run::Run;
use crate::run::parts::Sources;
use crate::run::results::next;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use thalweg::{BlockingRx, BlockingTx, Builder, Network, Options as Engine, input, output};
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Packets for each group.
const PACKETS: usize = 3;

/// Bytes of a group's stack besides what its code keeps there.
const STACK: usize = 2 << 20;

/// A group's part of the run, before it begins and when it has ended.
type Slot<'a> = Mutex<Option<Result<Share<'a>, Stop>>>;

/// The caller's thread.
pub(super) struct Caller<'c, 'a> {
    run: &'c mut Run<'a>,
    sources: &'c mut Sources,
    cut: &'c Cut,
    /// Batches in a packet.
    rounds: u64,
    /// Of each reader: its node, and how often that fires in a steady state.
    readers: Vec<(NodeId, u64)>,
    /// Packets that nobody has.
    spare: Vec<Packet>,
    /// Whether all is to be stopped, in the middle of firings if need be.
    stopped: Arc<AtomicBool>,
}

impl<'c, 'a> Caller<'c, 'a> {
    pub(super) fn new(
        run: &'c mut Run<'a>,
        sources: &'c mut Sources,
        cut: &'c Cut,
        rounds: u64,
    ) -> Caller<'c, 'a> {
        let firings =
            |node: NodeId| run.stages.iter().map(|stage| stage.facts.firings[node.0 as usize]).sum();
        let readers: Vec<_> = run.ends.readers.iter().map(|(node, _)| (*node, firings(*node))).collect();
        let new = || Packet::new(readers.len(), cut.crossing.len(), run.ends.writers.len());
        let spare = std::iter::repeat_with(new).take(PACKETS * cut.groups.len()).collect();
        Caller { run, sources, cut, rounds, readers, spare, stopped: Arc::default() }
    }

    /// Runs until there are no more batches, or somebody interrupts.
    pub(super) fn run(mut self, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let (native, cut) = (self.run.native, self.cut);
        let shares =
            cut.groups.iter().map(|group| Mutex::new(Some(Ok(self.run.give_regions(&group.regions)))));
        let slots: Vec<Slot<'a>> = shares.collect();
        std::thread::scope(|scope| {
            let ((jobs, queue), (give, results)) = (channel(), channel());
            let (slots, stopped) = (&slots, self.stopped.clone());
            let ran = scope.spawn(move || {
                graph(native, cut, (slots, stopped), queue, give)?.run(&Engine::new().threads(1))
            });
            let fed = self.feed(jobs, &results, around);
            let ran = ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ran.map_err(|error| Stop::Output(error.to_string()))?;
            fed
        })?;
        for slot in slots {
            match slot.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(share) => self.run.adopt(share?),
                None => unreachable!("each group gives back what it has"),
            }
        }
        Ok(())
    }

    /// Keeps all packets busy.
    fn feed(
        &mut self,
        jobs: Sender<Packet>,
        results: &Receiver<Packet>,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let (mut jobs, mut under_way) = (Some(jobs), 0);
        loop {
            while let Some(sender) = &jobs {
                if self.sources.over || (around.interrupted)() {
                    jobs = None;
                    break;
                }
                let Some(mut packet) = self.spare.pop() else { break };
                self.read(&mut packet)?;
                under_way += u64::from(sender.send(packet).is_ok());
            }
            // Nobody answers any more where the engine has failed.
            let answer = (under_way > 0).then(|| next(results, &self.stopped, &around.interrupted)).flatten();
            let Some(mut packet) = answer else { return Ok(()) };
            under_way -= 1;
            self.write(&mut packet, around)?;
            self.spare.push(packet);
        }
    }

    fn read(&mut self, packet: &mut Packet) -> Result<(), Stop> {
        packet.clear();
        while (packet.rounds.len() as u64) < self.rounds && !self.sources.over {
            let n = self.run.next_batch(self.sources)?;
            packet.rounds.push(n);
            for (read, (node, firings)) in packet.read.iter_mut().zip(&self.readers) {
                read.extend_from_slice(&self.run.ends.read(*node, n * firings)?);
            }
        }
        packet.until = self.sources.done;
        Ok(())
    }

    fn write(&mut self, packet: &mut Packet, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let Run { native, ends, around: own, .. } = &mut *self.run;
        own.printer.write_bytes(&packet.text).map_err(Stop::Output)?;
        for (written, (node, writer)) in packet.written.iter().zip(&mut ends.writers) {
            if !written.is_empty() {
                writer.write(&native.compiled, *node, written)?;
            }
        }
        match packet.failure.take() {
            Some(stop) => Err(stop),
            None => {
                self.sources.sure = packet.until;
                (around.progress)(packet.until);
                Ok(())
            }
        }
    }
}

/// The engine's graph: a chain, since each group comes behind all that it needs.
fn graph<'t, 'a>(
    native: &'a Native,
    cut: &'t Cut,
    (slots, stopped): (&'t [Slot<'a>], Arc<AtomicBool>),
    queue: Receiver<Packet>,
    give: Sender<Packet>,
) -> Result<Network<'t>, thalweg::Error>
where
    'a: 't,
{
    let mut builder = Builder::new();
    let mut stream = builder.blocking_source("input", queue);
    let stack = stack(native);
    for (at, (group, slot)) in cut.groups.iter().zip(slots).enumerate() {
        let kernel = builder.kernel(&format!("group {at}"), (input("in", stream),), (output("out"),));
        let stopped = stopped.clone();
        let work = move |(mut rx,): (BlockingRx<Packet>,), (mut tx,): (BlockingTx<Packet>,)| {
            let share = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(Ok(share)) = share else { return };
            let made = Member::new(native, cut, group, share, &stopped);
            let end = made.map(|mut member| {
                while let Some(mut packet) = rx.recv() {
                    member.work(&mut packet);
                    tx.send(packet);
                }
                member.end()
            });
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        };
        stream = kernel.stack(stack).blocking().coroutine(work).0;
    }
    // Where nobody listens any more the run is about to end.
    builder.sink("output", stream, move |packet| _ = give.send(packet));
    Ok(builder.build()?)
}

/// Bytes of a stack that do for all generated code.
fn stack(native: &Native) -> usize {
    let codes =
        native.codes.iter().flatten().flat_map(|codes| std::iter::once(&codes.work).chain(&codes.prework));
    let locals = codes.map(|code| {
        let locals = code.mems.iter().filter(|mem| mem.kind == MemKind::Local);
        locals.map(|mem| mem.cells).sum::<usize>()
    });
    STACK + 8 * locals.max().unwrap_or(0)
}
