//! The page of pipelines: what a stage's own workers give.

use super::Section;

pub(super) const HEAD: &str = "\
# Results: pipelines

Stages with workers of their own beside workers that go where work is.
";

pub(super) const SECTIONS: [Section; 1] = [Section {
    title: "Pools",
    prefixes: &["pools"],
    subject: "",
    text: "A serial stage, a parallel stage with heavy-tailed work and a serial stage in order; efficiency. `ours`: the default policy\n\
           `auto`. `ours(pools C)`: C workers for the parallel stage and one for each other, which share the cores. Below: the nodes\n\
           that workers have stolen for each 100 firings, under `ws-last`.",
    plots: |_| Vec::new(),
}];
