//! The page of task graphs: figures and tables of chapters 5 and 6 of the paper on locality, with ours.

use super::data::Data;
use super::plot::{Lines, Series};
use super::{Plot, Section, series};

pub(super) const HEAD: &str = "\
# Results: task graphs

The figures and tables of chapter 5 of Maglalang, *Locality-Aware Concurrency Platforms*, in three kinds:

- **Measured**: times on this machine, on as many threads as it has cores, at sizes that fit it.
- **Counted** on the virtual host, which runs the engine's decisions in virtual time: remote accesses, steals, and the
  attempts before the first steal, for 20 to 80 workers of 8 domains of 10 cores. They are means over some seeds. A *tick*
  is a step of the virtual host, about 10 ns of its cost table, and **no time**: it has no caches, no limit of bandwidth
  and no contention. In the mean a node lasts as long as the paper's: the serial time of Table 5.1 divided by the nodes.
- **Not measured**: times at 20 to 80 cores (Figures 5.6 and 5.9 in seconds, Tables 5.2 and 5.3 as ratios of times) wait for
  the simulator of the machine's memory, or for a machine with 80 cores. The serial times of Table 5.1 belong to sizes
  of up to 1 TB.

`ours` has good colours, workers prefer their domain after their own colour, and half of the entries move in a steal.
`own colour alone`: workers prefer nothing else, as the paper's do. `one entry`: a thief takes one, as the paper's does.
`random`: no colours, as Nabbit. `openmp-static` and `openmp-guided` are loops over the same nodes, level by level, with
barriers.
`cargo run --release -p thalweg-bench -- sweep locality.` makes all figures.
";

pub(super) const SECTIONS: [Section; 8] = [
    Section {
        title: "Table 5.1: benchmarks (counted)",
        prefixes: &["locality.5-1"],
        subject: "locality.5-1",
        text: "The nodes of our graphs, beside the nodes on the longest path.\n\
               \n\
               Stand-ins: the crawls of uk-2002, twitter and uk-2007 are not to be had, so links are random: in the crawls 95 % go\n\
               to the nearest 8 blocks, in the social network 20 %, and one block in 16 has up to eight times as many. The paper\n\
               does not describe the graphs of cg, mg and fdtd. In ours a block of cg waits for all blocks of the step before and\n\
               reads no data of theirs; mg is a cycle over 64 by 64 blocks, with fewer nodes than the paper's; a block of fdtd needs\n\
               itself and two neighbours.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 5.6: speed-ups (measured)",
        prefixes: &["locality.5-6.time"],
        subject: "locality.5-6",
        text: "The time on one thread (of heat and life in plain loops), divided by that of each contestant: 5 steps a graph of heat\n\
               over 2048 by 2048 numbers and of life over 4096 by 4096 bytes, 10 iterations of PageRank on an R-MAT graph of 2^19 pages, and\n\
               Smith-Waterman in n^3 (1024 letters) and n^2 (16384 letters). Building the graphs of heat and life is not counted:\n\
               each is run again and again. All contestants of PageRank and Smith-Waterman execute the blocks of `thalweg demo pagerank`\n\
               and `thalweg align`, so they call the same compiled functions: peers in a parallel loop for each iteration or\n\
               anti-diagonal, ours in a graph of tasks (`loops`, `static loops`: in such loops). cg, mg and fdtd are left out: their\n\
               programs are written as loops of this engine, which no peer can execute.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 5.6: ratios of ticks (counted, no time)",
        prefixes: &["locality.5-6.ticks"],
        subject: "locality.ticks",
        text: "The ticks of one worker, divided by those of as many as the row says. They show what balance and remote accesses\n\
               allow under the virtual host's costs, in which an access to far memory costs 2.5 of a near one.\n\
               \n\
               Taking half of the entries is about as fast as taking one: a worker offers all of its entries when thieves have taken\n\
               most of what it offered. Where a worker has few nodes (cg, uk-2002, twitter), one entry is still ahead in most\n\
               rows, by up to a third (cg, 40 workers): what a worker adds to few offered entries waits until its node ends. Workers\n\
               that prefer their domain too take fewer ticks than those with their own colour alone, in all benchmarks with 20 to\n\
               80 workers.",
        plots: ticks,
    },
    Section {
        title: "Figure 5.7: remote accesses in per cent (counted)",
        prefixes: &["locality.5-7"],
        subject: "locality.5-7",
        text: "Nodes and predecessors whose data is in another domain than the worker that computes the node, in per cent.\n\
               \n\
               Why ours differs from the paper's 0 to 9 % in cg, mg and the crawls: work runs out. With 80 workers cg has one or two\n\
               nodes a worker and step, uk-2002 two, uk-2007 thirteen, and mg few on its coarse levels. Then many workers search\n\
               at once, most of them of other domains than an entry that is offered, and one of these often finds it first,\n\
               although it makes 64 attempts for its own colour and domain before one for any. The length of a node is no cause:\n\
               with nodes of microseconds the mean over all benchmarks is 29 %, with the paper's 35 %. With more attempts, which\n\
               would cost short nodes time, remote accesses of 80 workers fall: 1024 for each level give 2 % in cg, 5 % in mg, 47 %\n\
               in uk-2002 and 29 % in uk-2007, where the predecessors have data of other domains in 13 and 7 % even with static loops.",
        plots: remote,
    },
    Section {
        title: "Figure 5.8: successful steals (counted)",
        prefixes: &["locality.5-8"],
        subject: "locality.5-8",
        text: "Of all workers. A steal of `ours` and `random` may take several entries.\n\
               \n\
               The paper has far fewer steals with colours. With 80 workers ours has 0.34 to 0.72 of random stealing's in cg, mg,\n\
               fdtd, heat and life, and about as many in uk-2002, uk-2007, sw and swn2. In twitter it has 3.5 times as many with 20\n\
               workers and 0.67 with 80. There most links lead to far blocks, and in a wavefront two blocks enable the next, so a\n\
               node often becomes ready at a worker of another colour. With random stealing it stays there; with colours the worker\n\
               of its colour must steal it. We have not measured how much of the difference this explains.",
        plots: steals,
    },
    Section {
        title: "Figure 5.9: ticks before the first work (counted, no time)",
        prefixes: &["locality.5-9"],
        subject: "locality.5-9",
        text: "The mean over the workers. As in the paper it depends on the number of workers, and not on the benchmark, if all\n\
               colours are near the root. They are not in a wavefront, whose sink needs one block: there workers make all forced\n\
               attempts in vain and give up, which the paper's do not. Then they wait for entries, behind nodes of a million ticks.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Table 5.2: bad colours (counted, ratios of ticks)",
        prefixes: &["locality.table-5-2"],
        subject: "locality.table-5-2",
        text: "Speed over random stealing if each node has the colour of a worker in the other half of the machine. The paper's\n\
               values are ratios of times. It prints the columns of mg and heat again as those of sw and swn2, so these two have no\n\
               value of the paper here.\n\
               \n\
               Against the paper, twitter hardly suffers: 0.98 with 80 workers, 0.41 there. With random stealing 87 % of its accesses are\n\
               remote already (Figure 5.7), and a remote access of the virtual host has a fixed cost, however many there are at once. On\n\
               the paper's machine they also wait for each other. fdtd is slower than random stealing here (0.62 to 0.82\n\
               with 20 to 60 workers), and faster there (1.08 to 1.10).",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Table 5.3: invalid colours (counted, ratios of ticks)",
        prefixes: &["locality.table-5-3"],
        subject: "locality.table-5-3",
        text: "Speed over random stealing if each node has a colour that no worker has. As in Table 5.2, the paper's columns of sw and\n\
               swn2 are those of mg and heat, and are left out.",
        plots: |_| Vec::new(),
    },
];

/// Whether the figures of a section are counts by benchmark or by workers.
pub(super) fn is_counted(subject: &str) -> bool {
    const COUNTED: [&str; 8] = [
        "locality.ticks",
        "locality.5-7",
        "locality.5-8",
        "locality.5-9",
        "locality.table-5-2",
        "locality.table-5-3",
        "locality.6-5",
        "locality.6-6",
    ];
    COUNTED.contains(&subject)
}

/// The benchmarks that have plots: a regular one, an irregular one, and a wavefront.
const PLOTTED: [&str; 3] = ["heat", "uk-2007", "sw"];

fn ticks(data: &Data) -> Vec<Plot> {
    let files = ["locality-5-6-heat", "locality-5-6-uk-2007", "locality-5-6-sw"];
    let shows = ["Ratios of ticks: heat", "Ratios of ticks: uk-2007", "Ratios of ticks: sw"];
    plots(data, files, shows, "locality.5-6.ticks", "ticks of 1 worker / ticks", Some(80.0))
}

fn remote(data: &Data) -> Vec<Plot> {
    let files = ["locality-5-7-heat", "locality-5-7-uk-2007", "locality-5-7-sw"];
    let shows = ["Remote accesses: heat", "Remote accesses: uk-2007", "Remote accesses: sw"];
    plots(data, files, shows, "locality.5-7", "remote accesses (%)", Some(100.0))
}

fn steals(data: &Data) -> Vec<Plot> {
    let files = ["locality-5-8-heat", "locality-5-8-uk-2007", "locality-5-8-sw"];
    let shows = ["Successful steals: heat", "Successful steals: uk-2007", "Successful steals: sw"];
    plots(data, files, shows, "locality.5-8", "successful steals", None)
}

/// A plot for each of the benchmarks, over the workers. Without `top` the axis ends above the highest point.
fn plots(
    data: &Data,
    files: [&'static str; 3],
    shows: [&'static str; 3],
    figure: &str,
    y: &str,
    top: Option<f64>,
) -> Vec<Plot> {
    let plot = |at: usize| {
        let before = format!("{figure}.{}.p", PLOTTED[at]);
        let svg = lines(data, &before, y, top, &["ours", "own colour, one entry", "random"]);
        Plot { file: files[at], shows: shows[at], svg }
    };
    (0..3).map(plot).collect()
}

/// A plot over the workers: the contestants named, and OpenMP's loops in grey.
pub(super) fn lines(
    data: &Data,
    before: &str,
    y: &str,
    top: Option<f64>,
    contestants: &[&str],
) -> Option<String> {
    let line = |&name: &&str| series(data, name, before, "", name);
    let others = ["openmp-static", "openmp-guided"];
    let others = others.iter().map(|name| Series { other: true, ..line(name) });
    let mut series: Vec<Series> = contestants.iter().map(line).chain(others).collect();
    series.retain(|series| !series.points.is_empty());
    let highest = series.iter().flat_map(|series| &series.points).map(|point| point.1).fold(1.0, f64::max);
    let top = top.unwrap_or(highest * 1.1);
    Lines { x: "workers", y, tick: |x| format!("{x}"), top, logarithmic: false, series }.svg()
}
