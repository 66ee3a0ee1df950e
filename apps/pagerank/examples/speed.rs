//! Measures an iteration on R-MAT graphs: `cargo run --release -p thalweg-pagerank --example speed -- 1 14 18 20`
//! with the number of threads and the scales. Prints the time of an iteration in loops and in a graph of tasks (each the best
//! of several runs of 10 iterations, which take turns), and the time to read the same graph as text.

use std::env;
use std::fmt::Write;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use thalweg_pagerank::{Graph, Input, PageRank, Rmat, Schedule};

fn main() {
    let mut numbers = env::args().skip(1).map(|text| text.parse().expect("numbers of threads and scales"));
    let threads: u32 = numbers.next().unwrap_or(1);
    let scales: Vec<u32> = numbers.collect();
    println!(
        "scale    links  build s  ns/link: loops  tasks  million links/s  GB/s  sources alone  read ns/link"
    );
    for scale in if scales.is_empty() { vec![14, 18, 20] } else { scales } {
        let begun = Instant::now();
        let graph = Rmat::new(scale).threads(threads as usize).graph(|_| {}).expect("a valid scale");
        let built = begun.elapsed().as_secs_f64();
        let links = graph.links().len() as f64;
        let [loops, tasks] = iterations(&graph, threads as usize);
        // A link reads its source and a share; a page reads and writes its rank and share, and reads two numbers.
        let bytes = links * 12.0 + graph.pages() as f64 * 40.0;
        println!(
            "{scale:5} {links:8.0} {built:8.2} {:15.3} {:6.3} {:16.1} {:5.1} {:14.3} {:13.1}",
            loops * 1e9 / links,
            tasks * 1e9 / links,
            links / loops / 1e6,
            bytes / loops / 1e9,
            sources(&graph) * 1e9 / links,
            read(&graph, threads as usize) * 1e9 / links,
        );
    }
}

/// The shortest time of an iteration in loops and in tasks, in seconds.
fn iterations(graph: &Graph, threads: usize) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..9 {
        for (best, schedule) in best.iter_mut().zip([Schedule::Loops, Schedule::Tasks]) {
            let settings = PageRank::new().tolerance(0.0).max_iterations(10).threads(threads);
            let begun = Instant::now();
            let ranking = settings.schedule(schedule).run(graph, |_| ControlFlow::Continue(()));
            *best = best.min(begun.elapsed().as_secs_f64() / 10.0);
            black_box(ranking.expect("all iterations are done"));
        }
    }
    best
}

/// The time to read all sources in order, on one thread: the part of an iteration that no order of pages avoids.
fn sources(graph: &Graph) -> f64 {
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        black_box(graph.links().sources.iter().fold(0u32, |sum, source| sum.wrapping_add(*source)));
        begun.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The time to read the graph as an edge list in memory, ordered by target, in seconds.
fn read(graph: &Graph, threads: usize) -> f64 {
    let mut text = String::new();
    for target in 0..graph.pages() {
        for source in graph.links().sources_of(target) {
            writeln!(text, "{source}\t{target}").expect("a string takes any text");
        }
    }
    let begun = Instant::now();
    black_box(Input::new("text").threads(threads).read(text.as_bytes(), None, |_| {}).expect("a valid list"));
    begun.elapsed().as_secs_f64()
}
