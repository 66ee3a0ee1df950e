//! Blocks of 1 MiB through a slow stage, with default options: what a run holds does not depend on how slow the stage is.

use super::{MIB, peak_of};
use std::time::Duration;
use thalweg::{Graph, Options, ParallelExt, Stream, Value, from_iter, output};

/// Blocks of a run: more than any of them may hold.
const BLOCKS: usize = 240;
/// Maximum number of bytes of a run.
const MOST: usize = 64_000_000;

type Block = Vec<u8>;

/// A block. The system maps its pages when they are accessed, so it is made much faster than the slow stage takes it.
fn block(n: usize) -> Block {
    let mut block = vec![0; MIB];
    block[0] = n as u8;
    block
}

fn blocks() -> impl Iterator<Item = Block> + Send + 'static {
    (0..BLOCKS).map(block)
}

/// The slow stage.
fn slow(mut block: Block) -> Block {
    std::thread::sleep(Duration::from_millis(1));
    block[0] ^= 1;
    block
}

/// Checks that `run` moves all blocks through within [`MOST`], on 1, 2 and 8 workers.
fn takes_little(run: impl Fn(&Options) -> usize) {
    for workers in [1, 2, 8] {
        let options = Options::new().threads(workers);
        let (bytes, peak) = peak_of(|| run(&options));
        assert_eq!(bytes, BLOCKS * MIB);
        println!("{workers} workers: {:.1} MB", peak as f64 / 1e6);
        assert!(peak <= MOST, "{workers} workers: {peak} bytes of at most {MOST}");
    }
}

/// The bytes of the blocks of a stream.
fn sum(blocks: Stream<'static, Block>, options: &Options) -> usize {
    blocks.fold(0, |sum, block: Block| sum + block.len()).run_with(options).unwrap().into_value()
}

#[test]
fn of_a_sequential_map() {
    takes_little(|options| sum(from_iter(blocks()).map(|block| block).map(slow).map(|block| block), options));
}

#[test]
fn of_a_slow_sink() {
    takes_little(|options| {
        let sink = from_iter(blocks()).par_map(|block| block);
        sink.fold(0, |sum, block: Block| sum + slow(block).len()).run_with(options).unwrap().into_value()
    });
}

#[test]
fn of_a_blocking_source_and_sink() {
    takes_little(|options| {
        let blocks = from_iter(blocks()).blocking().map(|block| block);
        blocks
            .fold(0, |sum, block: Block| sum + slow(block).len())
            .blocking()
            .run_with(options)
            .unwrap()
            .into_value()
    });
}

#[test]
fn of_a_par_map() {
    takes_little(|options| sum(from_iter(blocks()).par_map(slow), options));
}

/// The first stage is the faster one, so its results wait for the second.
#[test]
fn of_two_par_maps() {
    takes_little(|options| sum(from_iter(blocks()).par_map(|block| block).par_map(slow), options));
}

#[test]
fn of_a_par_filter_map() {
    takes_little(|options| sum(from_iter(blocks()).par_filter_map(|block| Some(slow(block))), options));
}

/// Each firing has fifteen blocks, made one by one.
#[test]
fn of_a_par_flat_map() {
    let make = |n: usize| (0..15).map(move |i| slow(block(n + i)));
    takes_little(|options| sum(from_iter(0..BLOCKS / 15).par_flat_map(make), options));
}

/// The same, with a slow consumer.
#[test]
fn of_a_par_flat_map_before_a_slow_stage() {
    let make = |n: usize| (0..15).map(move |i| block(n + i));
    takes_little(|options| sum(from_iter(0..BLOCKS / 15).par_flat_map(make).map(slow), options));
}

#[test]
fn of_an_unordered_par_map() {
    takes_little(|options| sum(from_iter(blocks()).par_map(|block| block).unordered().map(slow), options));
}

#[test]
fn of_kernels() {
    takes_little(|options| {
        let graph = Graph::new();
        let blocks = graph.source(blocks());
        let pass = graph.kernel("pass", blocks, output("out").push(1));
        let passed = pass.sequential(|blocks, out| out.push(blocks.pop()));
        let slowly = graph.kernel("slow", passed, output("out").push(1));
        let slowed = slowly.parallel(|blocks, out| out.push(slow(blocks.pop())));
        let bytes = slowed.fold(0, |sum, block: Block| sum + block.len());
        graph.run_with(options).unwrap().take(bytes).unwrap()
    });
}

#[test]
fn of_processes() {
    takes_little(|options| {
        let graph = Graph::new();
        let made = graph.process("make", (), output("out"), async |(), mut out| {
            for block in blocks() {
                out.send(block).await;
            }
        });
        let slowed = graph.process("slow", made, output("out"), async |mut blocks, mut out| {
            while let Some(block) = blocks.recv().await {
                out.send(slow(block)).await;
            }
        });
        let bytes = graph.process("sum", slowed, (), async |mut blocks, ()| {
            let mut sum = 0;
            while let Some(block) = blocks.recv().await {
                sum += block.len();
            }
            Value(sum)
        });
        graph.run_with(options).unwrap().take(bytes).unwrap()
    });
}

#[test]
fn of_adaptors() {
    takes_little(|options| blocks().par_map(slow).options(options.clone()).map(|block| block.len()).sum());
    takes_little(|options| {
        let results = blocks().par_filter_map(|block| Some(slow(block))).options(options.clone());
        results.map(|block| block.len()).sum()
    });
}

/// The caller is the slow stage.
#[test]
fn of_adaptors_with_a_slow_caller() {
    takes_little(|options| {
        let results = blocks().par_map(|block| block).options(options.clone());
        results.map(|block| slow(block).len()).sum()
    });
    takes_little(|options| {
        let make = |n: usize| (0..15).map(move |i| block(n + i));
        let results = (0..BLOCKS / 15).par_flat_map(make).options(options.clone());
        results.map(|block| slow(block).len()).sum()
    });
}
