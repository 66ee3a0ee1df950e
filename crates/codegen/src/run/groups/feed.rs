//! The driver's part: it reads input into packets, feeds the chain of groups, and writes the output.

use super::crew::Crew;
use super::cut::Cut;
use super::packet::Packet;
use crate::run::Run;
use crate::run::engine::Link;
use crate::run::parts::Sources;
use crate::run::trial::Trial;
use std::sync::atomic::Ordering;
use std::time::Instant;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// The driver's part.
pub(super) struct Feeder<'f, 'a> {
    run: &'f mut Run<'a>,
    sources: &'f mut Sources,
    crew: &'f Crew<'a>,
    /// Batches in a packet.
    rounds: u64,
    /// For each reader: its node, and that node's firings in a steady state.
    readers: Vec<(NodeId, u64)>,
    /// Packets that are not under way.
    spare: Vec<Packet>,
    /// The decision whether threads pay, until it is made.
    trial: Option<Trial>,
}

impl<'f, 'a> Feeder<'f, 'a> {
    /// A feeder that goes on only as long as threads are faster than one thread, which took `alone` seconds
    /// for a steady state; it always does if `alone` is `None`.
    pub(super) fn new(
        run: &'f mut Run<'a>,
        sources: &'f mut Sources,
        (cut, crew): (&Cut, &'f Crew<'a>),
        (rounds, packets): (u64, usize),
        alone: Option<f64>,
    ) -> Feeder<'f, 'a> {
        let firings =
            |node: NodeId| run.stages.iter().map(|stage| stage.facts.firings[node.0 as usize]).sum();
        let readers: Vec<_> = run.ends.readers.iter().map(|(node, _)| (*node, firings(*node))).collect();
        let new = || Packet::new(readers.len(), cut.crossing.len(), run.ends.writers.len());
        let spare: Vec<_> = std::iter::repeat_with(new).take(packets).collect();
        let trial = alone.map(|alone| Trial::new(alone, spare.len()));
        Feeder { run, sources, crew, rounds, readers, spare, trial }
    }

    /// Keeps all packets busy until there are no more batches, the run is interrupted, or one thread would be faster.
    /// No packet is under way then.
    pub(super) fn feed(
        &mut self,
        link: &mut Link<Packet>,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Stop> {
        let fed = self.feed_all(link, around);
        if fed.is_err() {
            // Firings behind a failure may never end.
            self.crew.stopped.store(true, Ordering::Relaxed);
            link.drain();
        }
        fed
    }

    fn feed_all(&mut self, link: &mut Link<Packet>, around: &mut Surroundings<'_>) -> Result<(), Stop> {
        let mut worth = true;
        loop {
            while !self.sources.over
                && worth
                && !(around.interrupted)()
                && let Some(mut packet) = self.spare.pop()
            {
                self.read(&mut packet)?;
                link.send(packet);
            }
            if link.under_way() == 0 {
                return Ok(());
            }
            let mut packet = link.next();
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
