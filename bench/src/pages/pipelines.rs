//! The page of pipelines: what a stage's own workers give.

use super::Section;

pub(super) const HEAD: &str = "\
# Results: pipelines

Pipelines beside the queueing models of `crates/queueing`, and stages with workers of their own beside workers that go where work
is.

## How far to believe a prediction

200 random pipelines of 2 to 6 stages, sequential and parallel, with capacities from 1 to 32 and coefficients of variation from 0
to 2, beside what the report of the same run predicts: [pipelines.tsv](pipelines.tsv), by `crates/thalweg/tests/pipelines.rs`
([how to run it](../checks.md)). Two AMD EPYC cores beside other work (2026-11-28). Most stages sleep 1 to 5 ms in place of
computing, so that up to 64 workers keep their schedule on two cores. Relative errors, median and 95th percentile. `paper`:
equation 4 for workers of each stage, equations 7 and 8 for shared ones.

| pipelines | number | ours | paper | threads over work |
|---|---|---|---|---|
| all | 200 | 1.8 %, 15 % | 11 %, 92 % | 31 %, 251 % |
| sleeping, 4 to 64 shared workers | 80 | 2.5 %, 17 % | 44 %, 110 % | 70 %, 266 % |
| sleeping, 1 to 32 workers for each stage | 80 | 2.3 %, 12 % | 8 %, 41 % | 50 %, 253 % |
| computing, 1 and 2 workers | 40 | 0.0 %, 14 % | 0 %, 48 % | 0 %, 48 % |
| the last with 2 workers | 17 | 6.9 %, 16 % | 9 %, 53 % | 9 %, 53 % |

In the virtual host, 60 of each kind (`crates/sim/tests/pipelines.rs`): 1.9 % and 7.9 % for workers of each stage, 1.7 % and
8.9 % for shared ones. One worker is exact: it always finds a stage with input and room.

Programs of this repository, each on 1 and 2 workers: `dedup pack` of 44 MB 0.0 % and +4.3 %, a pipeline of 20 processes 0.0 % and
+2.3 %, `wordcount` of 47 MB +3.7 % and +18 %. Loops have no model.

The model of a channel is the engine's: items in service and results under way take places of it, so two exponential stages and
K places reach K / (K + 1) of the bound. Predicted times of items are not near the measured ones (41 % in the median): a report
samples the items of a channel as activations begin, and so sees a channel rarely empty.

## Figure 11: sizes

By equations 9 to 11 with the times below, as `crates/queueing/tests/errata.rs` computes them. The equations have no finite solution, so a tolerance
decides:

| | the paper | 1 % | 5 % | 10 % |
|---|---|---|---|---|
| items a buffer, 6 stages, 12 workers a stage | 21 | 24 | 22 | 21 |
| items a buffer, 3 stages, 15 workers | 24 | 25 | 24 | 22 |
| tokens a thread, ferret and dedup | 5, 3 | 5 | 4 | 3 |
| workers a stage that reach the bound by reading, 6 stages, N = 21 | 12 (N = 20) | none | none | 12 |
| workers that reach it, 3 stages, N = 24 | 15 (N = 20) | none | 13 (15 for 2 %) | 12 |
| threads that reach it, ferret, 5 tokens a thread | 15 | 14 | 13 | 12 |

With N = 20 no number of workers reaches the bound: equation 4 has the ceiling N / (Tarr + Tser), 94 of 105 items a second for 6
stages. Modelled to 128 threads with room for 20, ours stays at 73 of 105 from 16 workers on, equation 4 at 94; with room
for 100 both reach 105 at 12. The measurements below are within 9 % of ours but for 3 stages with room for 20 and 8 to 62 workers,
which ours predicts 14 % to 32 % high: there the channel is the stage's reorder window too, and a long firing stops all others.
";

pub(super) const SECTIONS: [Section; 3] = [
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
           `auto`. `ours(pools C)`: C workers for the parallel stage and one for each other, which share the cores. Below: the nodes\n\
           that workers have stolen for each 100 firings, under `ws-last`.",
        plots: |_| Vec::new(),
    },
];
