//! The page on the StreamIt compiler: programs against hand-written C, dynamic rates, threads.

use super::data::{Data, Figure};
use super::plot::{Bar, Lines, Series, bars};
use super::{Plot, Section, series};

pub(super) const HEAD: &str = "\
# Results: StreamIt programs

The programs of `apps/str` as native code, compared with hand-written C and with other schedulers.
";

pub(super) const SECTIONS: [Section; 4] = [
    Section {
        title: "One thread, against hand-written C",
        prefixes: &[
            "str.fm", "str.fi", "str.time", "str.ff", "str.be", "str.de", "str.bi", "str.dct", "str.ch",
            "str.m",
        ],
        subject: "",
        text: "Nanoseconds per item of input, with input and output in memory. `c` is C written by hand for that program, with the\n\
               same compiler and flags and the same results to the bit. `plain` is code without our optimisations: a C function for\n\
               each filter, and ring buffers; `fused` is one loop without vectors across firings. `.t2`: the speed-up on two threads.",
        plots: |data| {
            vec![Plot {
                file: "str",
                shows: "Nanoseconds per item of ten StreamIt programs: ours, hand-written C, and plain functions",
                svg: programs(data),
            }]
        },
    },
    Section {
        title: "Dynamic rates: queues",
        prefixes: &["str.dyn.queues", "str.dyn.waits", "str.dyn.work", "str.dyn.os"],
        subject: "dynamic",
        text: "A pipeline of n + 1 operators over n dynamic queues on one thread: nanoseconds per item and queue. The operators of\n\
               `queues` pass on one item per firing; those of `waits` may pop more, so they check for each item and may wait in the\n\
               middle of a firing; those of `work` share 1000 steps of computation. With `batch1` each item is handed over on its\n\
               own. They are compared with the same program with static rates, fused, and with one OS thread for each operator.",
        plots: |data| {
            vec![Plot {
                file: "str-queues",
                shows: "Nanoseconds per item and queue over the number of dynamic queues",
                svg: queues(data),
            }]
        },
    },
    Section {
        title: "Dynamic rates: applications",
        prefixes: &["str.dyn.huffman", "str.dyn.vwap", "str.dyn.predicate"],
        subject: "applications",
        text: "Nanoseconds per cell of input on one thread. Peers are other schedules of the same regions: on demand (`demand`), and\n\
               filter by filter (`sequential`); and programs of static rates that push an item for each one of input, of which\n\
               some are nonces (`no-op`). `.t2`: the speed-up on two threads.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Compiling",
        prefixes: &["str.compile.largest", "str.compile.slowest"],
        subject: "",
        text: "From the text of a program to native code that is ready to run: compiled, and found in the cache.",
        plots: |_| Vec::new(),
    },
];

fn programs(data: &Data) -> Option<String> {
    let of = |figure: &Figure| {
        let program = figure.name.strip_prefix("str.")?.strip_suffix(".t1")?.replace('_', " ");
        let bar = |name: &str, contestant: &str, other| {
            Some(Bar { name: format!("{program}, {name}"), value: figure.of(contestant)?, other })
        };
        Some([bar("ours", "ours", false), bar("C by hand", "c", true), bar("plain", "plain", true)])
    };
    let all: Vec<Bar> = data.starting("str.").filter_map(of).flatten().flatten().collect();
    bars("nanoseconds per item, logarithmic", "ns", &all)
}

fn queues(data: &Data) -> Option<String> {
    let of = |name: &str, before: &str, contestant: &str| series(data, name, before, "", contestant);
    let lines = [
        of("batch 1", "str.dyn.queues.batch1.q", "ours"),
        of("default batches", "str.dyn.queues.q", "ours"),
        Series { other: true, ..of("static, fused", "str.dyn.queues.q", "static") },
    ];
    let top = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(1.0, f64::max);
    let series = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    Lines {
        x: "dynamic queues",
        y: "ns per item and queue",
        tick: |x| x.to_string(),
        top: top * 1.1,
        logarithmic: false,
        series,
    }
    .svg()
}
