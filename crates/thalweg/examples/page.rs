//! Runs a graph with a branch and a loop, and draws its report as a page for a browser.
//!
//! ```text
//! cargo run --release --example page -- [PAGE]
//!
//! PAGE  the page to write [default: page.html]
//! ```
//!
//! It prints what bounded the run. In the page, the graph shows the same: full channels before the slowest node, and
//! empty ones behind it.

use thalweg::{input, output, prelude::*};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = std::env::args().nth(1).unwrap_or_else(|| "page.html".to_owned());
    let report = graph().run_with(&Options::new().timeline(20_000))?.report().clone();
    report.write_html(&page)?;
    println!("{}", report.advice());
    Ok(())
}

/// Samples are scaled by a gain, which follows the loudness of the samples before, and analysed in two ways.
fn graph() -> Graph<'static> {
    let graph = Graph::new();
    let samples = graph.source(0..60_000_u64).named("samples");
    let (end, gain) = graph.feedback([1_u64; 64]);
    let ins = (input("sample", samples), input("gain", gain));
    let scaled = graph.kernel("scale", ins, output("out")).sequential(|(sample, gain), out| {
        out.push(work(sample.pop().wrapping_mul(gain.pop()), 20));
    });
    let outs = (output("pitch"), output("level"), output("loudness"));
    let (pitch, level, loudness) =
        graph.kernel("split", input("in", scaled), outs).sequential(|items, outs| {
            let item = items.pop();
            outs.0.push(item);
            outs.1.push(item);
            outs.2.push(item);
        });
    loudness.map(|sample| 1 + sample % 7).named("loudness").feed(end);
    let pitch = pitch.par_map(|sample| work(sample, 600)).named("pitch");
    let level = level.map(|sample| work(sample, 60)).named("level");
    pitch.zip(level).named("join").for_each(|_| {}).named("write");
    graph
}

/// Takes time in proportion to `rounds`.
fn work(n: u64, rounds: u64) -> u64 {
    (0..rounds).fold(n, |x, i| (x ^ i).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7))
}
