//! A group at work on packets.

use super::cut::{Cut, Group};
use super::free::Base;
use super::packet::Packet;
use super::ports::Ports;
use super::share::Share;
use crate::Native;
use crate::files::Ends;
use crate::run::queues::Rule;
use crate::run::{Interrupted, Run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use thalweg_lang::interpret::{Options, Stop};

/// A group's run, with its files.
pub(super) struct Member<'a> {
    run: Run<'a>,
    cut: Arc<Cut>,
    at: usize,
    ports: Ports,
    /// For a group with copies: the region's progress before all packets.
    base: Option<Base>,
    /// The failure after which a group without copies skips packets.
    failure: Option<Stop>,
}

impl<'a> Member<'a> {
    pub(super) fn new(
        native: &'a Native,
        (cut, at): (Arc<Cut>, usize),
        share: Share<'a>,
        (stopped, interrupted): (&Arc<AtomicBool>, &Interrupted),
    ) -> Result<Member<'a>, Stop> {
        let mut ports = Ports::default();
        let ends = Ends::open(&native.compiled, Options::default(), &mut ports)?;
        let (stopped, interrupted) = (stopped.clone(), interrupted.clone());
        let stops = Arc::new(move || stopped.load(Ordering::Relaxed) || interrupted());
        let mut run = Run::new(native, ends, (ports.text(), stops));
        run.begin_regions();
        run.adopt(share);
        let group = &cut.groups[at];
        let base = group.takes.is_some().then(|| run.base(group.regions.start));
        run.around.queues.set_rule(if base.is_some() { Rule::Exceed } else { Rule::Leave });
        if base.is_some() {
            run.fill_own_buffers(group.regions.start);
        }
        let mut member = Member { run, cut: cut.clone(), at, ports, base, failure: None };
        member.empty(&cut.groups[at].outputs);
        member.run.within_budget()?;
        Ok(member)
    }

    fn group(&self) -> &Group {
        &self.cut.groups[self.at]
    }

    /// Empties the queues of some crossing channels.
    fn empty(&mut self, crossing: &[usize]) {
        for at in crossing {
            let queue = self.run.queue(self.cut.crossing[*at]);
            (queue.read, queue.written) = (0, 0);
        }
    }

    /// Does the group's part of a packet, unless the packet has failed before, or the group on an earlier packet.
    pub(super) fn work(&mut self, packet: &mut Packet) {
        let mut failure = self.failure.clone().or_else(|| packet.failure.clone());
        if failure.is_none() {
            failure = self.do_part(packet).err();
        }
        if self.base.is_none() {
            self.failure.clone_from(&failure);
        } else if failure.is_some() {
            // A copy may get an earlier packet after this one. It begins each packet anew.
            self.run.forget_failure();
        }
        packet.failure = failure;
        self.ports.printed(&mut packet.text);
        self.ports.written(&mut packet.written);
    }

    fn do_part(&mut self, packet: &mut Packet) -> Result<(), Stop> {
        self.check_interrupted()?;
        self.begin(packet);
        self.read(packet);
        self.rounds(packet)?;
        // The packet may be incomplete.
        self.check_interrupted()
    }

    fn check_interrupted(&self) -> Result<(), Stop> {
        if self.run.is_interrupted() { Err(Stop::Interrupted) } else { Ok(()) }
    }

    /// For a copy: sets its progress and queues to where the packet begins.
    fn begin(&mut self, packet: &Packet) {
        let Some(base) = &self.base else { return };
        self.run.seek(base, packet.first);
        let cut = self.cut.clone();
        self.empty(&cut.groups[self.at].inputs);
        for (at, left) in &packet.left {
            self.run.put(cut.crossing[*at], left);
        }
    }

    /// Hands the input of a packet to the group's readers.
    fn read(&mut self, packet: &mut Packet) {
        for at in &self.group().readers {
            self.ports.read(*at, &mut packet.read[*at]);
        }
    }

    fn rounds(&mut self, packet: &mut Packet) -> Result<(), Stop> {
        let cut = self.cut.clone();
        let group = &cut.groups[self.at];
        for round in 0..packet.rounds.len() {
            for at in &group.inputs {
                let items = packet.crossing[*at].of(round);
                self.run.put(cut.crossing[*at], items);
                let queues = &mut self.run.around.queues;
                let bytes = queues.charge_of(cut.crossing[*at].index(), items.len());
                packet.charged.leave_to(queues, bytes);
            }
            self.run.within_budget()?;
            self.run.batches(group.regions.clone(), packet.rounds[round], 1)?;
            self.run.within_budget()?;
            for at in &group.outputs {
                let items = &mut packet.crossing[*at];
                let before = items.bytes.len();
                self.run.move_out(cut.crossing[*at], &mut items.bytes);
                items.end();
                let (queues, more) = (&mut self.run.around.queues, items.bytes.len() - before);
                let bytes = queues.charge_of(cut.crossing[*at].index(), more);
                packet.charged.take_from(queues, bytes);
            }
        }
        Ok(())
    }

    /// The share of its regions after the last packet.
    pub(super) fn end(mut self) -> Share<'a> {
        let cut = self.cut.clone();
        self.run.give_regions(&cut.groups[self.at].regions)
    }
}
