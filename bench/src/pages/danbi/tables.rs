//! The tables of the page, which have a row for each program and a column for what its figures' names end in.

use super::super::data::{Data, Figure};
use super::super::table::rows;
use super::{POLICIES, PROGRAMS};
use crate::figures::DANBI_PARTS as PARTS;
use crate::ratio::Ratio;

/// The workers of the paper's machine.
const MAX_WORKERS: u64 = 40;

/// The table of a section; `None` for the sections of other pages. `number_of` has the number of a run.
pub fn table(subject: &str, data: &Data, number_of: impl Fn(usize) -> usize) -> Option<String> {
    let run = |figures: &[&Figure]| runs(figures, &number_of);
    match subject {
        "danbi.3" => Some(speed_ups(data, run) + "\n" + &means(data)),
        "danbi.ratios" => Some(ratios(data, run)),
        "danbi.4" => Some(parts(data, run)),
        "danbi.variance" => Some(variance(data, run)),
        "danbi.6" => Some(threads(data, run)),
        "danbi.7" => Some(queues(data, run)),
        "danbi.size" => Some(sizes(data, run)),
        _ => None,
    }
}

/// The figures of a family for a program that have been measured, with what their names end in.
fn of<'a>(data: &'a Data, family: &str, program: &str) -> Vec<(&'a str, &'a Figure)> {
    let before = format!("danbi.{family}.{program}.");
    let figure = |figure: &'a Figure| Some((figure.name.strip_prefix(&before)?, figure));
    data.figures.iter().filter(|figure| figure.run.is_some()).filter_map(figure).collect()
}

/// The figure of a family for a program that has no other word in its name.
pub fn one<'a>(data: &'a Data, family: &str, program: &str) -> Option<&'a Figure> {
    let name = format!("danbi.{family}.{program}");
    data.figures.iter().find(|figure| figure.name == name && figure.run.is_some())
}

/// The figures of a family for a program by their numbers of workers.
fn by_workers<'a>(data: &'a Data, family: &str, program: &str) -> Vec<(u64, &'a Figure)> {
    let number = |(word, figure): (&str, &'a Figure)| Some((word.strip_prefix('n')?.parse().ok()?, figure));
    of(data, family, program).into_iter().filter_map(number).collect()
}

/// All numbers of workers of a family.
fn workers(data: &Data, family: &str) -> Vec<u64> {
    let of = |(program, ..): &(&str, _, _, _)| by_workers(data, family, program);
    let mut all: Vec<u64> = PROGRAMS.iter().flat_map(of).map(|(workers, _)| workers).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The numbers of the runs that measured these figures, and whether one is noisy.
fn runs(figures: &[&Figure], number_of: impl Fn(usize) -> usize) -> String {
    let mut numbers: Vec<usize> = figures.iter().filter_map(|figure| figure.run).map(number_of).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let noisy = if figures.iter().any(|figure| figure.noisy) { ", noisy" } else { "" };
    format!("{}{noisy}", numbers.join(", "))
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1}"))
}

/// The mean; `None` unless all values are there.
pub fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Figure 3: a row for each program and policy, a column for each number of workers.
fn speed_ups(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    let workers = workers(data, "speedup");
    let names: Vec<String> = workers.iter().map(u64::to_string).collect();
    let heads: Vec<&str> = ["program", "policy"]
        .into_iter()
        .chain(names.iter().map(String::as_str))
        .chain(["most", "run"])
        .collect();
    let lines = PROGRAMS.into_iter().flat_map(|(program, name, ..)| {
        let figures = by_workers(data, "speedup", program);
        let used: Vec<&Figure> = figures.iter().map(|(_, figure)| *figure).collect();
        let run = run(&used);
        let (workers, is_measured) = (workers.clone(), !figures.is_empty());
        let policies = POLICIES.into_iter().filter(move |_| is_measured);
        policies.map(move |(policy, contestant)| {
            let value = |count: &u64| figures.iter().find(|(of, _)| of == count)?.1.of(contestant);
            let points: Vec<_> = workers.iter().filter_map(|count| Some((*count, value(count)?))).collect();
            let peak = points.iter().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| points.len() > 1);
            let peak = peak.map_or("-".into(), |(count, _)| count.to_string());
            let head = [name.to_owned(), format!("`{policy}`")];
            let cells = workers.iter().map(|count| number(value(count)));
            head.into_iter().chain(cells).chain([peak, run.clone()]).collect()
        })
    });
    rows(&heads, lines.collect::<Vec<_>>().into_iter())
}

/// The mean of all programs with the paper's number of workers.
fn means(data: &Data) -> String {
    let heads: Vec<String> =
        [String::new()].into_iter().chain(POLICIES.map(|(policy, _)| format!("`{policy}`"))).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let value = |program: &str, contestant: &str| {
        let figures = by_workers(data, "speedup", program);
        figures.iter().find(|(workers, _)| *workers == MAX_WORKERS)?.1.of(contestant)
    };
    let cells = POLICIES
        .map(|(_, contestant)| number(mean(PROGRAMS.iter().map(|(program, ..)| value(program, contestant)))));
    let name = format!("mean of the seven programs, {MAX_WORKERS} workers");
    rows(&heads, std::iter::once([name].into_iter().chain(cells).collect()))
}

/// The paired ratios of `auto` to each policy, where it has a target.
fn ratios(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    let heads =
        ["program", "workers", "speed-up of `auto`", "`random`", "`qes`", "`pss`", "`prs`", "verdict", "run"];
    let mut verdicts = Vec::new();
    let mut lines = Vec::new();
    for (program, name, ..) in PROGRAMS {
        for (family, word) in [("computing", "computing"), ("speedup", "dilated")] {
            let figures = by_workers(data, family, program).into_iter();
            for (workers, figure) in figures.filter(|(_, figure)| figure.target != "-") {
                let verdict = if figure.verdict() == "-" { "open" } else { figure.verdict() };
                verdicts.push(verdict);
                let head = [name.into(), format!("{workers}, {word}"), number(figure.of("ours"))];
                let papers = POLICIES.iter().filter(|(_, contestant)| *contestant != "ours");
                let cells =
                    papers.map(|(policy, _)| ratio(figure, policy).map_or("-".into(), Ratio::to_string));
                let cells: Vec<String> =
                    head.into_iter().chain(cells).chain([verdict.into(), run(&[figure])]).collect();
                lines.push(cells);
            }
        }
    }
    if lines.is_empty() {
        return "Not measured.\n".into();
    }
    let count = |word: &str| verdicts.iter().filter(|verdict| **verdict == word).count();
    format!(
        "{}\nOf {} rows `auto` passes {}, misses {}, and {} are open.\n",
        rows(&heads, lines.into_iter()),
        verdicts.len(),
        count("pass"),
        count("miss"),
        count("open")
    )
}

/// The ratio of a figure that concerns a contestant: of ours to it, or of it to the yardstick.
fn ratio<'a>(figure: &'a Figure, contestant: &str) -> Option<&'a Ratio> {
    figure
        .ratios
        .iter()
        .find(|ratio| if ratio.of == "ours" { ratio.to == contestant } else { ratio.of == contestant })
}

/// Figure 4: a row for each program and policy, and the means over the programs.
fn parts(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    let heads: Vec<&str> = ["program", "policy", "workers"].into_iter().chain(PARTS).chain(["run"]).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (family, workers) in [("parts", "40, dilated"), ("costs", "2, computing")] {
        let figure = |program: &str, policy: &str| one(data, family, &format!("{program}.{policy}"));
        for (program, name, ..) in PROGRAMS {
            for (policy, figure) in POLICIES.map(|(policy, _)| (policy, figure(program, policy))) {
                let Some(figure) = figure else { continue };
                let cells = PARTS.map(|part| number(figure.of(part)));
                let head = [name.into(), format!("`{policy}`"), workers.into()];
                lines.push(head.into_iter().chain(cells).chain([run(&[figure])]).collect());
            }
        }
        for (policy, _) in POLICIES {
            let figures: Vec<_> =
                PROGRAMS.iter().filter_map(|(program, ..)| figure(program, policy)).collect();
            if figures.len() == PROGRAMS.len() {
                let cells = PARTS.map(|part| number(mean(figures.iter().map(|figure| figure.of(part)))));
                let head = ["mean".into(), format!("`{policy}`"), workers.into()];
                lines.push(head.into_iter().chain(cells).chain([run(&figures)]).collect());
            }
        }
    }
    rows(&heads, lines.into_iter())
}

/// Stalls by how much firings differ: a row for each policy.
fn variance(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    const COSTS: [&str; 5] = ["equal", "0.1", "0.3", "0.6", "1"];
    let heads: Vec<&str> = ["policy"].into_iter().chain(COSTS).chain(["run"]).collect();
    let lines = POLICIES.iter().filter_map(|(policy, _)| {
        let figure = one(data, "variance", &format!("rg.{policy}"))?;
        let cells = COSTS.map(|cost| number(figure.of(cost)));
        Some([format!("`{policy}`")].into_iter().chain(cells).chain([run(&[figure])]).collect())
    });
    rows(&heads, lines)
}

/// Figure 6, and all programs together.
fn threads(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    let figures: Vec<(&str, &Figure)> = PROGRAMS
        .iter()
        .filter_map(|(program, name, ..)| Some((*name, one(data, "threads", program)?)))
        .collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for (name, figure) in &figures {
        lines.push(vec![
            (*name).into(),
            number(figure.of("mean")),
            number(figure.of("most")),
            run(&[figure]),
        ]);
    }
    if figures.len() == PROGRAMS.len() {
        let most = figures.iter().filter_map(|(_, figure)| figure.of("most")).reduce(f64::max);
        let mean = mean(figures.iter().map(|(_, figure)| figure.of("mean")));
        let used: Vec<&Figure> = figures.iter().map(|(_, figure)| *figure).collect();
        lines.push(vec!["all".into(), number(mean), number(most), run(&used)]);
    }
    rows(&["program", "mean", "most", "run"], lines.into_iter())
}

/// Figure 7: a column for each factor.
fn queues(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    const FACTORS: [&str; 4] = ["1/3", "2/3", "2", "3"];
    let heads: Vec<&str> = ["program"].into_iter().chain(FACTORS).chain(["run"]).collect();
    let percent = |ratio: f64| format!("{:+.1}", 100.0 * (ratio - 1.0));
    let cell = |ratio: &Ratio| {
        let interval = ratio.interval.map(|(low, high)| format!(" ({} to {})", percent(low), percent(high)));
        percent(ratio.mean) + &interval.unwrap_or_default()
    };
    let lines = PROGRAMS.iter().filter_map(|(program, name, ..)| {
        let figure = one(data, "queues", program)?;
        let cells = FACTORS.map(|factor| ratio(figure, factor).map_or("-".into(), cell));
        Some([(*name).to_owned()].into_iter().chain(cells).chain([run(&[figure])]).collect())
    });
    rows(&heads, lines)
}

/// The firings of the dilated runs.
fn sizes(data: &Data, run: impl Fn(&[&Figure]) -> String) -> String {
    let workers = workers(data, "size");
    let names: Vec<String> = workers.iter().map(u64::to_string).collect();
    let heads: Vec<&str> =
        ["program"].into_iter().chain(names.iter().map(String::as_str)).chain(["run"]).collect();
    let lines = PROGRAMS.iter().filter_map(|(program, name, ..)| {
        let figures = by_workers(data, "size", program);
        let used: Vec<&Figure> = figures.iter().map(|(_, figure)| *figure).collect();
        let cell = |count: &u64| {
            let figure = figures.iter().find(|(of, _)| of == count)?.1;
            Some(format!("{:.0} of {:.0}", figure.of("fewest")?, figure.of("all")?))
        };
        let cells = workers.iter().map(|count| cell(count).unwrap_or_else(|| "-".into()));
        let line = [(*name).to_owned()].into_iter().chain(cells).chain([run(&used)]).collect();
        (!figures.is_empty()).then_some(line)
    });
    rows(&heads, lines)
}
