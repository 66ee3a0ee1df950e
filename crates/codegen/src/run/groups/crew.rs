//! The engine's graph: groups, and between them who deals out packets to those that do the same.

use super::cut::{Cut, Group};
use super::free::{Base, Dealer};
use super::member::Member;
use super::packet::Packet;
use super::permits::Permits;
use super::share::Share;
use crate::Native;
use crate::ir::MemKind;
use crate::run::Run;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use thalweg::{BlockingRx, BlockingTx, Builder, Error, Network, Rx, Stream, Tx, input, output};
use thalweg_lang::interpret::Stop;

/// Bytes of a group's stack besides what its code keeps there.
const STACK: usize = 2 << 20;

/// What goes to another thread, and comes back from it.
type Slot<T> = Mutex<Option<T>>;

fn taken<T>(slot: &Slot<T>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn put<T>(slot: &Slot<T>, value: T) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
}

/// What the threads of a group begin with, and leave.
pub(super) struct Slots<'a> {
    /// For each thread.
    parts: Vec<Slot<Result<Share<'a>, Stop>>>,
    /// Of a group that any number of threads do: who deals out packets, and how far it was before them.
    dealer: Option<(Slot<Dealer>, Base)>,
}

impl<'a> Slots<'a> {
    pub(super) fn new(run: &mut Run<'a>, cut: &Cut, group: &Group, threads: usize) -> Slots<'a> {
        let Some(takes) = &group.takes else {
            let part = Mutex::new(Some(Ok(run.give_regions(&group.regions))));
            return Slots { parts: vec![part], dealer: None };
        };
        let region = group.regions.start;
        let dealer = Dealer::new(run, &cut.crossing, takes);
        let part = |_| Mutex::new(Some(Ok(run.copy_region(region))));
        Slots {
            parts: (0..group.members(threads)).map(part).collect(),
            dealer: Some((Mutex::new(Some(dealer)), run.base(region))),
        }
    }

    /// The group's part comes back. Copies have nothing that the region does not have.
    pub(super) fn give_back(self, run: &mut Run<'a>) -> Result<(), Stop> {
        for part in self.parts {
            match part.into_inner().unwrap_or_else(PoisonError::into_inner) {
                Some(share) if self.dealer.is_none() => run.adopt(share?),
                Some(share) => drop(share?),
                None => unreachable!("each group gives back what it has"),
            }
        }
        if let Some((dealer, base)) = self.dealer
            && let Some(dealer) = taken(&dealer)
        {
            dealer.end(run, &base);
        }
        Ok(())
    }
}

/// All groups.
pub(super) struct Crew<'c, 'a> {
    native: &'a Native,
    cut: &'c Cut,
    slots: &'c [Slots<'a>],
    permits: Permits,
    stopped: Arc<AtomicBool>,
}

impl<'c, 'a> Crew<'c, 'a> {
    pub(super) fn new(
        native: &'a Native,
        cut: &'c Cut,
        slots: &'c [Slots<'a>],
        (threads, stopped): (usize, Arc<AtomicBool>),
    ) -> Crew<'c, 'a> {
        Crew { native, cut, slots, permits: Permits::new(threads), stopped }
    }

    /// The engine's graph: a chain, since each group comes behind all that it needs.
    pub(super) fn graph<'t>(
        &'t self,
        queue: Receiver<Packet>,
        give: Sender<Packet>,
    ) -> Result<Network<'t>, Error> {
        let mut builder = Builder::new();
        let mut streams = vec![builder.blocking_source("input", queue)];
        let stack = stack(self.native);
        for (at, (group, slots)) in self.cut.groups.iter().zip(self.slots).enumerate() {
            let dealer = slots.dealer.as_ref().map(|(dealer, _)| dealer);
            streams = deal(&mut builder, &format!("deal {at}"), (streams, slots.parts.len()), dealer);
            let dealt = std::mem::take(&mut streams).into_iter().zip(&slots.parts).enumerate();
            for (copy, (stream, slot)) in dealt {
                let name = format!("group {at}.{copy}");
                let kernel = builder.kernel(&name, input("in", stream), output("out"));
                let body = move |rx: _, tx: _| self.work(group, slot, (rx, tx));
                streams.push(kernel.stack(stack).blocking().coroutine(body));
            }
        }
        let [stream] = deal(&mut builder, "order", (streams, 1), None)
            .try_into()
            .unwrap_or_else(|_| unreachable!("one stream was asked for"));
        // Where nobody listens any more the run is about to end.
        builder.sink("output", stream, move |packet| _ = give.send(packet));
        Ok(builder.build()?)
    }

    /// What a thread does.
    fn work(
        &self,
        group: &Group,
        slot: &Slot<Result<Share<'a>, Stop>>,
        (mut rx, mut tx): (BlockingRx<Packet>, BlockingTx<Packet>),
    ) {
        let Some(Ok(share)) = taken(slot) else { return };
        let made = Member::new(self.native, self.cut, group, share, &self.stopped);
        let end = made.map(|mut member| {
            while let Some(mut packet) = rx.recv() {
                let permit = self.permits.take();
                member.work(&mut packet);
                drop(permit);
                tx.send(packet);
            }
            member.end()
        });
        put(slot, end);
    }
}

/// Packets in their order, in turns from and to so many.
fn deal<'t>(
    builder: &mut Builder<'t>,
    name: &str,
    (streams, to): (Vec<Stream<Packet>>, usize),
    dealer: Option<&'t Slot<Dealer>>,
) -> Vec<Stream<Packet>> {
    if streams.len() == 1 && to == 1 && dealer.is_none() {
        return streams;
    }
    let inputs: Vec<_> =
        streams.into_iter().enumerate().map(|(at, stream)| input(&format!("in {at}"), stream)).collect();
    let outputs: Vec<_> = (0..to).map(|at| output(&format!("out {at}"))).collect();
    builder.process(
        name,
        inputs,
        outputs,
        move |mut from: Vec<Rx<Packet>>, mut to: Vec<Tx<Packet>>| async move {
            let (mut own, mut failure) = (dealer.and_then(taken), None);
            for turn in 0.. {
                let (inputs, outputs) = (from.len(), to.len());
                let Some(mut packet) = from[turn % inputs].recv().await else { break };
                // What comes behind a failure is not what it would be, and nobody does it.
                if failure.is_none() {
                    failure.clone_from(&packet.failure);
                }
                packet.failure.clone_from(&failure);
                if let (Some(dealer), None) = (&mut own, &failure) {
                    dealer.deal(&mut packet);
                }
                to[turn % outputs].send(packet).await;
            }
            // Who is not listened to any more is stopped where it is, before it has given back what it has.
            for from in &mut from {
                while from.recv().await.is_some() {}
            }
            if let (Some(slot), Some(dealer)) = (dealer, own) {
                put(slot, dealer);
            }
        },
    )
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
