//! The page of parallel loops.

use super::data::Data;
use super::{Plot, Section, locality};

pub(super) const HEAD: &str = "\
# Results: parallel loops

What a loop costs before and after its iterations, and what loops with work reach. All contestants call the same compiled
functions for their iterations.
";

pub(super) const SECTIONS: [Section; 8] = [
    Section {
        title: "Loops without work",
        prefixes: &["loop.handoff", "loop.meeting"],
        subject: "",
        text: "A loop of as many iterations as threads, after the last one or 20 us later; the fastest of nine processes. An empty\n\
               loop may end before another thread has begun. Where the iterations meet, each waits until all have begun. `spin`\n\
               is what the machine allows: threads that wait for a word and answer.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Joins and tasks without work",
        prefixes: &["loop.fib", "loop.wavefront"],
        subject: "",
        text: "fib(30), time per join; and a grid of 1000 by 1000 nodes, each after those above and to the left, time per node\n\
               of a run, and of building the graph. On demand, nodes have keys of 8 bytes and results of 4, and a run finds them\n\
               from the last one on: its time includes what building is for the others. No peer has such graphs.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Loops over work",
        prefixes: &["loop.uniform", "loop.planted"],
        subject: "",
        text: "10^6 iterations of 10 ns; efficiency.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Loops over grids",
        prefixes: &["loop.heat", "loop.life"],
        subject: "",
        text: "Steps of heat diffusion over 2048 by 2048 numbers, and of the game of life over 4096 by 4096 bytes; efficiency.\n\
               A perfect split has a grid of its own for each thread, so its threads share no cache line.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Applications",
        prefixes: &["app"],
        subject: "",
        text: "PageRank over an R-MAT graph with 2^20 pages, beside NetworKit; and scores of Smith-Waterman for 32 by 32\n\
               `pairs` of sequences of 1500 letters, for a protein of 400 letters with a data base (`search`), for one long `pair`,\n\
               and an alignment (`trace`), beside parasail. A peer's time is taken inside of its process, without its start.\n\
               These peers have kernels of their own. [Figure 5.6](task-graphs.md#figure-56-speed-ups-measured) and Figure 6.5 below\n\
               have peers that call ours.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figures 6.5 and 6.6: speed-ups (measured)",
        prefixes: &["locality.6-5.time", "locality.6-6.time"],
        subject: "",
        text: "Figures of chapter 6 of Maglalang, *Locality-Aware Concurrency Platforms*: the time on one thread, divided by that of\n\
               each contestant. Smith-Waterman in n^3 over 1024^2 cells (the paper: 2048^2) in blocks of 16 by 16, a loop for each\n\
               diagonal, and life over 4096^2 cells (16384^2) in blocks of 16 by 256. `split` stands for `cilk_for`: neither Cilk\n\
               Plus nor OpenCilk installs here. All contestants of Smith-Waterman execute the blocks of `thalweg align`.\n\
               Times at 4 to 32 cores wait for a machine that has them, or for the simulator.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 6.5: Smith-Waterman (counted, no time)",
        prefixes: &["locality.6-5.ticks", "locality.6-5.remote"],
        subject: "locality.6-5",
        text: "Ratios of ticks of the virtual host on 4 domains of 8 cores, at the paper's size. `parfor-hybrid` and\n\
               `parfor-static` search in the paper's order, or not at all, and begin late by up to 200 ticks for each worker, since\n\
               they find a loop by random attempts to steal. [The page of task graphs](task-graphs.md) says what a tick is.",
        plots: smith_waterman,
    },
    Section {
        title: "Figure 6.6: life (counted, no time)",
        prefixes: &["locality.6-6.ticks", "locality.6-6.remote"],
        subject: "locality.6-6",
        text: "The same for 5 steps of life over 16384^2 cells in blocks of 16 by 256.\n\
               \n\
               Why ours differs: late starts of some microseconds do not make `parfor-static` slower than `cilk_for`, as they do in\n\
               the paper: a step lasts milliseconds here, and `cilk_for` has more remote accesses.",
        plots: life,
    },
];

fn smith_waterman(data: &Data) -> Vec<Plot> {
    plot(data, "locality-6-5", "Ratios of ticks: Smith-Waterman by loops", "locality.6-5.ticks.p")
}

fn life(data: &Data) -> Vec<Plot> {
    plot(data, "locality-6-6", "Ratios of ticks: life by loops", "locality.6-6.ticks.p")
}

fn plot(data: &Data, file: &'static str, shows: &'static str, before: &str) -> Vec<Plot> {
    let contestants = ["ours", "parfor-hybrid", "parfor-static", "cilk_for"];
    let svg = locality::lines(data, before, "ticks of 1 worker / ticks", Some(32.0), &contestants);
    vec![Plot { file, shows, svg }]
}
