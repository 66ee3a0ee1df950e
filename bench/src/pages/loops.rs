//! The page of parallel loops.

use super::Section;

pub(super) const HEAD: &str = "\
# Results: parallel loops

What a loop costs before and after its iterations, and what loops with work reach. All contestants call the same compiled
functions for their iterations.
";

pub(super) const SECTIONS: [Section; 4] = [
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
               of a run, and of building the graph.",
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
];
