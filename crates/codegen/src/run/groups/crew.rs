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
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};
use thalweg::{BlockingRx, BlockingTx, Error, Finished, Graph, Output, Rx, Stream, Tx, Value, input, output};
use thalweg_lang::interpret::Stop;

/// Bytes of a group's stack besides what its code keeps there.
const STACK: usize = 2 << 20;

/// What the threads of a group begin with.
pub(super) struct Parts<'a> {
    /// For each thread.
    shares: Vec<Share<'a>>,
    /// Of a group that any number of threads do: who deals out packets, and how far it was before them.
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

/// What the threads of a group leave.
pub(super) struct Left<'t, 'a> {
    /// Of each thread.
    shares: Vec<Output<'t, Result<Share<'a>, Stop>>>,
    /// What the group's dealer leaves, and how far the group was before it.
    dealer: Option<(Output<'t, Option<Dealer>>, Base)>,
}

impl<'a> Left<'_, 'a> {
    /// The group's part comes back. Copies have nothing that the region does not have.
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

    /// The engine's graph, a chain, since each group comes behind all that it needs; and what the groups leave.
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
        let [stream] = streams.try_into().unwrap_or_else(|_| unreachable!("one stream was asked for"));
        // Where nobody listens any more the run is about to end.
        stream.for_each(move |packet| _ = give.send(packet)).named("output");
        (graph, left)
    }

    /// What a thread does, and what it leaves.
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
                // The caller waits for an answer, come what may.
                Err(stop) => _ = packet.failure.get_or_insert_with(|| stop.clone()),
            }
            drop(permit);
            tx.send(packet);
        }
        made.map(Member::end)
    }
}

/// Packets in their order, taken from the streams in turn and dealt to `to` streams in turn; and the dealer's value,
/// where there is a dealer.
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
                // What comes behind a failure is not what it would be, and nobody does it.
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
