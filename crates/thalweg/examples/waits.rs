//! Measures what waits behind a long firing, what endless iterators hold, and more workers than cores: the figures of
//! `docs/small_jobs.md`. Takes about half a minute.
//!
//! ```sh
//! cargo run --release -p thalweg --example waits
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};
use thalweg::prelude::*;

/// The number of an item, and the time at which its firing ended.
type Stamped = (u64, Duration);

const LONG: Duration = Duration::from_millis(300);
/// The items that each case sends through its node, the one whose firing is long in the middle.
const ITEMS: u64 = 66;

fn main() -> Result<(), thalweg::Error> {
    println!("first result of a firing of 1.5 s, from the start of the run: median, longest");
    for (threads, parallel) in [(2, false), (2, true), (1, false), (1, true)] {
        let name = if parallel { "par_flat_map" } else { "flat_map" };
        report(&format!("{name}, {threads} threads"), || first_result(threads, parallel))?;
    }
    println!("longest wait of 33 results before a firing of 300 ms, 2 threads: median, longest");
    for (name, node) in nodes() {
        report(name, || longest_wait(node))?;
    }
    println!("endless iterators in `par_flat_map`, budget 1 MiB, 0.3 ms for each result: most alive");
    for (bytes, threads) in [(8, 8), (1 << 10, 2), (1 << 10, 8), (10 << 10, 2), (10 << 10, 8)] {
        println!("  {bytes} bytes, {threads} threads: {:.2} MiB", most_alive(bytes, threads)?);
    }
    println!("200,000 integers through four stages: median, longest");
    for policy in ["auto", "random"] {
        for threads in [16, 64] {
            report(&format!("{policy}, {threads} workers"), || integers(policy, threads))?;
        }
    }
    Ok(())
}

/// Prints median and maximum of eleven runs.
fn report(name: &str, run: impl Fn() -> Result<Duration, thalweg::Error>) -> Result<(), thalweg::Error> {
    let mut times = (0..11).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    times.sort();
    println!("  {name}: {:.2?}, {:.2?}", times[5], times[10]);
    Ok(())
}

fn first_result(threads: usize, parallel: bool) -> Result<Duration, thalweg::Error> {
    let (start, first) = (Instant::now(), Arc::new(Mutex::new(None)));
    let results = |_| (0..100u64).inspect(|k| sleep(Duration::from_millis(if *k > 0 { 15 } else { 0 })));
    let item = thalweg::from_iter(0..1u64);
    let stream = if parallel { item.par_flat_map(results) } else { item.flat_map(results) };
    let seen = first.clone();
    let sink =
        stream.take(3).for_each(move |_| _ = seen.lock().unwrap().get_or_insert_with(|| start.elapsed()));
    sink.run_with(&Options::new().threads(threads))?;
    Ok(first.lock().unwrap().expect("a result came"))
}

/// Takes long for the item in the middle.
fn stamp(n: u64, start: Instant) -> Stamped {
    if n == ITEMS / 2 {
        sleep(LONG);
    }
    (n, start.elapsed())
}

type Node = fn(Instant) -> Stream<'static, Stamped>;

fn nodes() -> [(&'static str, Node); 4] {
    fn items() -> Stream<'static, u64> {
        thalweg::from_iter(0..ITEMS)
    }
    [
        ("map", |start| items().map(move |n| stamp(n, start))),
        ("par_map", |start| items().par_map(move |n| stamp(n, start))),
        ("process", |start| {
            let graph = thalweg::Graph::new();
            graph.process(
                "node",
                graph.source(0..ITEMS),
                thalweg::output("out"),
                move |mut rx, mut tx| async move {
                    while let Some(n) = rx.recv().await {
                        tx.send(stamp(n, start)).await;
                    }
                },
            )
        }),
        ("coroutine", |start| {
            let graph = thalweg::Graph::new();
            graph.coroutine("node", graph.source(0..ITEMS), thalweg::output("out"), move |rx, mut tx| {
                rx.into_iter().for_each(|n| tx.send(stamp(n, start)));
            })
        }),
    ]
}

fn longest_wait(node: Node) -> Result<Duration, thalweg::Error> {
    let start = Instant::now();
    let waits = node(start).fold(HashMap::new(), move |mut waits: HashMap<u64, Duration>, (n, at)| {
        waits.insert(n, start.elapsed() - at);
        waits
    });
    let waits = waits.run_with(&Options::new().threads(2))?.into_value();
    Ok((0..ITEMS / 2).map(|n| waits[&n]).max().expect("items before the long one"))
}

/// Bytes of items that are alive now, and at most so far.
type Alive = Arc<(AtomicUsize, AtomicUsize)>;

struct Block(usize, Alive);

impl Block {
    fn new(bytes: usize, alive: &Alive) -> Block {
        alive.1.fetch_max(alive.0.fetch_add(bytes, Relaxed) + bytes, Relaxed);
        Block(bytes, alive.clone())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.1.0.fetch_sub(self.0, Relaxed);
    }
}

fn most_alive(bytes: usize, threads: usize) -> Result<f64, thalweg::Error> {
    let alive = Alive::default();
    let counts = alive.clone();
    let endless = move |_| {
        let counts = counts.clone();
        std::iter::repeat_with(move || Block::new(bytes, &counts))
    };
    let results = thalweg::from_iter(0..1000u64).par_flat_map(endless).weigh(move |_| bytes);
    let sink = results.take(300).for_each(|_| sleep(Duration::from_micros(300)));
    sink.run_with(&Options::new().threads(threads).budget(1 << 20))?;
    Ok(alive.1.load(Relaxed) as f64 / f64::from(1 << 20))
}

fn integers(policy: &str, threads: usize) -> Result<Duration, thalweg::Error> {
    let start = Instant::now();
    let stages = thalweg::from_iter(0..200_000u64).map(|x| x ^ 1).par_map(|x| x * 3).map(|x| x + 1);
    stages.fold(0u64, u64::wrapping_add).run_with(&Options::new().threads(threads).policy(policy))?;
    Ok(start.elapsed())
}
