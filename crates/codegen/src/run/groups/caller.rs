//! The caller's thread, which reads and writes, and so feeds the engine's graph.

use super::crew::{Crew, Slots};
use super::cut::Cut;
use super::packet::Packet;
use crate::run::Run;
use crate::run::parts::Sources;
use crate::run::results::next;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use thalweg::Options as Engine;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Packets for each thread of the engine's graph.
const PACKETS: usize = 3;

/// The caller's thread.
pub(super) struct Caller<'c, 'a> {
    run: &'c mut Run<'a>,
    sources: &'c mut Sources,
    cut: &'c Cut,
    /// Batches in a packet.
    rounds: u64,
    /// How many threads may be at work.
    threads: usize,
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
        (rounds, threads): (u64, usize),
    ) -> Caller<'c, 'a> {
        let firings =
            |node: NodeId| run.stages.iter().map(|stage| stage.facts.firings[node.0 as usize]).sum();
        let readers: Vec<_> = run.ends.readers.iter().map(|(node, _)| (*node, firings(*node))).collect();
        let new = || Packet::new(readers.len(), cut.crossing.len(), run.ends.writers.len());
        let members: usize = cut.groups.iter().map(|group| group.members(threads)).sum();
        let spare = std::iter::repeat_with(new).take(PACKETS * members).collect();
        Caller { run, sources, cut, rounds, threads, readers, spare, stopped: Arc::default() }
    }

    /// Runs until there are no more batches, or somebody interrupts.
    pub(super) fn run(mut self, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let slots = self.cut.groups.iter().map(|group| Slots::new(self.run, self.cut, group, self.threads));
        let slots: Vec<Slots<'a>> = slots.collect();
        let crew = Crew::new(self.run.native, self.cut, &slots, (self.threads, self.stopped.clone()));
        std::thread::scope(|scope| {
            let ((jobs, queue), (give, results)) = (channel(), channel());
            let crew = &crew;
            let ran = scope.spawn(move || crew.graph(queue, give)?.run(&Engine::new().threads(1)));
            let fed = self.feed(jobs, &results, around);
            // What comes behind a failure may never end.
            self.stopped.fetch_or(fed.is_err(), Ordering::Relaxed);
            let ran = ran.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ran.map_err(|error| Stop::Output(error.to_string()))?;
            fed
        })?;
        slots.into_iter().try_for_each(|slots| slots.give_back(self.run))
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
