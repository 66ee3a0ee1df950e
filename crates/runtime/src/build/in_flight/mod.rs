//! A limit on the items between two points of a graph: tokens.
//!
//! ```text
//!             ┌─────────── tokens ───────────┐
//!   items ─▶ entry ─▶ the section's nodes ─▶ exit ─▶ results
//! ```
//!
//! The entry pushes tokens with each item, and the exit pops some as items leave, so the capacity of their channel
//! limits the items between them. It is a channel like any other: when it is full it stops the entry. If the section
//! needs more items than that before one leaves, the channel is part of a cycle of waiting nodes, and grows, after the
//! cycle's other channels.
//!
//! # Static rates
//!
//! One item of the entry need not become one of the exit. Along paths of static rates, each `items` items of the entry
//! become `results` items of the exit. So the entry pushes `results` tokens with each item, and the exit pops `items`
//! tokens with each result. For a limit of `most` items the entry must stop while more than `results * (most - 1)`
//! tokens are in the channel. A node with a dynamic output stops when the channel has no free slot, hence the capacity
//! `results * (most - 1) + 1`.
//!
//! # Parallel nodes with a dynamic output
//!
//! ```text
//!             ┌────────────────────── tokens ──────────────────────┐
//!   items ─▶ entry ─▶ .. ─▶ P1 ─▶ .. ─▶ P2 ─▶ .. ───────────────▶ exit ─▶ results
//!                            └─tally─┐   └─tally─┐                  ▲
//!                                    └────────▶ sum ─────counts─────┘
//! ```
//!
//! A parallel node keeps no state, and its firing `j` pops the same items whatever the other firings push. So one
//! number for each firing, the items that it pushed, supplies the one number that its rates do not: the node's *tally*
//! (`node/tally.rs`). The entry pushes one token with each item, and the exit pops one for each item whose
//! descendants have left.
//!
//! | counter of the exit | counts |
//! |---|---|
//! | `passed` | items that have left |
//! | `firings` | the first firings of P1 whose descendants have all left |
//! | `pushed` | items that those firings became at the last node with a tally |
//! | `returned` | tokens popped |
//!
//! Let `C(j)` be the sum of the first `j` counts, and let the static rates between the last such node and the exit
//! make `to` results of `from` items. The first `j` firings are done when `up(C(j)) = ceil(C(j) * to / from)`
//! results have left. The exit pops the next count only then, so a firing that pushes nothing is done at once. When
//! `f` firings are done, so are the first `floor(f * from / to)` items of the entry, by the rates between entry and P1.
//!
//! Two tallies make one ([`count::sum`]): the first `j` firings of P1 push `C1(j)` items, these need the first
//! `up(C1(j))` firings of P2, and those push `C2(up(C1(j)))` items. The sum kernel pushes the differences of this
//! series, one for each firing of P1, as if P1 and P2 were one node. Further nodes are added the same way.
//!
//! **The results are determinate.** The exit passes items on in order, whatever else it pops. Timing decides only
//! when a token is popped.
//!
//! **The limit holds.** The exit pops the token of an item only after as many results have left as, by the rates, the
//! first items of the entry up to this one become. Rates are averages over a period: where firings pop or push
//! several items, an item may count as gone while less than a period of its descendants is in the section.
//!
//! **The section makes progress.** The exit waits for any input that it can use: items always, counts where none has
//! arrived, tokens where some are due. So items never wait for counts. The sum kernel may wait for one tally while the
//! channel of the other is full. Then that channel is part of a cycle of waiting nodes, and grows before the tokens do.
//! A count waits in its channel until its items have left. While it does, its channel may be full and so stop P1; where
//! the items need P1, that is a cycle of waiting nodes too.
//!
//! **Sections that are refused.** Positions add up only if every path of the section leads through the node's output
//! exactly once ([`path`]). Within an outer section the exit counts as a node of rates 1, and channels of counts and
//! tokens do not count as paths (`Draft::flow`).

//! # The whole graph
//!
//! [`Options::tokens`](crate::Options::tokens) makes the nodes between a graph's source and its sink one section, when a
//! run is prepared ([`tokens`]).

mod count;
mod path;
mod tokens;

pub(crate) use tokens::{LimitEnd, Tokens};

use super::mistake::Mistake;
use super::spec::{input, output};
use super::stream::Stream;
use path::{By, Path, Ratio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use thalweg_graph::NodeId;

/// Adds an entry before the nodes that `section` adds, an exit after them, and the channel of tokens. Returns the
/// results. `most` is at least 1. `section` is user code, so the draft is not locked during its call.
pub(super) fn build<'env, T, U>(
    stream: Stream<'env, T>,
    most: usize,
    section: impl FnOnce(Stream<'env, T>) -> Stream<'env, U>,
) -> Stream<'env, U>
where
    T: Send + 'env,
    U: Send + 'env,
{
    let (entry, out) = Entry::add(stream);
    let inside = section(out);
    match entry.path(&inside, By::Section) {
        Ok(path) => entry.exit(inside, most, path),
        Err(why) => {
            let shared = inside.shared.clone();
            let out = entry.exit(inside, most, Path::STATIC);
            let exit = out.node.expect("an exit is a node");
            shared.draft().mistake(Mistake::Node(exit, why));
            out
        }
    }
}

/// The entry of a section that has no exit yet.
pub(crate) struct Entry<'env> {
    node: NodeId,
    /// Tokens that the entry pushes with each item.
    per_item: Arc<AtomicU32>,
    tokens: Stream<'env, ()>,
}

impl<'env> Entry<'env> {
    /// Adds an entry. Returns it, and the items that have entered.
    fn add<T: Send + 'env>(stream: Stream<'env, T>) -> (Entry<'env>, Stream<'env, T>) {
        let graph = stream.graph();
        let per_item = Arc::new(AtomicU32::new(1));
        let count = per_item.clone();
        let outputs = (output("out").push(1), output("tokens"));
        let (node, (out, tokens)) = graph.kernel("in_flight.entry", stream, outputs).add_sequential(
            move |items, (out, tokens)| {
                out.push(items.pop());
                (0..count.load(Ordering::Relaxed)).for_each(|_| tokens.push(()));
            },
            false,
        );
        (Entry { node, per_item, tokens }, out)
    }

    /// The paths of the section that ends with `inside`. The channel of tokens is none of them.
    ///
    /// # Errors
    /// As [`Draft::path`](super::draft::Draft::path).
    fn path<U>(&self, inside: &Stream<'env, U>, by: By) -> Result<Path, String> {
        let mut draft = inside.shared.draft();
        draft.set_counts(self.tokens.edge);
        draft.path(self.node, inside, by)
    }

    /// Adds the exit of the section that ends with `inside` and has these paths. Returns the items that leave.
    fn exit<U: Send + 'env>(self, inside: Stream<'env, U>, most: usize, path: Path) -> Stream<'env, U> {
        let Entry { node, per_item, tokens } = self;
        let mut out = match path {
            Path { first: Ratio { from, to }, tallied } if tallied.is_empty() => {
                per_item.store(to, Ordering::Relaxed);
                fixed(inside, limit(tokens, to, most), from)
            }
            path => tallied(inside, limit(tokens, 1, most), most, path),
        };
        out.gate = Some((node, "entry"));
        out
    }
}

/// The greatest capacity of a channel of tokens. A greater limit would limit nothing.
const MOST: usize = 1 << 30;

/// The greatest capacity of a channel of counts. If the limit needs more, these channels stop the section before its
/// tokens do.
const MOST_COUNTS: usize = 1 << 20;

/// The channel of tokens, of which the entry pushes `per_item` with each item.
fn limit<'env>(tokens: Stream<'env, ()>, per_item: u32, most: usize) -> Stream<'env, ()> {
    let capacity = (per_item as usize).saturating_mul(most - 1).saturating_add(1);
    let mut tokens = tokens.capacity(capacity.min(MOST));
    tokens.link = tokens.link.with_limits(true);
    tokens
}

/// The exit of a section of static rates, which pops `each` tokens with each item.
fn fixed<'env, U: Send + 'env>(
    items: Stream<'env, U>,
    tokens: Stream<'env, ()>,
    each: u32,
) -> Stream<'env, U> {
    let graph = items.graph();
    let inputs = (input("in", items), input("tokens", tokens).pop(each));
    graph.kernel("in_flight", inputs, output("out").push(1)).sequential(|(items, tokens), out| {
        while tokens.try_pop().is_some() {}
        out.push(items.pop());
    })
}

/// The exit of a section with dynamic outputs, and the tallies that lead to it.
fn tallied<'env, U: Send + 'env>(
    items: Stream<'env, U>,
    tokens: Stream<'env, ()>,
    most: usize,
    Path { first, tallied }: Path,
) -> Stream<'env, U> {
    let shared = items.shared.clone();
    // Counts of the first node's firings wait in their channel until their items have left, and must not stop the
    // section before the tokens do. Counts of later nodes are summed as they arrive.
    let firings = usize::try_from(first.up(most as u64)).unwrap_or(MOST_COUNTS).min(MOST_COUNTS);
    let tallies = tallied.into_iter().map(|(port, after)| (shared.tally(port), after));
    let all = tallies.enumerate().map(|(at, (tally, after))| match at {
        0 => (tally.capacity(firings), after),
        _ => (tally, after),
    });
    let all = all.reduce(|(counts, between), (tally, after)| {
        let sum = count::sum(counts, between, tally).capacity(firings);
        shared.draft().set_counts(sum.edge);
        (sum, after)
    });
    let (counts, after) = all.expect("a section without a tally has an exit of fixed rates");
    let (exit, out) = count::exit(items, counts, tokens, (first, after));
    shared.draft().set_passing(exit);
    out
}
