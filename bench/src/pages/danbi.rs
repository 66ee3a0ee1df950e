//! The page of the DANBI paper's programs and policies.

use super::data::Data;
use super::plot::{Lines, Series};
use super::{Plot, Section, series};

pub(super) const HEAD: &str = "\
# Results: the programs of DANBI

The seven programs of `apps/danbi` under the policies of the DANBI paper and under `auto`. The paper's machine had 40 cores. Here 1 and
2 workers compute; 5 to 40 workers run in dilated time (`Options::dilate`): kernels compute, and each claim lasts a multiple of
its processor time, for the rest of which its thread sleeps. So the schedule, the variance of firings and the program's branches are
real, and the cost of queues, scheduler and contention is not shown: it is not dilated. The paper's policies run in the paper's mode
(`wait_for_tickets`, and queues of max(P, C) T items by `firings_per_thread(1)`), `auto` as a user has it.
";

/// The programs, by the words of their figures' names, with the file of their plot and what it shows.
const PROGRAMS: [(&str, &str, &str); 7] = [
    ("filter-bank", "danbi-filter-bank", "Speed-up of FilterBank over workers, by policy"),
    ("fm-radio", "danbi-fm-radio", "Speed-up of FMRadio over workers, by policy"),
    ("fft2", "danbi-fft2", "Speed-up of FFT2 over workers, by policy"),
    ("tde", "danbi-tde", "Speed-up of TDE over workers, by policy"),
    ("merge-sort", "danbi-merge-sort", "Speed-up of MergeSort over workers, by policy"),
    ("rg", "danbi-rg", "Speed-up of RG over workers, by policy"),
    ("srad", "danbi-srad", "Speed-up of SRAD over workers, by policy"),
];

pub(super) const SECTIONS: [Section; 4] = [
    Section {
        title: "Figure 3: speed-ups",
        prefixes: &["danbi.speedup"],
        subject: "danbi.3",
        text: "The sum of the times of all claims, which one worker would need, over the time of the run; on 1 and 2 workers the time of\n\
               the kernels with one worker over the time of the run. `ours` is `auto`.",
        plots: speed_ups,
    },
    Section {
        title: "Figure 4: where the time goes",
        prefixes: &["danbi.parts"],
        subject: "danbi.4",
        text: "Shares of the time of 40 dilated workers. `idle` has no name in the paper: there a thread without work looks for some, which\n\
               is scheduling or stall. The part of the OS kernel and the time in which a worker's thread waits for a core are left out. Queue and\n\
               scheduler are not dilated, so their shares are too small by the dilation.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 6: user-level threads",
        prefixes: &["danbi.threads"],
        subject: "danbi.6",
        text: "Workers and suspended firings together, whenever a firing is suspended: what the paper's runtime has a thread for. 40 dilated\n\
               workers, `prs`.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Figure 7: queue sizes",
        prefixes: &["danbi.queues"],
        subject: "danbi.7",
        text: "By how much the time of a run differs from that with queues of max(P, C) T items if they have 1/3, 2/3, 2 and 3 times as many.\n\
               40 dilated workers, `prs`.",
        plots: |_| Vec::new(),
    },
];

fn speed_ups(data: &Data) -> Vec<Plot> {
    let plot = |(program, file, shows)| Plot { file, shows, svg: speed_up(data, program) };
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
