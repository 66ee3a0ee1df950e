//! The page on the engine: channels, chains and farms of kernels, the archiver.

use super::data::{Data, Figure};
use super::plot::{Bar, Lines, Series, bars};
use super::{Plot, Section, efficiency, series, time};

pub(super) const HEAD: &str = "\
# Results: the engine

Kernels, channels and the archiver, and other systems that did the same work in the same run.
";

pub(super) const SECTIONS: [Section; 5] = [
    Section {
        title: "Channels",
        prefixes: &["channel"],
        subject: "channel",
        text: "Nanoseconds per item from one thread to another, 64 items or 1 item at a time.",
        plots: |data| {
            let svg = of_items(data, &["channel.slice64", "channel.item"]);
            vec![Plot {
                file: "channel",
                shows: "Nanoseconds per item through a channel, ours and peers",
                svg,
            }]
        },
    },
    Section {
        title: "Chains",
        prefixes: &["chain"],
        subject: "chain",
        text: "`s` serial stages in order; each stage does `w` of work on every item. Without work: nanoseconds per item and stage;\n\
               otherwise efficiency.",
        plots: chains,
    },
    Section {
        title: "Farms",
        prefixes: &["farm"],
        subject: "farm",
        text: "A serial source, a parallel stage with heavy-tailed work of mean `w`, a serial sink that receives the results in order.\n\
               `outputs03` (several outputs per item), `rounds13` (a loop) and `peek64` (a window) are compared with the plain\n\
               farm in place of a peer.",
        plots: |data| {
            let (after, t) = (format!(".t{}", data.threads()), data.threads());
            let of = |name, contestant| series(data, name, "farm.w", &after, contestant);
            let peers =
                ["crossbeam", "go", "tbb-pipeline"].map(|peer| Series { other: true, ..of(peer, peer) });
            let lines =
                [of("ours", "ours"), of("ours, as an iterator", "ours(adaptor)")].into_iter().chain(peers);
            let svg = efficiency(&format!("mean work of an item, {t} threads"), time, lines.collect());
            vec![Plot { file: "farm", shows: "Efficiency of the ordered farm over the work of an item", svg }]
        },
    },
    Section {
        title: "Dedup",
        prefixes: &["dedup"],
        subject: "dedup",
        text: "`overhead`: processor time above that of the archiver's sequential build, in per cent; `speedup`: the time of that\n\
               build divided by the engine's, over 500 MB in memory; `files`: the speed-up from files to a file.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Report and idling",
        prefixes: &["report", "timeline", "live", "idle"],
        subject: "report",
        text: "The cost of the report's time stamps if an activation does 1 us of work, and in processor time in a chain and a farm whose\n\
               activations end by their firings (`ours(default)`: by the clock); the costs of a timeline and of the live view\n\
               in the same run, and the time of a snapshot; the processor time of a run that waits for 5 s.",
        plots: |_| Vec::new(),
    },
];

fn chains(data: &Data) -> Vec<Plot> {
    let t = data.threads();
    let costs = [4, 16].map(|stages| format!("chain.s{stages}.w0.t{t}"));
    vec![
        Plot {
            file: "chain-costs",
            shows: "Nanoseconds per item and stage of a chain without work, ours and peers",
            svg: of_items(data, &costs.each_ref().map(|name| &**name)),
        },
        Plot { file: "chain", shows: "Efficiency of a chain over the work of a stage", svg: works(data) },
        Plot {
            file: "chain-threads",
            shows: "Speed-up of a chain over the number of threads",
            svg: threads(data),
        },
    ]
}

/// The efficiencies of a chain of four stages, ours and the peers'.
fn works(data: &Data) -> Option<String> {
    let after = format!(".t{}", data.threads());
    let of = |name: &str, before, contestant| {
        let mut line = series(data, name, before, &after, contestant);
        line.points.retain(|(work, _)| *work > 0.0); // without work the figure is a cost
        line
    };
    let peers = ["crossbeam", "go", "tokio"]
        .map(|peer| Series { other: true, ..of(&format!("{peer}, 4 stages"), "chain.s4.w", peer) });
    let lines = [of("ours, 16 stages", "chain.s16.w", "ours"), of("ours, 4 stages", "chain.s4.w", "ours")];
    efficiency("work of a stage", time, lines.into_iter().chain(peers).collect())
}

fn threads(data: &Data) -> Option<String> {
    let mut lines: Vec<_> = ["100ns", "1us", "10us"]
        .map(|work| series(data, &format!("{work} per stage"), &format!("chain.s4.w{work}.t"), "", "ours"))
        .into();
    lines.iter_mut().flat_map(|line| &mut line.points).for_each(|(threads, y)| *y *= *threads);
    lines.retain(|line| !line.points.is_empty());
    let all: Vec<f64> = lines.first()?.points.iter().map(|(threads, _)| *threads).collect();
    lines.push(Series {
        name: "perfect".into(),
        points: all.iter().map(|t| (*t, *t)).collect(),
        other: true,
    });
    let top = data.threads() as f64 * 1.1;
    Lines {
        x: "threads",
        y: "speed-up of a chain of 4",
        tick: |x| x.to_string(),
        top,
        logarithmic: false,
        series: lines,
    }
    .svg()
}

/// The costs per item of all contestants in these figures.
fn of_items(data: &Data, names: &[&str]) -> Option<String> {
    let found = data.figures.iter().filter(|figure| names.contains(&&*figure.name));
    bars("nanoseconds per item, logarithmic", "ns", &found.flat_map(of_figure).collect::<Vec<_>>())
}

fn of_figure(figure: &Figure) -> impl Iterator<Item = Bar> {
    let shown = ["ours", "peer"].into_iter().flat_map(|role| figure.with_role(role));
    shown.map(|value| Bar {
        name: format!("{}, {}", value.name, figure.name.split_once('.').map_or("", |(_, what)| what)),
        value: value.value,
        other: value.role != "ours",
    })
}
