//! The page of mappings: mappers under `static` beside the policies that choose at run time.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Section;
use super::data::{Data, Figure};

const HEAD: &str = "\
# Results: mappings to caches and workers

Mappers of *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), chapters 2 to 4, under the policy `static`, beside the policies
that choose at run time. Each mapper plans from one run under `auto`. `best`, which is `ours`, is the mapper whose predicted time is
least, with the room between nodes that the plan has without a mapper; the others have the buffers of the thesis. `auto` is what a user
has without a plan.

Not here: the runs with dilated workers and with 4 to 32 of them, Table 4.1 at 4 and 8 processors, which need more cores than 2, and
ferret. Table 4.2's ratios of misses (1.00, 0.83, 0.47, 0.18 with 1, 2, 4, 8 caches) are not reached in a model of caches that evict the
oldest block: a segment that does not fit misses everything, its inner thick edges too, which is more than 0.83 and 0.47 allow.
";

/// The part of the page above the figures: how near each contestant is to the best of a figure.
pub(super) fn head(data: &Data) -> String {
    let figures: Vec<&Figure> = data.starting("map.").filter(|figure| !figure.values.is_empty()).collect();
    let mut text = format!("{HEAD}\n## How near to the best\n\n");
    if figures.is_empty() {
        return text + "Not measured.\n";
    }
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for figure in &figures {
        let least = figure.values.iter().map(|value| value.value).fold(f64::INFINITY, f64::min);
        for value in &figure.values {
            ratios.entry(&value.name).or_default().push(least / value.value);
        }
    }
    let median = |ratios: &[f64]| ratios[ratios.len() / 2];
    let mut rows: Vec<(&str, Vec<f64>)> = ratios.into_iter().collect();
    rows.iter_mut().for_each(|(_, ratios)| ratios.sort_unstable_by(f64::total_cmp));
    rows.sort_by(|(_, a), (_, b)| median(b).total_cmp(&median(a)));
    _ = writeln!(
        text,
        "The least time of a figure over the contestant's: median and least of {} figures (programs and random pipelines). The best of \
         many contestants is partly luck, so the same contestant twice would not reach 1.\n\n| contestant | median | least |\n|---|---|---|",
        figures.len()
    );
    for (name, ratios) in rows {
        _ = writeln!(text, "| {name} | {:.3} | {:.3} |", median(&ratios), ratios[0]);
    }
    text
}

pub(super) const SECTIONS: [Section; 2] = [
    Section {
        title: "Programs",
        prefixes: &["map.program"],
        subject: "",
        text: "DES of 200,000 blocks, whose firings take some 10 ns; LZ77 of 8 MB in blocks of 16 KiB; a network of 64 layers, a quarter of\n\
               the edges thin.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Random pipelines",
        prefixes: &["map.random"],
        subject: "",
        text: "40 modules by the generator of section 3.3.1 for the private cache of this machine. Odd numbers have Zipf's gains, even ones\n\
               uniform gains; times are in turn uniform, Zipf's, correlated with state, and none.",
        plots: |_| Vec::new(),
    },
];
