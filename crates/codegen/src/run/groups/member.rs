//! A group's thread at work on packets.

use super::cut::{Cut, Group};
use super::free::Base;
use super::packet::Packet;
use super::ports::Ports;
use super::share::Share;
use crate::Native;
use crate::run::Run;
use crate::run::ends::Ends;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_lang::flat::ChannelId;
use thalweg_lang::interpret::{Options, Stop};

/// A group's run, with its files.
pub(super) struct Member<'c, 'a> {
    run: Run<'a>,
    group: &'c Group,
    crossing: &'c [ChannelId],
    ports: Ports,
    /// For a group with copies: the region's progress before all packets.
    base: Option<Base>,
    /// The failure after which the group skips packets.
    failure: Option<Stop>,
}

impl<'c, 'a> Member<'c, 'a> {
    pub(super) fn new(
        native: &'a Native,
        cut: &'c Cut,
        group: &'c Group,
        share: Share<'a>,
        stopped: &Arc<AtomicBool>,
    ) -> Result<Member<'c, 'a>, Stop> {
        let mut ports = Ports::default();
        let ends = Ends::open(&native.compiled, Options::default(), &mut ports)?;
        let stopped = stopped.clone();
        let interrupted = Rc::new(move || stopped.load(Ordering::Relaxed));
        let mut run = Run::new(native, ends, (ports.text(), interrupted));
        run.begin_regions();
        run.adopt(share);
        let base = group.takes.is_some().then(|| run.base(group.regions.start));
        if base.is_some() {
            run.fill_own_buffers(group.regions.start);
        }
        let mut member = Member { run, group, crossing: &cut.crossing, ports, base, failure: None };
        member.empty(&group.outputs);
        Ok(member)
    }

    /// Empties the queues of some crossing channels.
    fn empty(&mut self, crossing: &[usize]) {
        for at in crossing {
            let queue = self.run.queue(self.crossing[*at]);
            (queue.read, queue.written) = (0, 0);
        }
    }

    /// Does the group's part of a packet.
    pub(super) fn work(&mut self, packet: &mut Packet) {
        if self.failure.is_none() {
            self.failure.clone_from(&packet.failure);
        }
        if self.failure.is_none() {
            // The caller waits for every packet, so a panic must not escape; after one, the run is not used
            // again.
            let done = catch_unwind(AssertUnwindSafe(|| {
                self.begin(packet);
                self.read(packet);
                self.rounds(packet)
            }));
            let done = done
                .unwrap_or_else(|_| Err(Stop::Output("internal error: a group of regions panicked".into())));
            self.failure = done.err();
        }
        packet.failure.clone_from(&self.failure);
        self.ports.printed(&mut packet.text);
        self.ports.written(&mut packet.written);
    }

    /// For a copy: sets its progress and queues to where the packet begins.
    fn begin(&mut self, packet: &Packet) {
        let Some(base) = &self.base else { return };
        self.run.seek(base, packet.first);
        self.empty(&self.group.inputs);
        for (at, left) in &packet.left {
            self.run.put(self.crossing[*at], left);
        }
    }

    /// Hands the input of a packet to the group's readers.
    fn read(&mut self, packet: &mut Packet) {
        for at in &self.group.readers {
            self.ports.read(*at, &mut packet.read[*at]);
        }
    }

    fn rounds(&mut self, packet: &mut Packet) -> Result<(), Stop> {
        for round in 0..packet.rounds.len() {
            for at in &self.group.inputs {
                self.run.put(self.crossing[*at], packet.crossing[*at].of(round));
            }
            self.run.batches(self.group.regions.clone(), packet.rounds[round], 1)?;
            for at in &self.group.outputs {
                self.run.move_out(self.crossing[*at], &mut packet.crossing[*at].bytes);
                packet.crossing[*at].end();
            }
        }
        Ok(())
    }

    /// The share of its regions after the last packet.
    pub(super) fn end(mut self) -> Share<'a> {
        self.run.give_regions(&self.group.regions)
    }
}
