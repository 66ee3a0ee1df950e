//! The caller's thread: reads input, writes output, and feeds the engine graph.
//!
//! Packets go out through `jobs` and return through `results`. The caller ends the graph by dropping `jobs`.
//! It sets `stopped` on interruption, and after a failure, since a firing behind the failure may never end;
//! the hosts of the members read it.

use super::crew::{Crew, Parts};
use super::cut::Cut;
use super::packet::Packet;
use super::trial::Trial;
use crate::run::Run;
use crate::run::engine::{beside, next};
use crate::run::parts::Sources;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;
use thalweg::{Handle, Options as Engine};
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Packets for each thread of the graph.
const PACKETS: usize = 3;

/// The caller's thread.
pub(super) struct Caller<'c, 'a> {
    run: &'c mut Run<'a>,
    sources: &'c mut Sources,
    cut: &'c Cut,
    /// Batches in a packet.
    rounds: u64,
    /// The number of threads that may run at once.
    threads: usize,
    /// For each reader: its node, and that node's firings in a steady state.
    readers: Vec<(NodeId, u64)>,
    /// Packets that no other actor holds.
    spare: Vec<Packet>,
    /// Tells all members to stop, in the middle of firings if need be.
    stopped: Arc<AtomicBool>,
    /// The decision whether threads pay, until it is made.
    trial: Option<Trial>,
}

impl<'c, 'a> Caller<'c, 'a> {
    /// A caller that keeps using threads only if they are faster than one thread, which took `alone` seconds
    /// for a steady state; it always does if `alone` is `None`.
    pub(super) fn new(
        run: &'c mut Run<'a>,
        sources: &'c mut Sources,
        cut: &'c Cut,
        (rounds, threads): (u64, usize),
        alone: Option<f64>,
    ) -> Caller<'c, 'a> {
        let firings =
            |node: NodeId| run.stages.iter().map(|stage| stage.facts.firings[node.0 as usize]).sum();
        let readers: Vec<_> = run.ends.readers.iter().map(|(node, _)| (*node, firings(*node))).collect();
        let new = || Packet::new(readers.len(), cut.crossing.len(), run.ends.writers.len());
        let members: usize = cut.groups.iter().map(|group| group.members(threads)).sum();
        let spare: Vec<_> = std::iter::repeat_with(new).take(PACKETS * members).collect();
        let trial = alone.map(|alone| Trial::new(alone, spare.len()));
        Caller { run, sources, cut, rounds, threads, readers, spare, stopped: Arc::default(), trial }
    }

    /// Runs until there are no more batches, the run is interrupted, or one thread would be faster.
    pub(super) fn run(mut self, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let parts = self.cut.groups.iter().map(|group| Parts::new(self.run, self.cut, group, self.threads));
        let parts = parts.collect();
        let crew = Crew::new(self.run.native, self.cut, (self.threads, self.stopped.clone()));
        let ((jobs, queue), (give, results)) = (channel(), channel());
        let (graph, left) = crew.graph(parts, queue, give);
        let ((), over) = beside(graph, &Engine::new().threads(1), |engine| {
            let fed = self.feed(jobs, (&results, engine), around);
            // Firings behind a failure may never end.
            self.stopped.fetch_or(fed.is_err(), Ordering::Relaxed);
            fed
        })?;
        left.into_iter().try_for_each(|left| left.give_back(self.run, &over))
    }

    /// Keeps all packets busy.
    fn feed(
        &mut self,
        jobs: Sender<Packet>,
        (results, engine): (&Receiver<Packet>, &Handle),
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let (mut jobs, mut under_way, mut worth) = (Some(jobs), 0, true);
        loop {
            while let Some(sender) = &jobs {
                if self.sources.over || !worth || (around.interrupted)() {
                    jobs = None;
                    break;
                }
                let Some(mut packet) = self.spare.pop() else { break };
                self.read(&mut packet)?;
                under_way += u64::from(sender.send(packet).is_ok());
            }
            // No result comes any more where the engine has failed.
            let answer =
                (under_way > 0).then(|| next(results, engine, &self.stopped, &around.interrupted)).flatten();
            let Some(mut packet) = answer else { return Ok(()) };
            under_way -= 1;
            self.write(&mut packet, around)?;
            worth &= self.is_worth_it(&packet);
            self.spare.push(packet);
        }
    }

    /// Whether to keep using threads, now that a packet is finished.
    fn is_worth_it(&mut self, packet: &Packet) -> bool {
        let Some(trial) = &mut self.trial else { return true };
        let said = trial.packet(packet.rounds.iter().sum(), Instant::now());
        if said.is_none() {
            self.trial = None;
        }
        said.unwrap_or(true)
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
