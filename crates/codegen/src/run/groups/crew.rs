//! The engine graph: the groups, and the dealers between them.

use super::cut::{Cut, Group};
use super::free::{Base, Dealer};
use super::member::Member;
use super::packet::Packet;
use super::permits::Permits;
use super::share::Share;
use crate::Native;
use crate::ir::MemKind;
use crate::run::Run;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};
use thalweg::{BlockingRx, BlockingTx, Error, Finished, Graph, Output, Rx, Stream, Tx, Value, input, output};
use thalweg_lang::interpret::Stop;

/// Bytes of a group's stack besides the locals of its code.
const STACK: usize = 2 << 20;

/// What the threads of a group start with.
pub(super) struct Parts<'a> {
    /// One share for each thread.
    shares: Vec<Share<'a>>,
    /// For a group with copies: its dealer, and the region's progress before all packets.
    dealer: Option<(Dealer, Base)>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(run: &mut Run<'a>, cut: &Cut, group: &Group, threads: usize) -> Parts<'a> {
        let Some(takes) = &group.takes else {
            return Parts { shares: vec![run.give_regions(&group.regions)], dealer: None };
        };
        let region = group.regions.start;
        let dealer = Dealer::new(run, &cut.crossing, takes);
        let shares = (0..group.members(threads)).map(|_| run.copy_region(region)).collect();
        Parts { shares, dealer: Some((dealer, run.base(region))) }
    }
}

/// What the threads of a group return.
pub(super) struct Left<'t, 'a> {
    /// The share of each thread.
    shares: Vec<Output<'t, Result<Share<'a>, Stop>>>,
    /// The group's dealer, and the region's progress before all packets.
    dealer: Option<(Output<'t, Option<Dealer>>, Base)>,
}

impl<'a> Left<'_, 'a> {
    /// Returns the group's share to the run. Copies hold nothing that the region does not have.
    pub(super) fn give_back(self, run: &mut Run<'a>, over: &Finished) -> Result<(), Stop> {
        let told = |error: Error| Stop::Output(error.to_string());
        for share in self.shares {
            let share = over.take(share).map_err(told)??;
            if self.dealer.is_none() {
                run.adopt(share);
            }
        }
        if let Some((dealer, base)) = self.dealer
            && let Some(dealer) = over.take(dealer).map_err(told)?
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
    permits: Permits,
    stopped: Arc<AtomicBool>,
}

impl<'c, 'a> Crew<'c, 'a> {
    pub(super) fn new(
        native: &'a Native,
        cut: &'c Cut,
        (threads, stopped): (usize, Arc<AtomicBool>),
    ) -> Crew<'c, 'a> {
        Crew { native, cut, permits: Permits::new(threads), stopped }
    }

    /// The engine graph, a chain, since each group follows all that it depends on; and the groups' results.
    pub(super) fn graph<'t>(
        &'t self,
        parts: Vec<Parts<'a>>,
        queue: Receiver<Packet>,
        give: Sender<Packet>,
    ) -> (Graph<'t>, Vec<Left<'t, 'a>>) {
        let graph = Graph::new();
        let mut streams = vec![graph.source(queue).blocking().named("input")];
        let (mut left, stack) = (Vec::new(), stack(self.native));
        for (at, (group, Parts { shares, dealer })) in self.cut.groups.iter().zip(parts).enumerate() {
            let (dealer, base) = dealer.unzip();
            let (dealt, dealer) = deal(&graph, &format!("deal {at}"), (streams, shares.len()), dealer);
            let members = dealt.into_iter().zip(shares).enumerate().map(|(copy, (stream, share))| {
                let kernel = stream.kernel(&format!("group {at}.{copy}"), output("out"));
                let body = move |rx: _, tx: _| Value(self.work(group, share, (rx, tx)));
                kernel.stack(stack).blocking().coroutine(body)
            });
            let (given, shares) = members.unzip();
            streams = given;
            left.push(Left { shares, dealer: dealer.zip(base) });
        }
        let (streams, _) = deal(&graph, "order", (streams, 1), None);
        let [stream] = streams.try_into().unwrap_or_else(|_| unreachable!("one stream was requested"));
        // If the caller no longer receives, the run is about to end.
        stream.for_each(move |packet| _ = give.send(packet)).named("output");
        (graph, left)
    }

    /// The body of a group's thread; returns its share.
    fn work(
        &self,
        group: &Group,
        share: Share<'a>,
        (mut rx, mut tx): (BlockingRx<Packet>, BlockingTx<Packet>),
    ) -> Result<Share<'a>, Stop> {
        let mut made = Member::new(self.native, self.cut, group, share, &self.stopped);
        while let Some(mut packet) = rx.recv() {
            let permit = self.permits.take();
            match &mut made {
                Ok(member) => member.work(&mut packet),
                // The caller waits for every packet, so it must be sent on.
                Err(stop) => _ = packet.failure.get_or_insert_with(|| stop.clone()),
            }
            drop(permit);
            tx.send(packet);
        }
        made.map(Member::end)
    }
}

/// A process that takes packets from the streams in turn, which keeps their order, and sends them to `to`
/// streams in turn; returns the dealer at its end, where there is one.
fn deal<'t>(
    graph: &Graph<'t>,
    name: &str,
    (streams, to): (Vec<Stream<'t, Packet>>, usize),
    mut dealer: Option<Dealer>,
) -> (Vec<Stream<'t, Packet>>, Option<Output<'t, Option<Dealer>>>) {
    if streams.len() == 1 && to == 1 && dealer.is_none() {
        return (streams, None);
    }
    let inputs: Vec<_> =
        streams.into_iter().enumerate().map(|(at, stream)| input(&format!("in {at}"), stream)).collect();
    let outputs: Vec<_> = (0..to).map(|at| output(&format!("out {at}"))).collect();
    let (streams, dealer) = graph.process(
        name,
        inputs,
        outputs,
        move |mut from: Vec<Rx<Packet>>, mut to: Vec<Tx<Packet>>| async move {
            let mut failure = None;
            for turn in 0.. {
                let (inputs, outputs) = (from.len(), to.len());
                let Some(mut packet) = from[turn % inputs].recv().await else { break };
                // Packets behind a failure would have other content, so all groups skip them.
                if failure.is_none() {
                    failure.clone_from(&packet.failure);
                }
                packet.failure.clone_from(&failure);
                if let (Some(dealer), None) = (&mut dealer, &failure) {
                    dealer.deal(&mut packet);
                }
                to[turn % outputs].send(packet).await;
            }
            Value(dealer)
        },
    );
    (streams, Some(dealer))
}

/// Bytes of a stack that suffices for all generated code.
fn stack(native: &Native) -> usize {
    let codes =
        native.codes.iter().flatten().flat_map(|codes| std::iter::once(&codes.work).chain(&codes.prework));
    let locals = codes.map(|code| {
        let locals = code.mems.iter().filter(|mem| mem.kind == MemKind::Local);
        locals.map(|mem| mem.cells).sum::<usize>()
    });
    STACK + 8 * locals.max().unwrap_or(0)
}
