//! The plots of the paper's figures, with our values.

use super::super::data::{Data, Figure};
use super::super::plot::{Lines, Series};
use super::super::{Plot, paper};

pub(super) fn queues(data: &Data) -> Vec<Plot> {
    let lines = vec![throughput(data, "ours, batches of 1", "hybrid.5a.q", "ours")];
    let shows = "Throughput over the number of queues, in batches of 1";
    normalised(("hybrid-5a", shows), "dynamic queues", lines, "5a")
}

pub(super) fn work(data: &Data) -> Vec<Plot> {
    let lines = vec![
        throughput(data, "ours, batches of 1", "hybrid.5b.w", "ours"),
        throughput(data, "ours, default batches", "hybrid.5b.w", "default batches"),
    ];
    let shows = "Throughput over the work of an item";
    normalised(("hybrid-5b", shows), "computations for each item", lines, "5b")
}

pub(super) fn batches(data: &Data) -> Vec<Plot> {
    let mut lines = vec![throughput(data, "batches of 1", "hybrid.5a.q", "ours")];
    for batch in [10, 100, 1000] {
        let (name, before) = (format!("batches of {batch}"), format!("hybrid.5c.batch{batch}.q"));
        lines.push(throughput(data, &name, &before, "ours"));
    }
    let shows = "Throughput over the number of queues, by batch";
    normalised(("hybrid-5c", shows), "dynamic queues", lines, "5c")
}

pub(super) fn large_batches(data: &Data) -> Vec<Plot> {
    let line = of(data, "ours", "hybrid.5d.batch", "", |figure| figure.of("ours"));
    let shows = "Nanoseconds per item over the size of batches";
    logarithmic(("hybrid-5d", shows), ("items in a batch", "ns per item"), vec![line])
}

pub(super) fn less_work(data: &Data) -> Vec<Plot> {
    speeds(data, "hybrid-6a", "6a")
}

pub(super) fn more_work(data: &Data) -> Vec<Plot> {
    speeds(data, "hybrid-6b", "6b")
}

pub(super) fn os_threads(data: &Data) -> Vec<Plot> {
    let fast = |name: &str, contestant: &str| {
        of(data, name, "hybrid.7a.o", "", |figure| Some(figure.of("os-thread")? / figure.of(contestant)?))
    };
    let lines = vec![fast("ours, default batches", "ours"), fast("ours, batches of 1", "batches of 1")];
    let shows = "Speed over that of a thread for each operator, on one processor";
    logarithmic(("hybrid-7a", shows), ("operators", "times as fast as threads"), with_papers(lines, "7a"))
}

pub(super) fn demand(data: &Data) -> Vec<Plot> {
    let (mut lines, before) = (Vec::new(), "hybrid.7b.batch");
    for threads in threads(data, before) {
        let (after, counted) = (format!(".t{threads}"), counted(threads));
        lines.push(of(data, &format!("ours, {counted}"), before, &after, |figure| figure.of("ours")));
        let demand = of(data, &format!("demand, {counted}"), before, &after, |figure| figure.of("demand"));
        lines.push(other(demand));
    }
    let shows = "Nanoseconds per item over the size of batches, by threads";
    logarithmic(("hybrid-7b", shows), ("items in a batch", "ns per item"), lines)
}

pub(super) fn huffman(data: &Data) -> Vec<Plot> {
    let line = |name: &str| million(data, name, "hybrid.8a.t", "", name);
    let (x, y) = ("threads", "million symbols per second");
    linear(
        ("hybrid-8a", "Symbols per second over the threads"),
        (x, y),
        vec![line("ours"), other(line("demand"))],
    )
}

pub(super) fn bargains(data: &Data) -> Vec<Plot> {
    let shows = "Ticks per second over the ticks of a window, by threads";
    events(data, ("hybrid-8b", shows), "hybrid.8b.f", ("ticks in a window", "million ticks per second"))
}

pub(super) fn selected(data: &Data) -> Vec<Plot> {
    let shows = "Heights per second over the inverse selectivity, by threads";
    events(data, ("hybrid-8c", shows), "hybrid.8c.i", ("inverse selectivity", "million heights per second"))
}

/// A line with a point for each figure named `before`, a number, `after`.
fn of(data: &Data, name: &str, before: &str, after: &str, y: impl Fn(&Figure) -> Option<f64>) -> Series {
    Series { name: name.into(), points: data.points(before, after, y), other: false }
}

/// The throughput of a contestant, divided by that of static rates.
fn throughput(data: &Data, name: &str, before: &str, contestant: &str) -> Series {
    of(data, name, before, "", |figure| figure.of(contestant).map(|slowdown| 1.0 / slowdown))
}

/// Millions of items per second, from nanoseconds per item.
fn million(data: &Data, name: &str, before: &str, after: &str, contestant: &str) -> Series {
    of(data, name, before, after, |figure| figure.of(contestant).map(|ns| 1e3 / ns))
}

fn other(series: Series) -> Series {
    Series { other: true, ..series }
}

/// The points of a figure of the paper; those of the same name are one line.
fn papers(number: &str) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    for (x, y, name) in paper::on(&format!("hybrid.{number}")).iter().filter_map(|statement| statement.point)
    {
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push((x, y)),
            None => all.push(Series { name: name.into(), points: vec![(x, y)], other: true }),
        }
    }
    all
}

/// The numbers of threads in the names of the figures that start with `prefix`.
fn threads(data: &Data, prefix: &str) -> Vec<u64> {
    let mut all: Vec<u64> = data.starting(prefix).filter_map(Figure::threads).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn counted(threads: u64) -> String {
    if threads == 1 { "1 thread".into() } else { format!("{threads} threads") }
}

/// The lines and the points of a figure of the paper, if any of the lines was measured.
fn with_papers(mut lines: Vec<Series>, number: &str) -> Vec<Series> {
    if lines.iter().any(|series| !series.points.is_empty()) {
        lines.extend(papers(number));
    }
    lines
}

/// A plot of throughputs, divided by those of static rates, with the paper's points.
fn normalised(file: (&'static str, &'static str), x: &str, lines: Vec<Series>, number: &str) -> Vec<Plot> {
    logarithmic(file, (x, "throughput, static rates = 1"), with_papers(lines, number))
}

/// The speeds of Figures 6a and 6b.
fn speeds(data: &Data, file: &'static str, number: &str) -> Vec<Plot> {
    let before = format!("hybrid.{number}.t");
    let dynamic = of(data, "dynamic rates", &before, "", |figure| figure.of("ours"));
    let fixed = of(data, "static rates", &before, "", |figure| figure.of("static"));
    let perfect = dynamic.points.iter().map(|(threads, _)| (*threads, *threads)).collect();
    let perfect = Series { name: "perfect".into(), points: perfect, other: true };
    let shows = "Speed over the threads, with dynamic and static rates";
    linear((file, shows), ("threads", "speed, static rates on 1 thread = 1"), vec![dynamic, fixed, perfect])
}

/// The throughputs of Figures 8b and 8c, by threads.
fn events(data: &Data, file: (&'static str, &'static str), before: &str, axes: (&str, &str)) -> Vec<Plot> {
    let mut lines = Vec::new();
    for threads in threads(data, before) {
        let (after, counted) = (format!(".t{threads}"), counted(threads));
        lines.push(million(data, &format!("ours, {counted}"), before, &after, "ours"));
        for name in ["no-op", "no-op in vectors"] {
            lines.push(other(million(data, &format!("{name}, {counted}"), before, &after, name)));
        }
    }
    logarithmic(file, axes, lines)
}

fn linear(file: (&'static str, &'static str), axes: (&str, &str), series: Vec<Series>) -> Vec<Plot> {
    plot(file, axes, series, false)
}

fn logarithmic(file: (&'static str, &'static str), axes: (&str, &str), series: Vec<Series>) -> Vec<Plot> {
    plot(file, axes, series, true)
}

/// A plot of the lines that have points.
fn plot(
    (file, shows): (&'static str, &'static str),
    (x, y): (&str, &str),
    mut series: Vec<Series>,
    logarithmic: bool,
) -> Vec<Plot> {
    series.retain(|series| !series.points.is_empty());
    let top = series.iter().flat_map(|series| &series.points).map(|point| point.1).fold(0.0, f64::max);
    let top = top * if logarithmic { 1.5 } else { 1.1 };
    vec![Plot { file, shows, svg: Lines { x, y, tick, top, logarithmic, series }.svg() }]
}

/// A count at an axis, such as `16k` for 2^14.
fn tick(x: f64) -> String {
    let count = x as u64;
    match count.trailing_zeros() {
        20.. if count > 0 => format!("{}M", count >> 20),
        12..20 => format!("{}k", count >> 10),
        _ => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!(
            [1.0, 100.0, 10_000.0, 16_384.0, 67_108_864.0].map(tick),
            ["1", "100", "10000", "16k", "64M"]
        );
    }

    #[test]
    fn points_of_one_name_are_one_line() {
        let [line] = &papers("5a")[..] else { panic!("{:?}", papers("5a")) };
        assert_eq!(line.points, [(1.0, 0.2), (31.0, 0.1)]);
    }
}
