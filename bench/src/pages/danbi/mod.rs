//! The page of the DANBI paper's programs and policies.

mod shares;
mod tables;

use super::data::Data;
use super::plot::{Lines, Series};
use super::{Plot, Section, series};
use std::path::PathBuf;
pub(super) use tables::table;

pub(super) const HEAD: &str = "\
# Results: the programs of DANBI

The seven programs of `apps/danbi` under the policies of the DANBI paper and under `auto`. The paper's machine had 40 cores. Here 1 and
2 workers compute; 1 to 40 workers run in dilated time (`Options::dilate`): kernels compute, and each claim lasts a multiple of
its processor time, for the rest of which its thread sleeps. So the schedule, the variance of firings and the program's branches are
real, and the cost of queues, scheduler and contention is not shown: it is not dilated. The paper's policies run in the paper's mode
(`wait_for_tickets`, and queues of max(P, C) T items by `firings_per_thread(1)`), `auto` as a user has it. All policies run in turn on
the same input, round by round.
Page faults count as processor time of their firings, so they are dilated too. Sessions of dilated figures alone therefore have a heap
that keeps its memory: the bench restarts itself with settings for glibc, which the line `heap` of a file of results names
([bench/README.md](../../bench/README.md)). Files without that line, of 2026-11-28, have glibc's defaults.
";

/// The programs, by the words of their figures' names and by the paper's name, with the file of their plot and what it shows.
const PROGRAMS: [(&str, &str, &str, &str); 7] = [
    ("filter-bank", "FilterBank", "danbi-filter-bank", "Speed-up of FilterBank over workers, by policy"),
    ("fm-radio", "FMRadio", "danbi-fm-radio", "Speed-up of FMRadio over workers, by policy"),
    ("fft2", "FFT2", "danbi-fft2", "Speed-up of FFT2 over workers, by policy"),
    ("tde", "TDE", "danbi-tde", "Speed-up of TDE over workers, by policy"),
    ("merge-sort", "MergeSort", "danbi-merge-sort", "Speed-up of MergeSort over workers, by policy"),
    ("rg", "RG", "danbi-rg", "Speed-up of RG over workers, by policy"),
    ("srad", "SRAD", "danbi-srad", "Speed-up of SRAD over workers, by policy"),
];

/// The policies, with their contestants' names.
const POLICIES: [(&str, &str); 5] =
    [("random", "random"), ("qes", "qes"), ("pss", "pss"), ("prs", "prs"), ("auto", "ours")];

/// The policies of Figure 5, with the file of each picture and what it shows.
const TIMELINES: [(&str, &str, &str); 4] = [
    ("random", "danbi-timeline-rg-random", "What 40 workers of RG do under random"),
    ("qes", "danbi-timeline-rg-qes", "What 40 workers of RG do under qes"),
    ("pss", "danbi-timeline-rg-pss", "What 40 workers of RG do under pss"),
    ("prs", "danbi-timeline-rg-prs", "What 40 workers of RG do under prs"),
];

pub(super) const SECTIONS: [Section; 11] = [
    Section {
        title: "Figure 3: speed-ups",
        prefixes: &["danbi.speedup"],
        subject: "danbi.3",
        text: "By policy and workers in dilated time, the sum of the times of all claims, which one worker would need, over the time of the run:\n\
               the median of the rounds. `most`: the workers of the largest one. A policy whose claims have several firings computes less for the\n\
               same input, since data and code are in the caches, and some ten nanoseconds of each claim are dilated with its firings: the run may be\n\
               shorter than that of a policy with a larger speed-up. The ratios of times in the next section show that.\n\
               In the mean the order of the policies at 40 workers is the paper's, and their values are below its own, since firings stall: *Why firings stall*,\n\
               below, has the reason.\n\
               The figures are `danbi.speedup.PROGRAM.nWORKERS`.",
        plots: speed_ups,
    },
    Section {
        title: "`auto` beside the papers' policies",
        prefixes: &["danbi.computing", "danbi.speedup"],
        subject: "danbi.ratios",
        text: "The time of `auto` over that of each policy in the same round: the geometric mean of the rounds, with its 95 % interval (Student's).\n\
               The policy with the largest ratio is the best one, and decides, if all have run: `pass` if its whole interval is at most 1.03,\n\
               `miss` if all of it is above, and `open` if 1.03 is inside, which more rounds decide (`--runs`). The speed-ups of workers that compute are the time of\n\
               the kernels with one worker over the time of the run, in the same round. Computing RG and SRAD have images of 1024 by 1024 pixels,\n\
               dilated ones of 64 by 48. The figures are `danbi.computing.PROGRAM.nWORKERS` and `danbi.speedup.PROGRAM.nWORKERS`.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 4: where the time goes",
        prefixes: &["danbi.parts", "danbi.costs"],
        subject: "danbi.4",
        text: "Shares of the time of 40 dilated workers, and of 2 that compute, in per cent, in the runs of Figure 3: medians of the rounds. `idle` has no\n\
               name in the paper: there a thread without work looks for some, which is scheduling or stall. `preempted`: a worker's thread waited for\n\
               a core. `OS kernel` is the time of the threads in the operating system's kernel, which is also in the other columns. It is counted in\n\
               ticks of up to 10 ms, so it is coarse in runs of 2 workers. Queue, scheduler and kernel are not dilated, so with 40 workers their\n\
               shares are too small by the dilation. The paper has less stall (MergeSort 19.0 to 13.8, RG 24.8, 13.3 and 0.03) and more queue time (RG 51 to 14): here\n\
               firings are dilated and queues are not. The shares of the workers that compute are nearer to the paper's.\n\
               In the pictures `OS kernel` is a line below the bar. The paper's rows have the shares that its text states; the rest of such a row is\n\
               empty.\n\
               The figures are `danbi.parts.PROGRAM.POLICY` and `danbi.costs.PROGRAM.POLICY`.",
        plots: shares::plots,
    },
    Section {
        title: "Why firings stall",
        prefixes: &["danbi.variance"],
        subject: "danbi.variance",
        text: "RG on the virtual host, where queues and policies cost next to nothing: the share of the time for which 40 workers stall, in per\n\
               cent, by how much the firings of a kernel differ (their standard deviation over their mean; 1 is an exponential distribution).\n\
               Tickets and policies alone make no worker stall. Firings that differ do: they leave in order, so each waits for the slowest of\n\
               those that began before it, of up to 40, and no policy changes that much.\n\
               On workers that compute, eight of ten firings of RG's first filter take 0.8 to 1.3 us. On 40 dilated workers they take 1.5 to 3.8 us, one in\n\
               a hundred 15 us and more, and the coefficient is about 1: a thread that has slept finds cold caches, and page faults, interrupts and wakings of\n\
               other threads, some microseconds each, count as processor time of the firing that they meet. They weigh less in longer firings: with\n\
               images of 512 by 512 pixels, dilated by 120, `qes` and `prs` stall for 38 and 39 % in place of 62 and 59 (single runs of\n\
               2026-11-29). The paper's rows have 1024 pixels. In a build without optimisation, whose firings are longer, rows of 64 pixels\n\
               stall for 6 to 8 % under the four policies, on a small input.\n\
               Another cause was ours, in runs of commits before dbe77563: a worker that sleeps for its turn saw it late by up to 0.3 ms, and turns pass from one\n\
               worker to the next, so these delays added up to one firing in each 0.1 to 0.2 ms. With images of 512 by 512 pixels the stall was 50 to\n\
               55 %, and the speed-ups 15 to 17 in place of 20 to 21. Now the worker before it publishes its firing too.\n\
               A third one was ours too: a kernel counted as claimable while a worker had the firing that its full output waited for, and that worker\n\
               waited for a core. The others claimed the kernel in vain, millions of times a second, and kept both cores busy. MergeSort's workers\n\
               were *preempted* for 17 to 37 % of their time so, and its speed-ups under the paper's policies were 6 to 11.\n\
               The figures are `danbi.variance.rg.POLICY`.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 5: what each worker does",
        prefixes: &["danbi.timeline"],
        subject: "danbi.5",
        text: "RG on 40 dilated workers: a row is a worker, a colour the kernel that it fires, black the time for which it stalls, and grey the\n\
               time without work. Pictures of one run each, and the shares of the workers' time in it.",
        plots: timelines,
    },
    Section {
        title: "Figure 6: user-level threads",
        prefixes: &["danbi.threads"],
        subject: "danbi.6",
        text: "Workers and suspended firings together, whenever a firing is suspended: what the paper's runtime has a thread for. 40 dilated\n\
               workers, `prs`, in the runs of Figure 3. The paper has 43 in the mean and 83 at most.\n\
               The figures are `danbi.threads.PROGRAM`.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 7: queue sizes",
        prefixes: &["danbi.queues"],
        subject: "danbi.7",
        text: "By how much the time of a run differs from that with queues of max(P, C) T items in the same round if they have 1/3, 2/3, 2 and 3 times\n\
               as many, in per cent: the geometric mean, with its 95 % interval. 40 dilated workers, `prs`. The paper has less than 2 %. Here a\n\
               third is too short for firings whose times vary as in Figure 3: a firing that has no room is suspended. The figures are\n\
               `danbi.queues.PROGRAM`.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Dilated time beside real time",
        prefixes: &["danbi.dilation"],
        subject: "danbi.dilation",
        text: "The time of a run on 1 and 2 dilated workers over its dilation of 40, above that of 1 and 2 workers that compute on the same\n\
               input, in per cent.\n\
               The aim of 5 % in both directions is missed. On one thread dilated runs are longer: a thread that has slept finds cold caches,\n\
               and TDE, whose firings of 2 us move 6 KB, most of all. On two they may be shorter: channels, scheduler and what two cores cost\n\
               each other are not dilated. So dilated times compare policies on one input, and do not predict times.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Beside rayon and oneTBB",
        prefixes: &["danbi.peers"],
        subject: "danbi.8",
        text: "Two programs that compute, and their natural forms with the same algorithm and the same bits: whole images in parallel\n\
               (`par_iter`, `parallel_pipeline`), and divide and conquer (`join`, `parallel_invoke`). rayon stands in place of the paper's Cilk.\n\
               `rayon-par_sort` is rayon's own merge sort.\n\
               The merges of the last level write to the result: a sink would copy it on one thread.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figures 1 and 8: StreamIt's barriers",
        prefixes: &["danbi.barrier"],
        subject: "danbi.1",
        text: "The programs in StreamIt, compiled. On one thread: the time of the graphs of `apps/danbi` over theirs. On two: their time on one\n\
               thread over that on two. `ours` divides them among the threads as `thalweg run` does; `data-parallel` has a barrier behind each\n\
               batch (`--mode data`), as StreamIt's backend has.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Sizes of the dilated runs",
        prefixes: &["danbi.size"],
        subject: "danbi.size",
        text: "Firings of the node with the fewest, and of all nodes, by workers. The inputs of many workers are such that a run under `prs` lasts about\n\
               3 s (1.25 s at the points without a verdict), as a run on a small input says. With few workers the same time has fewer\n\
               firings, so runs last up to twice as long for 200 firings of each node: that length bounds what is below 200. The node with the\n\
               fewest firings of RG is a transposition, and of SRAD the statistics, which fire once an image. Images are small (64 by 48 pixels),\n\
               and an input has at most 680 of them. The figures are `danbi.size.PROGRAM.nWORKERS`.",
        plots: |_| Vec::new(),
    },
];

/// The file of a picture of Figure 5, which the figure writes.
pub fn timeline(policy: &str) -> PathBuf {
    super::folder().join(format!("plots/danbi-timeline-rg-{policy}.svg"))
}

/// The pictures of the policies that have been measured.
fn timelines(data: &Data) -> Vec<Plot> {
    let is_measured = |policy: &str| {
        data.starting("danbi.timeline.rg.")
            .any(|figure| figure.run.is_some() && figure.name.ends_with(policy))
    };
    let plot = |(policy, file, shows)| {
        let svg = is_measured(policy).then(|| std::fs::read_to_string(timeline(policy)).ok());
        Plot { file, shows, svg: svg.flatten() }
    };
    TIMELINES.into_iter().map(plot).collect()
}

fn speed_ups(data: &Data) -> Vec<Plot> {
    let plot = |(program, _, file, shows)| Plot { file, shows, svg: speed_up(data, program) };
    PROGRAMS.into_iter().map(plot).collect()
}

/// The speed-ups of a program under each policy.
fn speed_up(data: &Data, program: &str) -> Option<String> {
    let before = format!("danbi.speedup.{program}.n");
    let line = |(name, contestant)| series(data, name, &before, "", contestant);
    let papers =
        ["prs", "pss", "qes", "random"].map(|policy| Series { other: true, ..line((policy, policy)) });
    let mut lines = vec![line(("auto", "ours"))];
    lines.extend(papers);
    lines.retain(|line| !line.points.is_empty());
    Lines {
        x: "workers",
        y: "speed-up",
        tick: |x| x.to_string(),
        top: 40.0,
        logarithmic: false,
        series: lines,
    }
    .svg()
}
