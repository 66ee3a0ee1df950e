//! The page of the StreamIt compiler: programs against C by hand, dynamic rates, threads.

use super::data::{Data, Figure};
use super::plot::{Bar, Lines, Series, bars};
use super::{Plot, Section, series};

pub(super) const HEAD: &str = "\
# Results: StreamIt programs

The programs of `apps/str` as native code, beside C that was written by hand for each, and under other schedulers.
";

pub(super) const SECTIONS: [Section; 4] = [
    Section {
        title: "One thread, against C by hand",
        prefixes: &[
            "str.fm", "str.fi", "str.time", "str.ff", "str.be", "str.de", "str.bi", "str.dct", "str.ch",
            "str.m",
        ],
        subject: "",
        text: "Nanoseconds for an item of input, input and output in memory. `c` is C written by hand for that program, with the\n\
               same compiler and flags and the same results to the bit. `plain` is what a compiler without optimisation of its own\n\
               gives: a C function for each filter and ring buffers; `fused` is one loop without vectors across firings. Figures of\n\
               two threads: how many times as fast as on one.",
        plots: |data| {
            vec![Plot {
                file: "str",
                shows: "Nanoseconds an item of ten StreamIt programs, ours, C by hand, and plain functions",
                svg: programs(data),
            }]
        },
    },
    Section {
        title: "Dynamic rates: queues",
        prefixes: &["str.dyn.queues", "str.dyn.waits", "str.dyn.work", "str.dyn.os"],
        subject: "dynamic",
        text: "A pipeline of n + 1 operators over n dynamic queues on one thread: nanoseconds for an item and queue. Operators that\n\
               pass on move one item a firing; those that may wait can take more, so that they look for each item and may wait in\n\
               the middle of a firing; those that calculate do 1000 steps together. Batches of 1 hand over each item by itself. Beside\n\
               them the same program with static rates, fused, or with a thread of the operating system for each operator.",
        plots: |data| {
            vec![Plot {
                file: "str-queues",
                shows: "Nanoseconds for an item and queue over the number of dynamic queues",
                svg: queues(data),
            }]
        },
    },
    Section {
        title: "Dynamic rates: applications",
        prefixes: &["str.dyn.huffman", "str.dyn.vwap", "str.dyn.predicate"],
        subject: "applications",
        text: "Nanoseconds for a cell of input on one thread, beside the same regions taking turns on demand, in rounds of one\n\
               steady state in which regions without input have a turn for nothing (`no-op`), and filter by filter (`sequential`).\n\
               Figures of two threads: how many times as fast as on one.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Compiling",
        prefixes: &["str.compile.largest", "str.compile.slowest"],
        subject: "",
        text: "From the text of a program to native code that is ready to run: anew, and found in the cache.",
        plots: |_| Vec::new(),
    },
];

fn programs(data: &Data) -> Option<String> {
    let of = |figure: &Figure| {
        let program = figure.name.strip_prefix("str.")?.strip_suffix(".t1")?.replace('_', " ");
        let bar = |name: &str, who: &str, other| {
            Some(Bar { name: format!("{program}, {name}"), value: figure.of(who)?, other })
        };
        Some([bar("ours", "ours", false), bar("C by hand", "c", true), bar("plain", "plain", true)])
    };
    let all: Vec<Bar> = data.starting("str.").filter_map(of).flatten().flatten().collect();
    bars("nanoseconds an item, logarithmic", &all)
}

fn queues(data: &Data) -> Option<String> {
    let of = |name: &str, before: &str, who: &str| series(data, name, before, "", who);
    let lines = [
        of("batch 1", "str.dyn.queues.batch1.q", "ours"),
        of("default batches", "str.dyn.queues.q", "ours"),
        Series { other: true, ..of("static, fused", "str.dyn.queues.q", "static") },
    ];
    let top = lines.iter().flat_map(|line| &line.points).map(|point| point.1).fold(1.0, f64::max);
    let series = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
    Lines { x: "dynamic queues", y: "ns an item and queue", tick: |x| x.to_string(), top: top * 1.1, series }
        .svg()
}
