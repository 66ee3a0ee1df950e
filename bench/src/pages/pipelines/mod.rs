//! The page of pipelines: how far predictions are from measurements, and what a stage's own workers give.

mod errors;
mod models;

use super::Section;
use super::data::Data;

const HEAD: &str = "\
# Results: pipelines

Pipelines beside the queueing models of `crates/queueing`, and stages with workers of their own beside workers that go where work
is.

## How far to believe a prediction
";

const NOTES: &str = "\
In the virtual host, 60 of each kind (`crates/sim/tests/pipelines.rs`): 1.9 % and 7.9 % for workers of each stage, 1.7 % and
8.9 % for shared ones. One worker is exact: it always finds a stage with input and room.

The model of a channel is the engine's: items in service and results under way take places of it, so two exponential stages and
K places reach K / (K + 1) of the bound.
";

/// The part of the page above the figures that the bench measures.
pub(super) fn head(data: &Data) -> String {
    let models = models::sections().unwrap_or_else(|error| format!("The models have no result: {error}.\n"));
    format!("{HEAD}\n{}{NOTES}\n{models}\n{}", errors::section(data), errors::measured(data))
}

pub(super) const SECTIONS: [Section; 4] = [
    Section {
        title: "Programs of this repository",
        prefixes: &["predict"],
        subject: "",
        text: "Firings of the source a second, measured and by the models, from the report of the same run: packing of 44 MB, 20 processes\n\
               with 10 us of work each, counting of words in 47 MB. The cores had other work, but for word count, which is of the run named there:\n\
               on one thread it is as fast as predicted. On two a worker waits where a node that has its items lies in the queue of the other\n\
               one, or is under way there, which no model has: 14 % below the prediction on quiet cores, and beside other builds 1.6 times.\n\
               `predict.sizes.dedup`: the threads with which the\n\
               paper's work stealing, with three tokens for each, reaches the bound by the slowest sequential stage of our archiver within 1 %\n\
               (figure 11 has 5 for the paper's dedup), and that stage's share of all work.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 7: workers for each stage",
        prefixes: &["ferret.pools6", "ferret.pools3"],
        subject: "ferret.pools",
        text: "Stages with the times of ferret, a quarter as long and exponential, which sleep in place of computing: reading 2.4 ms, three\n\
               parallel stages of 0.8 ms and one of 26.5 ms, writing 0.1 ms; of 3 stages the middle one has the sum. Items a second,\n\
               with as many workers as the row says for each parallel stage and one for each other (the policy `pools`), and channels with room for 20\n\
               and 100. `ours`: measured. `model`: ours, from the run's report. `paper`: equation 4. `bound`: workers over work.\n\
               \n\
               The paper does not print the times of the stages: `bench/src/figures/ferret.rs` says how its tables give them.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 10: threads for all stages, with tokens",
        prefixes: &["ferret.tokens20", "ferret.tokens100", "ferret.tokens6p"],
        subject: "ferret.tokens",
        text: "The 6 stages with threads that all stages share (the policy `auto`) and a limit of the items in flight (`tokens`). `paper`:\n\
               equations 7 and 8. `one queue`: M/M/P/PN/PN and equation 8, which the paper calls ideal.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Pools",
        prefixes: &["pools"],
        subject: "",
        text: "A serial stage, a parallel stage with heavy-tailed work and a serial stage in order; efficiency. `ours`: the default policy\n\
           `auto`. `ours(pools C)`: C workers for the parallel stage and one for each other, which share the cores. Above them: the nodes\n\
           that workers have stolen for each 100 firings, under `ws-last`, and the share of the workers' time in tries to steal (the paper\n\
           has less than 0.05 % for TBB's), which the activations in the sample have measured.",
        plots: |_| Vec::new(),
    },
];
