//! The memory of a graph on demand, in bytes a node: tiny tasks with keys of 8 bytes and results of 4.
//!
//! ```text
//! cargo run -p thalweg-tasks --release --example memory [NODES]
//! ```
//!
//! The default are 10^7 nodes, once as a wavefront and once as a chain, where all nodes wait at once.

use thalweg_tasks::{OnDemand, TaskGraph};

fn main() {
    let nodes = std::env::args().nth(1).map_or(10_000_000, |nodes| nodes.parse().expect("a number of nodes"));
    // One after the other: the peak of the process is that of the larger one so far.
    let side = (nodes as f64).sqrt() as u64;
    let needs_of = |&key: &u64, needs: &mut Vec<u64>| {
        if key >= side {
            needs.push(key - side);
        }
        if key % side > 0 {
            needs.push(key - 1);
        }
    };
    let compute = |_: &u64, context: &mut thalweg_tasks::Context<'_, u64, u32>| {
        context.inputs().fold(1_u32, |sum, input| sum.wrapping_add(*input))
    };
    let before = peak();
    let finished = OnDemand::new(needs_of, compute).run(side * side - 1).expect("no cycle");
    report("wavefront", finished.len(), before);
    drop(finished);
    let chain = OnDemand::new(|&key: &u64, needs: &mut Vec<u64>| needs.extend(key.checked_sub(1)), compute);
    let finished = chain.run(nodes - 1).expect("no cycle");
    report("chain", finished.len(), before);
}

fn report(name: &str, nodes: usize, before: u64) {
    let bytes = peak() - before;
    println!("{name}: {nodes} nodes, peak {} MiB, {} bytes a node", bytes >> 20, bytes / nodes as u64);
}

/// The peak of the process's resident memory, in bytes; 0 where the system does not report it.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
