//! How the driver reads and writes packets.

use super::crew::Crew;
use super::cut::Cut;
use super::packet::Packet;
use crate::run::Run;
use crate::run::feeder::{Driven, More};
use crate::run::parts::Sources;
use std::sync::atomic::Ordering;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::{Stop, Surroundings};

/// Bytes of input after which a packet gets no further batch.
const MOST_BYTES: usize = 4 << 20;

/// The driver's files and standard output.
pub(super) struct Feed<'f, 'a> {
    run: &'f mut Run<'a>,
    sources: &'f mut Sources,
    crew: &'f Crew<'a>,
    /// Batches in a packet.
    rounds: u64,
    /// Steady states of the packets under way.
    under_way: u64,
    /// Steady states of the packets that are back.
    back: u64,
    /// Maximum number of bytes between groups for a steady state, in packets that are back.
    each: Option<usize>,
    /// For each reader: its node, and that node's firings in a steady state.
    readers: Vec<(NodeId, u64)>,
}

impl<'f, 'a> Feed<'f, 'a> {
    /// The driver's part, and its packets.
    pub(super) fn new(
        run: &'f mut Run<'a>,
        sources: &'f mut Sources,
        (cut, crew): (&Cut, &'f Crew<'a>),
        (rounds, packets): (u64, usize),
    ) -> (Feed<'f, 'a>, Vec<Packet>) {
        let firings =
            |node: NodeId| run.stages.iter().map(|stage| stage.facts.firings[node.0 as usize]).sum();
        let readers: Vec<_> = run.ends.readers.iter().map(|(node, _)| (*node, firings(*node))).collect();
        let new = || Packet::new(readers.len(), cut.crossing.len(), run.ends.writers.len());
        let spare = std::iter::repeat_with(new).take(packets).collect();
        (Feed { run, sources, crew, rounds, under_way: 0, back: 0, each: None, readers }, spare)
    }
}

impl Feed<'_, '_> {
    /// Whether a further batch fits into the budget of what is under way, behind `states` steady states of its packet. The
    /// first packet has one batch, and no more are under way than are back, since it is not known before how much goes from
    /// group to group.
    fn fits(&self, states: u64) -> bool {
        let under_way = self.under_way + states;
        let Some(each) = self.each else { return under_way == 0 };
        let states = under_way.saturating_add(self.sources.size());
        let bytes = each.saturating_mul(usize::try_from(states).unwrap_or(usize::MAX));
        under_way == 0 || states <= 1 + self.back && bytes <= self.run.around.queues.budget().under_way()
    }

    /// Measures the items between groups in a packet that is back.
    fn measure(&mut self, packet: &mut Packet) {
        let states = packet.rounds.iter().sum::<u64>();
        self.under_way -= states;
        self.back += states;
        let bytes: usize = packet.crossing.iter().map(|items| items.bytes.len()).sum();
        let each = bytes.div_ceil(states.max(1) as usize);
        self.each = Some(self.each.map_or(each, |most| most.max(each)));
        packet.charged.release(self.run.around.queues.budget());
    }
}

impl Driven for Feed<'_, '_> {
    type Batch = Packet;

    fn goes_on(&self) -> bool {
        !self.sources.over && !self.run.around.queues.budget().is_full()
    }

    fn stop(&self) {
        self.crew.stopped.store(true, Ordering::Relaxed);
    }

    fn read(&mut self, packet: &mut Packet, _under_way: usize) -> Result<(bool, More), Stop> {
        packet.clear();
        if !self.fits(0) {
            return Ok((false, More::Later));
        }
        let room = |packet: &Packet| packet.read.iter().map(Vec::len).sum::<usize>() < MOST_BYTES;
        while (packet.rounds.len() as u64) < self.rounds
            && !self.sources.over
            && room(packet)
            && self.fits(packet.rounds.iter().sum())
            && !self.run.is_interrupted()
        {
            let n = self.run.next_batch(self.sources)?;
            packet.rounds.push(n);
            for (read, (node, firings)) in packet.read.iter_mut().zip(&self.readers) {
                self.run.ends.read(*node, n * firings, read)?;
            }
        }
        packet.until = self.sources.done;
        self.under_way += packet.rounds.iter().sum::<u64>();
        Ok((!packet.rounds.is_empty(), More::Now))
    }

    fn write(&mut self, packet: &mut Packet, around: &mut Surroundings<'_>) -> Result<u64, Stop> {
        self.measure(packet);
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
                if packet.rounds.first() == Some(&self.sources.size()) {
                    self.sources.grow(self.crew.members(), own.queues.budget());
                }
                (around.progress)(packet.until);
                Ok(packet.rounds.iter().sum())
            }
        }
    }
}
