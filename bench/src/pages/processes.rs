//! The page on processes: the Nornir paper's workloads.

use super::data::Data;
use super::plot::{Bar, Lines, Series, bars};
use super::{Plot, Section, efficiency, paper, papers_points, series};

pub(super) const HEAD: &str = "\
# Results: processes

The workloads of the Nornir paper (Vrba et al., *The Nornir run-time system for parallel programs using Kahn process
networks*) as networks of Kahn processes of this engine.
";

pub(super) const SECTIONS: [Section; 10] = [
    Section {
        title: "Transaction",
        prefixes: &["kpn.transaction"],
        subject: "transaction",
        text: "Two processes send one message to and fro through channels of one slot: nanoseconds for a send, a switch and a\n\
               receive. `accounted` takes time stamps at every switch; `1:1` is this engine with one thread for each process.",
        plots: transaction,
    },
    Section {
        title: "Ring",
        prefixes: &["kpn.ring"],
        subject: "ring",
        text: "One token in a ring of 10^6 processes: nanoseconds per hop. The processes were created in the order of the ring, or\n\
               in a shuffled order.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Memory",
        prefixes: &["kpn.bytes"],
        subject: "",
        text: "Resident bytes of a process in a ring of which all have run and wait, in a program of its own. `prepared`: before\n\
               the run; `page tables` are the kernel's, and not resident.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Pipeline, by message size",
        prefixes: &["kpn.pipeline"],
        subject: "pipeline",
        text: "A chain of 50 processes; each works on every message for the time in the figure's name (`w`). Messages of `b` bytes\n\
               are written and read in place. The peers' messages always have 8 bytes.",
        plots: pipeline,
    },
    Section {
        title: "Scatter-gather",
        prefixes: &["kpn.scatter"],
        subject: "scatter",
        text: "In each round one process sends a task of 100 us to each of `n` workers (256 if the name has no number) and waits\n\
               for all of them. Ours runs under `ws-last`.",
        plots: scatter,
    },
    Section {
        title: "Random network, by work division",
        prefixes: &["kpn.layers"],
        subject: "layers",
        text: "212 processes in 50 layers, 333 channels, 13 cycles; channels hold 64 items (`c64`) or 1 (`c1`). `d` is the paper's\n\
               work division: from d = 10^4 on, a message of the source carries 1/d seconds of work; below, there are about as many\n\
               messages as in the paper, with less work in each. `w`, in other figures, is the work of a message.",
        plots: layers,
    },
    Section {
        title: "Word count",
        prefixes: &["wordcount"],
        subject: "wordcount",
        text: "100 MB of generated text with the word frequencies of Zipf's law: the speed-up over the same table on one thread.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "H.264 encoder",
        prefixes: &["kpn.h264"],
        subject: "h264",
        text: "30 frames through the network of an encoder; reconstructed frames go back to motion estimation and compensation. `n`\n\
               workers for each of P, MC and ME; a frame is split into `r` messages. The times of the stages are a table in the\n\
               program, since the paper does not print its own. With whole frames the dependencies bound the speed-up under any\n\
               scheduler: the limit in the plot follows from the table.",
        plots: encoder,
    },
    Section {
        title: "Policies",
        prefixes: &["kpn."],
        subject: "policies",
        text: "Efficiencies of the same figures under every policy; `1:1` has one thread for each process.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Graph partitioning",
        prefixes: &["gp."],
        subject: "",
        text: "The same workloads under the policy `partition`, which gives each process to one worker, beside other policies.\n\
               With thresholds: the share of idle time at which the graph is divided anew.",
        plots: |_| Vec::new(),
    },
];

fn transaction(data: &Data) -> Vec<Plot> {
    let mut all = Vec::new();
    for figure in data.starting("kpn.transaction") {
        let (what, threads) = figure.name.rsplit_once(".t").unwrap_or((&figure.name, "?"));
        let accounted = if what.ends_with(".accounted") { ", accounted" } else { "" };
        let named = figure.values.iter().filter(|value| value.role != "yardstick");
        all.extend(named.map(|value| Bar {
            name: format!("{}, {threads} threads{accounted}", value.name).replace("1 threads", "1 thread"),
            value: value.value,
            other: value.role != "ours",
        }));
    }
    let papers = paper::on("transaction").into_iter().filter_map(|statement| statement.point);
    all.extend(papers.map(|(_, value, name)| Bar { name: name.into(), value, other: true }));
    let svg = bars("nanoseconds per transaction, logarithmic", "ns", &all);
    vec![Plot { file: "transaction", shows: "Nanoseconds per transaction, ours, peers and the paper", svg }]
}

fn pipeline(data: &Data) -> Vec<Plot> {
    let t = data.threads();
    let of = |w: &str, name: &str| series(data, name, "kpn.pipeline.b", &format!(".w{w}.t{t}"), "ours");
    let lines = vec![of("10us", "10 us per message"), of("1us", "1 us per message")];
    let svg = efficiency("bytes of a message", |x| x.to_string(), lines);
    vec![Plot {
        file: "pipeline",
        shows: "Efficiency of a pipeline of 50 processes over the size of messages",
        svg,
    }]
}

fn scatter(data: &Data) -> Vec<Plot> {
    let after = format!(".w100us.t{}", data.threads());
    let of = |name, contestant| series(data, name, "kpn.scatter.n", &after, contestant);
    let mut lines = vec![of("ws-last", "ours"), of("ws-cur", "ws-cur"), of("auto", "auto"), of("1:1", "1:1")];
    lines.extend(papers_points("scatter"));
    let svg = efficiency("workers", |x| x.to_string(), lines);
    vec![Plot { file: "scatter", shows: "Efficiency of scatter-gather over the number of workers", svg }]
}

fn layers(data: &Data) -> Vec<Plot> {
    let after = format!(".t{}", data.threads());
    let of =
        |c: &str, name, contestant| series(data, name, &format!("kpn.layers.c{c}.d"), &after, contestant);
    let lines = vec![
        of("64", "auto, room for 64", "ours"),
        of("1", "auto, room for 1", "ours"),
        of("64", "ws-last, room for 64", "ws-last"),
        of("64", "1:1, room for 64", "1:1"),
    ];
    let svg = efficiency("work division d", |x| x.to_string(), lines);
    vec![Plot { file: "layers", shows: "Efficiency of the random network over the work division", svg }]
}

fn encoder(data: &Data) -> Vec<Plot> {
    vec![
        Plot {
            file: "h264-workers",
            shows: "Speed-up of the encoder over the number of workers",
            svg: workers(data),
        },
        Plot {
            file: "h264-threads",
            shows: "Speed-up of the encoder over the number of threads",
            svg: threads(data),
        },
    ]
}

/// Converts the efficiencies of lines to speed-ups.
fn sped_up(mut lines: Vec<Series>, by: impl Fn(f64) -> f64) -> Vec<Series> {
    lines.iter_mut().flat_map(|line| &mut line.points).for_each(|(x, y)| *y *= by(*x));
    lines.retain(|line| !line.points.is_empty());
    lines
}

fn workers(data: &Data) -> Option<String> {
    let threads = data.threads() as usize;
    let after = format!(".t{threads}");
    let of = |name, contestant| series(data, name, "kpn.h264.r1.n", &after, contestant);
    let mut lines =
        sped_up(vec![of("auto", "ours"), of("ws-cur", "ws-cur"), of("ws-last", "ws-last")], |_| {
            threads as f64
        });
    let all = lines.first()?.points.iter().map(|(x, _)| *x);
    let limit = |n: f64| thalweg_kpn::H264 { workers: n as usize, ..Default::default() }.limit(threads);
    let limit = Series { name: "limit".into(), points: all.map(|n| (n, limit(n))).collect(), other: true };
    lines.push(limit);
    let y = format!("speed-up on {threads} threads");
    Lines {
        x: "workers of each parallel stage",
        y: &y,
        tick: |x| x.to_string(),
        top: threads as f64,
        logarithmic: false,
        series: lines,
    }
    .svg()
}

fn threads(data: &Data) -> Option<String> {
    let of = |name, rows| series(data, name, &format!("kpn.h264.r{rows}.n8.t"), "", "ours");
    let mut lines = sped_up(vec![of("68 rows per frame", 68), of("whole frames", 1)], |threads| threads);
    let all: Vec<f64> = lines.first()?.points.iter().map(|(x, _)| *x).collect();
    let limit = |threads: f64| thalweg_kpn::H264::default().limit(threads as usize);
    let points = all.iter().map(|t| (*t, limit(*t))).collect();
    lines.push(Series { name: "limit of whole frames".into(), points, other: true });
    let top = data.threads() as f64 * 1.05;
    Lines { x: "threads", y: "speed-up", tick: |x| x.to_string(), top, logarithmic: false, series: lines }
        .svg()
}
