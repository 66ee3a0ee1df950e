//! The page of the engine: channels, chains and farms of kernels, the archiver.

use super::data::{Data, Figure};
use super::plot::{Bar, Lines, Series, bars};
use super::{Plot, Section, efficiency, series, time};

pub(super) const HEAD: &str = "\
# Results: the engine

Kernels, channels and the archiver, beside other systems that did the same work in the same run.
";

pub(super) const SECTIONS: [Section; 5] = [
    Section {
        title: "Channels",
        prefixes: &["channel"],
        subject: "channel",
        text: "Nanoseconds for an item from one thread to another, 64 or 1 at a time.",
        plots: |data| {
            let svg = of_items(data, &["channel.slice64", "channel.item"]);
            vec![Plot {
                file: "channel",
                shows: "Nanoseconds an item through a channel, ours and peers",
                svg,
            }]
        },
    },
    Section {
        title: "Chains",
        prefixes: &["chain"],
        subject: "chain",
        text: "Serial stages, each of which works on every item, in order. Without work: nanoseconds for an item and a stage;\n\
               otherwise efficiency.",
        plots: chains,
    },
    Section {
        title: "Farms",
        prefixes: &["farm"],
        subject: "farm",
        text: "A serial source, a parallel stage with heavy-tailed work, a serial sink that gets everything in order. Efficiency;\n\
               the work is that of an item in the mean. Farms with several outputs an item, a loop or a window stand beside the\n\
               plain farm in place of a peer.",
        plots: |data| {
            let (after, t) = (format!(".t{}", data.threads()), data.threads());
            let of = |name, who| series(data, name, "farm.w", &after, who);
            let peers = ["crossbeam", "go", "tbb-pipeline"].map(|who| Series { other: true, ..of(who, who) });
            let lines =
                [of("ours", "ours"), of("ours, as an iterator", "ours(adaptor)")].into_iter().chain(peers);
            let svg = efficiency(&format!("work of an item in the mean, {t} threads"), time, lines.collect());
            vec![Plot { file: "farm", shows: "Efficiency of the ordered farm over the work of an item", svg }]
        },
    },
    Section {
        title: "Dedup",
        prefixes: &["dedup"],
        subject: "dedup",
        text: "Extra processor time: above the archiver's own sequential build. Speed-up: that build's time divided by the\n\
               engine's, over 500 MB.",
        plots: |_| Vec::new(),
    },
    Section {
        title: "Report and idling",
        prefixes: &["report", "idle"],
        subject: "report",
        text: "What the report's time stamps cost where an activation does 1 us of work; processor time of a run that waits for 5 s.",
        plots: |_| Vec::new(),
    },
];

fn chains(data: &Data) -> Vec<Plot> {
    let t = data.threads();
    let costs = [4, 16].map(|stages| format!("chain.s{stages}.w0.t{t}"));
    vec![
        Plot {
            file: "chain-costs",
            shows: "Nanoseconds an item and stage of a chain without work, ours and peers",
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

/// Efficiencies of a chain of four, ours and the peers'.
fn works(data: &Data) -> Option<String> {
    let after = format!(".t{}", data.threads());
    let of = |name: &str, before, who| {
        let mut line = series(data, name, before, &after, who);
        line.points.retain(|(work, _)| *work > 0.0); // without work the figure is a cost
        line
    };
    let peers = ["crossbeam", "go", "tokio"]
        .map(|who| Series { other: true, ..of(&format!("{who}, 4 stages"), "chain.s4.w", who) });
    let lines = [of("ours, 16 stages", "chain.s16.w", "ours"), of("ours, 4 stages", "chain.s4.w", "ours")];
    efficiency("work of a stage", time, lines.into_iter().chain(peers).collect())
}

fn threads(data: &Data) -> Option<String> {
    let mut lines: Vec<_> = ["100ns", "1us", "10us"]
        .map(|work| series(data, &format!("{work} a stage"), &format!("chain.s4.w{work}.t"), "", "ours"))
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
    Lines { x: "threads", y: "speed-up of a chain of 4", tick: |x| x.to_string(), top, series: lines }.svg()
}

/// The costs of an item, of all who took part in these figures.
fn of_items(data: &Data, names: &[&str]) -> Option<String> {
    let found = data.figures.iter().filter(|figure| names.contains(&&*figure.name));
    bars("nanoseconds an item, logarithmic", &found.flat_map(of_figure).collect::<Vec<_>>())
}

fn of_figure(figure: &Figure) -> impl Iterator<Item = Bar> {
    let shown = ["ours", "peer"].into_iter().flat_map(|role| figure.with_role(role));
    shown.map(|value| Bar {
        name: format!("{}, {}", value.name, figure.name.split_once('.').map_or("", |(_, what)| what)),
        value: value.value,
        other: value.role != "ours",
    })
}
