//! `operators.*`: operators that split, join and gather, beside a kernel written by hand for the same job, in nanoseconds
//! per item, with the source and the sinks. One thread, so that the cost of the node shows.

use std::cell::RefCell;

use thalweg::{Graph, Options, Output, Stream, from_iter, input, output};
use zstd::bulk::Compressor;

use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::timed;
use crate::session::Session;
use crate::work::fold;

/// Items of a batch.
const BATCH: usize = 64;
/// Bytes of an item that is compressed.
const PAGE: usize = 4096;

type Body = fn(u64) -> Vec<Output<'static, u64>>;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    compare(session, "operators.partition", "hand", [partition, partition_by_hand]);
    compare(session, "operators.tee", "hand", [tee, tee_by_hand]);
    compare(session, "operators.deal", "hand", [deal, deal_by_hand]);
    compare(session, "operators.interleave", "hand", [interleave, interleave_by_hand]);
    compare(session, "operators.concat", "hand", [concat, concat_by_hand]);
    compare(session, "operators.batch", "hand", [batch, batch_by_hand]);
    compare(session, "operators.batch_timeout", "batch", [batch_timeout, batch]);
    scratch(session);
}

/// A figure of an operator and another form of the same job.
fn compare(session: &mut Session, name: &'static str, other: &'static str, bodies: [Body; 2]) {
    if !session.selects(name) {
        return;
    }
    let items = session.items(6.0, 1) / 64 * 64;
    let [ours, hand] = bodies;
    let contestant = |name, role, body: Body| Contestant::new(name, role, items, move || sums(items, body));
    let all = vec![contestant("ours", Role::Ours, ours), contestant(other, Role::Peer, hand)];
    session.figure(name, Measure::NsPerItem, 1, all);
}

/// The checksum of a graph's sums.
fn sums(items: u64, body: Body) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| {
        let outputs = body(items);
        let graph = outputs[0].graph();
        let sums = graph
            .run_with(&Options::new().threads(1))
            .map_err(thalweg::Error::from)
            .and_then(|run| run.take_all(outputs));
        sums.map_or_else(
            |error| {
                outcome = Err(error.to_string());
                0
            },
            |sums| sums.into_iter().fold(0, u64::wrapping_add),
        )
    });
    outcome.map(|()| Some(row))
}

fn sum(items: Stream<'static, u64>) -> Output<'static, u64> {
    items.fold(0, u64::wrapping_add)
}

fn partition(items: u64) -> Vec<Output<'static, u64>> {
    let (a, b) = from_iter(0..items).partition(|n| n & 4 == 0);
    vec![sum(a), sum(b)]
}

fn partition_by_hand(items: u64) -> Vec<Output<'static, u64>> {
    let kernel = from_iter(0..items).kernel("hand", (output("a"), output("b")));
    let (a, b) = kernel.sequential(|items, (a, b)| {
        let item = items.pop();
        if item & 4 == 0 { a.push(item) } else { b.push(item) }
    });
    vec![sum(a), sum(b)]
}

fn tee(items: u64) -> Vec<Output<'static, u64>> {
    let (a, b) = from_iter(0..items).tee();
    vec![sum(a), sum(b)]
}

fn tee_by_hand(items: u64) -> Vec<Output<'static, u64>> {
    let kernel = from_iter(0..items).kernel("hand", (output("a").push(1), output("b").push(1)));
    let (a, b) = kernel.sequential(|items, (a, b)| {
        let item = items.pop();
        a.push(item);
        b.push(item);
    });
    vec![sum(a), sum(b)]
}

fn deal(items: u64) -> Vec<Output<'static, u64>> {
    from_iter(0..items).deal([1, 2, 1]).map(sum).into()
}

/// Static rates: it would leave out an incomplete last round.
fn deal_by_hand(items: u64) -> Vec<Output<'static, u64>> {
    let graph = Graph::new();
    let outs = (output("a").push(1), output("b").push(2), output("c").push(1));
    let kernel = graph.kernel("hand", input("in", graph.source(0..items)).pop(4), outs);
    let (a, b, c) = kernel.sequential(|items, (a, b, c)| {
        a.push(items.pop());
        b.push(items.pop());
        b.push(items.pop());
        c.push(items.pop());
    });
    vec![sum(a), sum(b), sum(c)]
}

fn interleave(items: u64) -> Vec<Output<'static, u64>> {
    let graph = Graph::new();
    let parts = [graph.source(0..items / 4), graph.source(0..items / 2), graph.source(0..items / 4)];
    vec![sum(graph.interleave([1, 2, 1], parts))]
}

/// Static rates: it would leave out an incomplete last round.
fn interleave_by_hand(items: u64) -> Vec<Output<'static, u64>> {
    let graph = Graph::new();
    let [a, b, c] = [graph.source(0..items / 4), graph.source(0..items / 2), graph.source(0..items / 4)];
    let ins = (input("a", a), input("b", b).pop(2), input("c", c));
    let joined = graph.kernel("hand", ins, output("out").push(4)).sequential(|(a, b, c), out| {
        out.push(a.pop());
        out.push(b.pop());
        out.push(b.pop());
        out.push(c.pop());
    });
    vec![sum(joined)]
}

fn concat(items: u64) -> Vec<Output<'static, u64>> {
    let graph = Graph::new();
    vec![sum(graph.source(0..items / 2).concat(graph.source(0..items / 2)))]
}

fn concat_by_hand(items: u64) -> Vec<Output<'static, u64>> {
    let graph = Graph::new();
    let inputs = (graph.source(0..items / 2), graph.source(0..items / 2));
    let kernel = graph.kernel("hand", inputs, output("out").push(1)).framed(|(a, b)| {
        Ok(match a.peek(0)? {
            Some(_) => Some([1, 0]),
            None => b.peek(0)?.map(|_| [0, 1]),
        })
    });
    vec![sum(kernel.sequential(|(a, b), out| out.push(a.try_pop().unwrap_or_else(|| b.pop()))))]
}

fn batch(items: u64) -> Vec<Output<'static, u64>> {
    vec![sum(from_iter(0..items).batch(BATCH).map(added))]
}

fn batch_timeout(items: u64) -> Vec<Output<'static, u64>> {
    vec![sum(from_iter(0..items).batch_timeout(BATCH, std::time::Duration::from_secs(1)).map(added))]
}

/// Static rates: it would leave out an incomplete last batch.
fn batch_by_hand(items: u64) -> Vec<Output<'static, u64>> {
    let graph = Graph::new();
    let ins = input("in", graph.source(0..items)).pop(BATCH as u32);
    let batches = graph.kernel("hand", ins, output("out").push(1)).sequential(|items, out| {
        let mut batch = Vec::with_capacity(BATCH);
        batch.extend((0..BATCH).map(|_| items.pop()));
        out.push(batch);
    });
    vec![sum(batches.map(added))]
}

fn added(batch: Vec<u64>) -> u64 {
    batch.into_iter().fold(0, u64::wrapping_add)
}

/// `par_map_init` with a context of zstd for each firing under way, beside a context for each thread.
fn scratch(session: &mut Session) {
    let threads = session.options.threads;
    let name = format!("operators.par_map_init.zstd.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let items = session.items(10_000.0, threads);
    let contestant =
        |name, role, map: Pages| Contestant::new(name, role, items, move || compressed(items, threads, map));
    let all = vec![
        contestant("ours", Role::Ours, with_scratch),
        contestant("thread-local", Role::Peer, with_thread_local),
    ];
    session.figure(&name, Measure::NsPerItem, threads, all);
}

type Pages = fn(Stream<'static, u64>) -> Stream<'static, u64>;

/// Compresses pages, and adds up their lengths.
fn compressed(items: u64, threads: usize, map: Pages) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| {
        let sum = sum(map(from_iter(0..items))).run_with(&Options::new().threads(threads));
        sum.map_or_else(
            |error| {
                outcome = Err(error.to_string());
                0
            },
            thalweg::Run::into_value,
        )
    });
    outcome.map(|()| Some(row))
}

/// The bytes of an item: the digits of numbers.
fn page(item: u64) -> Vec<u8> {
    let mut page = Vec::with_capacity(PAGE + 20);
    let mut number = item;
    while page.len() < PAGE {
        number = fold(number, item);
        page.extend_from_slice((number % 100_000).to_string().as_bytes());
    }
    page
}

fn context() -> Compressor<'static> {
    Compressor::new(1).expect("level 1 exists")
}

fn length(context: &mut Compressor<'static>, item: u64) -> u64 {
    context.compress(&page(item)).expect("a context in memory does not fail").len() as u64
}

fn with_scratch(items: Stream<'static, u64>) -> Stream<'static, u64> {
    items.par_map_init(context, length)
}

fn with_thread_local(items: Stream<'static, u64>) -> Stream<'static, u64> {
    thread_local!(static CONTEXT: RefCell<Compressor<'static>> = RefCell::new(context()));
    items.par_map(|item| CONTEXT.with_borrow_mut(|context| length(context, item)))
}
