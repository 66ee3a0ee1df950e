//! The page of mappings: mappers under `static` beside the policies that choose at run time.

mod tables;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::data::{Data, Figure};
use super::{Plot, Section};
pub(super) use tables::table;

const HEAD: &str = "\
# Results: mappings to caches and workers

Mappers of *Locality-Aware Concurrency Platforms* (J. Maglalang, 2017), chapters 2 to 4, under the policy `static`, beside the policies
that choose at run time. Each mapper plans from one run under `auto`. `best`, which is `ours`, takes the mapping with the least traffic
between workers of those whose predicted time is within 5 % of the least. It keeps the room between nodes that the plan has without a
mapper, and runs under `static:spare=help`: a worker without a ready segment helps others. The other mappers have the buffers of the
thesis, and no help. `auto` is what a user has without a plan.

The thesis' own figures follow, computed by the virtual host with a private cache for each worker (`map.model.*`), since this machine
has two cores: to 8 workers as there, and to 32 for programs. Figures 3.1 to 3.5 are for 8 workers alone, as there.
";

/// The figures of chapter 3, and what is drawn.
const CHARTS: [(&str, &str); 12] = [
    ("3-1a", "Zipf's gains, no computation"),
    ("3-1b", "uniform gains, no computation"),
    ("3-2a", "uniform gains and times"),
    ("3-2b", "uniform gains, Zipf's times"),
    ("3-2c", "Zipf's gains, uniform times"),
    ("3-2d", "Zipf's gains and times"),
    ("3-3", "times in proportion to state"),
    ("3-4a", "uniform gains and times"),
    ("3-4b", "Zipf's gains and times"),
    ("3-5a", "state M/1024, 1 us"),
    ("3-5b", "state M/16, 10 us"),
    ("3-5c", "state M/2, 50 us"),
];

/// The files of their plots, and the titles.
const FILES: [(&str, &str); 12] = [
    ("map-3-1a", "Figure 3.1a"),
    ("map-3-1b", "Figure 3.1b"),
    ("map-3-2a", "Figure 3.2a"),
    ("map-3-2b", "Figure 3.2b"),
    ("map-3-2c", "Figure 3.2c"),
    ("map-3-2d", "Figure 3.2d"),
    ("map-3-3", "Figure 3.3"),
    ("map-3-4a", "Figure 3.4a"),
    ("map-3-4b", "Figure 3.4b"),
    ("map-3-5a", "Figure 3.5a"),
    ("map-3-5b", "Figure 3.5b"),
    ("map-3-5c", "Figure 3.5c"),
];

fn scatters(data: &Data) -> Vec<Plot> {
    let plot = |((file, shows), (chart, _)): (&(&'static str, &'static str), &(&str, &str))| Plot {
        file,
        shows,
        svg: tables::scatter(data, chart),
    };
    FILES.iter().zip(&CHARTS).map(plot).collect()
}

/// The mappers whose median `best` is compared with: those of section 4.2.2.
const OTHERS: [&str; 4] = ["seg-runtime", "seg-both", "seg-runtime-replicated", "seg-both-replicated"];

/// The part of the page above the figures: how near each contestant is to the best of a figure, and `best` over other mappers.
pub(super) fn head(data: &Data) -> String {
    let figures: Vec<&Figure> = ["map.program.", "map.random."]
        .into_iter()
        .flat_map(|prefix| data.starting(prefix))
        .filter(|figure| !figure.values.is_empty())
        .collect();
    let text = format!("{HEAD}\n## How near to the best\n\n");
    if figures.is_empty() {
        return text + "Not measured.\n";
    }
    text + &near_best(&figures) + &again(data) + &over_others(&figures)
}

/// The second races of `best` and the fastest of a figure.
fn again(data: &Data) -> String {
    let races: Vec<&Figure> =
        data.starting("map.again.").filter(|figure| !figure.values.is_empty()).collect();
    if races.is_empty() {
        return String::new();
    }
    let mut text = "\nWhere `best` was more than 5 % behind, it and the fastest ran again by themselves, three times as often:\n\n\
                    | figure | fastest | its time over that of `best` |\n|---|---|---|\n"
        .to_owned();
    for figure in races {
        let Some(best) = figure.of("best") else { continue };
        let name = figure.name.replacen("map.again.", "map.", 1);
        for other in figure.values.iter().filter(|value| value.name != "best") {
            _ = writeln!(text, "| `{name}` | {} | {:.3} |", other.name, other.value / best);
        }
    }
    text
}

fn near_best(figures: &[&Figure]) -> String {
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for figure in figures {
        let least = figure.values.iter().map(|value| value.value).fold(f64::INFINITY, f64::min);
        for value in &figure.values {
            ratios.entry(&value.name).or_default().push(least / value.value);
        }
    }
    let mut rows: Vec<(&str, Vec<f64>)> = ratios.into_iter().collect();
    rows.iter_mut().for_each(|(_, ratios)| ratios.sort_unstable_by(f64::total_cmp));
    rows.sort_by(|(_, a), (_, b)| median(b).total_cmp(&median(a)));
    let mut text = format!(
        "The least time of a figure over the contestant's: median and least of {} figures (programs and random pipelines). The best of \
         many contestants is partly luck, so the same contestant twice would not reach 1.\n\n| contestant | median | least |\n|---|---|---|\n",
        figures.len()
    );
    for (name, ratios) in rows {
        _ = writeln!(text, "| {name} | {:.3} | {:.3} |", median(&ratios), ratios[0]);
    }
    text
}

/// How many times faster `best` is than the median of the mappers of section 4.2.2.
fn over_others(figures: &[&Figure]) -> String {
    let ratio = |figure: &&Figure| {
        let mut others: Vec<f64> = OTHERS.iter().filter_map(|name| figure.of(name)).collect();
        others.sort_unstable_by(f64::total_cmp);
        Some((!others.is_empty()).then(|| median(&others))? / figure.of("best")?)
    };
    let mut ratios: Vec<f64> = figures.iter().filter_map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(most)) = (ratios.first(), ratios.last()) else { return String::new() };
    format!(
        "\nThe median time of `{}` over that of `best`: {:.2} in the median of {} figures (target 1.15), from {least:.2} to {most:.2}.\n",
        OTHERS.join("`, `"),
        median(&ratios),
        ratios.len()
    )
}

/// The median of sorted numbers: of an even count the mean of both in the middle.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

pub(super) const SECTIONS: [Section; 7] = [
    Section {
        title: "Programs",
        prefixes: &["map.program"],
        subject: "",
        text: "DES of 3.5 million blocks, whose firings take some 10 ns; LZ77 of 28 MB in blocks of 16 KiB; a network of 64 layers, a quarter of\n\
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
    Section {
        title: "Figures 3.1 to 3.5: random pipelines (computed)",
        prefixes: &["map.model.3-", "map.model.handed-"],
        subject: "mapping.3",
        text: "Pipelines of 140 modules on 8 workers, by the virtual host under `static`: points above the line are behind `seg-cache`. The thesis' cache of\n\
               256 KiB, and gains and states, which are parts of it, are a 64th as large here, with blocks of 16 bytes, and a miss costs 48 ns in place\n\
               of 3, so that a cache takes as long to load; times of firings are the thesis'. What hits is free, and so is synchronisation.\n\
               \n\
               Agree: without computation `seg-random` takes more than twice as long as `seg-cache` with Zipf's gains, and about as long with\n\
               uniform ones (3.1); with uniform gains mappers by work are as good as `seg-cache` or better (3.2a, 3.2b), and `seg-both-fit` is\n\
               ahead of both (3.4a).\n\
               \n\
               Where synchronisation is free, `random-assign` is not far behind. In the thesis each edge between workers costs it: with 50 ns for\n\
               each item from another worker (*hand-over* in the table) `random-assign` takes more than twice as long as `seg-cache` with both kinds of gains,\n\
               and with small state and times `bin-emptiest` falls far behind `seg-runtime-greedy` (3.5a), as there.\n\
               \n\
               Differ: with Zipf's gains `seg-cache` is ahead in the thesis and behind here, with hand-over too (3.2c to 3.3, 3.4b, 3.5): a firing\n\
               computes 25 or 4 us in the mean and loads 0.8 us of state, so work outweighs misses, and `seg-cache` does not balance work. That\n\
               follows from the thesis' numbers; what made its misses dearer it does not say.",
        plots: scatters,
    },
    Section {
        title: "Table 4.1: speed-ups (computed)",
        prefixes: &["map.model.speedup"],
        subject: "mapping.4-1",
        text: "Over `seg-runtime` on one worker; the thesis' in brackets. `sr` is `seg-runtime`, `sb` is `seg-both`, `srr` and `sbr` are the same\n\
               with replicas. Computed by the virtual host under `static`, on caches of 256 KiB in sets of 8 blocks of 64 bytes, 3 ns for a miss\n\
               and claims of at most 50 us. A run on one thread has measured the firings; nodes whose names differ in the number alone get the same time.\n\
               Ferret has the times of the [pipeline model's paper](pipelines.md), since the thesis does not print its own.\n\
               \n\
               Why ours differs. DES: two rounds a worker allow nearly 8 on 8 workers, of which the virtual host reaches 6.5; in the thesis\n\
               channels and waiting take the rest, which cost the virtual host next to nothing. Its kernels have no state of their own here, so replicas\n\
               reach 7.2. LZ77: reader and writer copy memory here, and files there, so they take 1 % of the time and replicas reach 7.8, the thesis\n\
               4.4. An item is a pointer to its block of 16 KiB, whose misses (0.8 us) are left out. Ferret: the slow stage takes 84 % of the time\n\
               in that paper, so no mapping without replicas exceeds 1.18; the thesis' 1.5 means 67 %. Reading bounds it at 13. DNN: a layer takes some\n\
               microseconds and the misses of a thick edge 0.2 us, so both mappers have the same segments, as the thesis says of programs that are bound\n\
               by computation; its 5.2 and 7.2 are those of one that is bound by memory. With 32 workers replicas of DNN are behind: shares of\n\
               a run of 200 inputs are too long.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Table 4.1 in dilated time",
        prefixes: &["map.dilated"],
        subject: "mapping.dilated",
        text: "The programs run on workers whose claims compute and then sleep, so that two cores have the schedule of 8, 16 and 40; the speed-up is the sum of\n\
               the times of all claims over the time of the run. In brackets what the virtual host computes, which has no value for 40 workers. What\n\
               the engine does between claims is not dilated. One run of each.\n\
               \n\
               `best` and `auto` keep nearly all workers busy, but `best` those of DES on 16, whose claims are short. The mappers have the thesis'\n\
               buffers: the rounds of DES claim a few firings at a time, so `sr` and `sb` are near the thesis' 4.2 and 5.2 on 8 workers, where the\n\
               virtual host, in which waiting costs next to nothing, reaches 6.5. DES on 40 did not end within 6 minutes and has no value. Without\n\
               replicas one worker has LZ77's compressor; a layer of DNN is one node, so of 64 layers on 40 workers some workers have two.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Table 4.2: misses of DNN for an input (computed)",
        prefixes: &["map.model.misses"],
        subject: "mapping.4-2",
        text: "64 layers of 640 bytes of weights and 0.4 us, in firings of 32 inputs: 8 KiB cross a thick edge and 1,408 bytes a thin one. Caches\n\
               have 448 KiB in sets of 8 blocks of 64 bytes, and a miss costs 30 ns, so that `seg-both` cuts thin edges. Misses are means over 12\n\
               places of the pages among the sets. The thesis does not state its sizes. These were chosen among some hundred by its ratios: with\n\
               8 caches the ratio is that of the edges that are cut, whatever else, and with 2 and 4 it depends on how much of a segment misses.\n\
               \n\
               In the thesis the misses of `seg-runtime` fall with 2 caches, and rise with 4 and 8: segments fit, and more thick edges are cut.\n\
               Here they rise with 8. In caches of one set no sizes give 0.83 and 0.47: a segment that does not fit misses everything, its inner\n\
               thick edges too.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 4.10: plans for 8 workers (computed)",
        prefixes: &["map.model.plan"],
        subject: "mapping.4-10",
        text: "The nodes of each worker, in the order of the data; of a shared node each worker has its part. As in the thesis, `sr` and `sb` divide\n\
               DES evenly (two rounds a worker, and the short nodes at both ends), each worker has a copy of LZ77's compressor, and the\n\
               first and the last also the reader and the writer. DNN is cut every 8 layers, before layers 9, 17 and so on: thick edges.",
        plots: |_| Vec::new(),
    },
];
