//! The kernels that count by tallies: the exit of a section, and the sum of two tallies. The module `in_flight` has the
//! formulas and the argument that they are right.
//!
//! Both decide in a framing function what the next firing pops. The state that the function and the firing share lies
//! under the node's claim: it is a captured variable, or an atomic that the claim orders.

use super::super::spec::{input, output};
use super::super::stream::Stream;
use super::path::Ratio;
use crate::channel::Glance;
use crate::node::AnyFrame;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use thalweg_graph::NodeId;

/// The tally of two nodes as if they were one: for each firing of the first, the number of items that its descendants
/// are after the second.
///
/// `ratio` leads from the items that the first node pushes to the firings of the second one.
pub(super) fn sum<'env>(
    first: Stream<'env, u64>,
    ratio: Ratio,
    second: Stream<'env, u64>,
) -> Stream<'env, u64> {
    // Firings of the second node that belong to the latest counted firing of the first one, and are not counted yet.
    // The framing function and the firing both run under the kernel's claim, which orders their accesses.
    let missing = Arc::new(AtomicU64::new(0));
    let still_missing = missing.clone();
    let (mut pushed, mut needed, mut counted, mut sum) = (0, 0, 0, 0);
    let graph = first.graph();
    graph
        .kernel("in_flight.sum", (input("first", first), input("second", second)), output("out"))
        .framed(move |(first, second)| match still_missing.load(Ordering::Relaxed) {
            0 => Ok(first.peek(0)?.map(|_| [1, 0])),
            missing => Ok(second.peek(0)?.map(|_| {
                // The number of arrived items decides how many this firing pops, but not which numbers are pushed.
                [0, second.arrived().min(usize::try_from(missing).unwrap_or(usize::MAX))]
            })),
        })
        .sequential(move |(first, second), out| {
            if let Some(count) = first.try_pop() {
                pushed += count;
                needed = ratio.up(pushed);
            }
            while let Some(count) = second.try_pop() {
                counted += 1;
                sum += count;
            }
            if counted == needed {
                out.push(std::mem::take(&mut sum));
            }
            missing.store(needed - counted, Ordering::Relaxed);
        })
}

/// The exit of a section with a tally: it passes items on, and pops a token for each item of the entry whose
/// descendants have left.
///
/// `before` leads from the entry's items to the tallied firings, `after` from the items that these push to results.
pub(super) fn exit<'env, U: Send + 'env>(
    items: Stream<'env, U>,
    counts: Stream<'env, u64>,
    tokens: Stream<'env, ()>,
    (before, after): (Ratio, Ratio),
) -> (NodeId, Stream<'env, U>) {
    let graph = items.graph();
    let inputs = (input("in", items), input("counts", counts), input("tokens", tokens));
    let mut kernel = graph.kernel("in_flight", inputs, output("out"));
    let mut exit = Exit { before, after, passed: 0, firings: 0, pushed: 0, returned: 0 };
    kernel.frame = Some(Box::new(AnyFrame(move |glances: &Glances<U>, takes: &mut [usize]| {
        exit.take(glances, takes);
        if takes.iter().any(|take| *take > 0) { 0 } else { exit.lacks(glances) }
    })));
    // The counts and tokens that the firing leaves are dropped when it ends.
    kernel.add_sequential(
        |(items, _, _), out| {
            while let Some(item) = items.try_pop() {
                out.push(item);
            }
        },
        false,
    )
}

type Glances<U> = (Glance<U>, Glance<u64>, Glance<()>);

/// The exit's counters: see the module `in_flight`. The framing function updates them for the firing that follows,
/// which then pops exactly these items.
struct Exit {
    /// From the entry's items to the firings of the first node with a tally.
    before: Ratio,
    /// From the items of the last node with a tally to results.
    after: Ratio,
    /// Items that have left the section.
    passed: u64,
    /// The first firings whose descendants have all left.
    firings: u64,
    /// The items that these firings became at the last node with a tally.
    pushed: u64,
    /// Tokens popped.
    returned: u64,
}

/// The greatest number of items that the exit passes on in one firing.
const RUN: usize = 64;

impl Exit {
    /// Decides what the next firing pops.
    fn take<U>(&mut self, (items, counts, tokens): &Glances<U>, takes: &mut [usize]) {
        takes[0] = items.arrived().min(RUN);
        self.passed += takes[0] as u64;
        takes[1] = self.settle(counts);
        self.firings += takes[1] as u64;
        takes[2] = tokens.arrived().min(usize::try_from(self.due()).unwrap_or(usize::MAX));
        self.returned += takes[2] as u64;
    }

    /// Pops, in order, counts whose items have all left; returns how many. Adds them to `pushed`.
    fn settle(&mut self, counts: &Glance<u64>) -> usize {
        let mut settled = 0;
        while let Ok(Some(count)) = counts.peek(settled) {
            let pushed = self.pushed + count;
            if self.after.up(pushed) > self.passed {
                break;
            }
            self.pushed = pushed;
            settled += 1;
        }
        settled
    }

    /// Tokens to be popped. If a channel of the section has initial items, the entry may not have pushed all of them
    /// yet.
    fn due(&self) -> u64 {
        self.before.down(self.firings) - self.returned
    }

    /// The inputs to wait for, as a mask; empty after the last item, when the node ends.
    fn lacks<U>(&self, (items, counts, tokens): &Glances<U>) -> u64 {
        if items.ended() {
            return 0;
        }
        let no_count = counts.arrived() == 0 && !counts.ended();
        let no_token = self.due() > 0 && !tokens.ended();
        1 | u64::from(no_count) << 1 | u64::from(no_token) << 2
    }
}
