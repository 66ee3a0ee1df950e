//! Tables of computed figures.

use super::super::data::{Data, Figure};
use super::super::paper;
use super::super::plot::scatter::{Cloud, Scatter};
use super::super::table::rows;

/// The mappers of Table 4.1, and the programs.
const MAPPERS: [&str; 4] = ["sr", "sb", "srr", "sbr"];
const PROGRAMS: [&str; 4] = ["des", "lz77", "ferret", "dnn"];

/// The table of a section; `None` for the sections of other pages.
pub fn table(subject: &str, data: &Data) -> Option<String> {
    match subject {
        "mapping.3" => Some(charts(data)),
        "mapping.4-1" => Some(speed_ups(data)),
        "mapping.dilated" => Some(dilated(data)),
        "mapping.4-2" => Some(misses(data)),
        "mapping.4-10" => Some(plans(data)),
        _ => None,
    }
}

/// The times over seg-cache's in a chart, by mapper: from the least to the greatest.
pub fn ratios(data: &Data, chart: &str) -> Vec<(String, Vec<f64>)> {
    let mut all: Vec<(String, Vec<f64>)> = Vec::new();
    let prefix = format!("map.model.{chart}.");
    for figure in data.starting(&prefix) {
        let Some(least) = figure.of("seg-cache") else { continue };
        for value in figure.values.iter().filter(|value| value.name != "seg-cache") {
            match all.iter_mut().find(|(name, _)| *name == value.name) {
                Some((_, ratios)) => ratios.push(value.value / least),
                None => all.push((value.name.clone(), vec![value.value / least])),
            }
        }
    }
    all.iter_mut().for_each(|(_, ratios)| ratios.sort_unstable_by(f64::total_cmp));
    all
}

/// A chart as points over seg-cache's time.
pub fn scatter(data: &Data, chart: &str) -> Option<String> {
    let prefix = format!("map.model.{chart}.");
    let mut clouds: Vec<Cloud> = Vec::new();
    for figure in data.starting(&prefix) {
        let Some(x) = figure.of("seg-cache") else { continue };
        for value in figure.values.iter().filter(|value| value.name != "seg-cache") {
            let point = (x, value.value);
            match clouds.iter_mut().find(|cloud| cloud.name == value.name) {
                Some(cloud) => cloud.points.push(point),
                None => clouds.push(Cloud { name: value.name.clone(), points: vec![point] }),
            }
        }
    }
    Scatter { x: "time of seg-cache (ns an item)", y: "time (ns an item)", clouds }.svg()
}

/// The charts, with the mappers' median and range of times over seg-cache's; then those that are computed again with a cost of items from
/// other workers.
fn charts(data: &Data) -> String {
    let mut lines = Vec::new();
    let handed = super::CHARTS.map(|(chart, title)| (format!("handed-{chart}"), chart, title));
    let plain = super::CHARTS.map(|(chart, title)| (chart.to_owned(), chart, title));
    for (name, chart, title) in plain.into_iter().chain(handed) {
        let cost = if name == chart { "" } else { ", hand-over" };
        for (mapper, ratios) in ratios(data, &name) {
            let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
            let range = format!("{least:.2} to {most:.2}, {} pipelines", ratios.len());
            lines.push(vec![
                format!("{}, {title}{cost}", chart.replace('-', ".")),
                mapper,
                format!("{median:.2}"),
                range,
            ]);
        }
    }
    rows(&["figure", "mapper", "median over seg-cache", "least to greatest"], lines.into_iter())
}

/// The figures of a family by the number at the end of their names.
fn by_number<'a>(data: &'a Data, prefix: &str) -> Vec<(u64, &'a Figure)> {
    let number = |figure: &'a Figure| {
        let end = figure.name.strip_prefix(prefix)?;
        Some((end.parse().ok()?, figure)).filter(|_| figure.run.is_some())
    };
    let mut found: Vec<_> = data.figures.iter().filter_map(number).collect();
    found.sort_by_key(|(number, _)| *number);
    found
}

/// Speed-ups by program and mapper.
fn speed_ups(data: &Data) -> String {
    let papers = paper::on("mapping.4-1");
    let of_paper = |workers: f64, name: &str| {
        let mut points = papers.iter().filter_map(|statement| statement.point);
        points.find(|(x, _, of)| *x == workers && *of == name).map(|(_, y, _)| y)
    };
    let workers = [1, 2, 4, 8, 16, 32];
    let mut lines = Vec::new();
    for program in PROGRAMS {
        let computed = by_number(data, &format!("map.model.speedup.{program}.p"));
        for mapper in MAPPERS {
            let cell = |of: &[(u64, &Figure)], workers: u64| {
                let found = of.iter().find(|(number, _)| *number == workers);
                found
                    .and_then(|(_, figure)| figure.of(mapper))
                    .map_or("-".into(), |value| format!("{value:.2}"))
            };
            let row = format!("{program}-{mapper}");
            let ours = workers.iter().map(|workers| {
                let ours = cell(&computed, *workers);
                match of_paper(*workers as f64, &row) {
                    Some(paper) => format!("{ours} ({paper:.1})"),
                    None => ours,
                }
            });
            let ours: Vec<String> = ours.collect();
            lines.push([vec![row], ours].concat());
        }
    }
    let heads = ["", "1 worker", "2 workers", "4", "8", "16", "32"];
    rows(&heads, lines.into_iter())
}

/// Speed-ups in dilated time by program and contestant, with those of the virtual host in brackets.
fn dilated(data: &Data) -> String {
    let workers = [8, 16, 40];
    let mut lines = Vec::new();
    for program in PROGRAMS {
        let measured = by_number(data, &format!("map.dilated.{program}.n"));
        let computed = by_number(data, &format!("map.model.speedup.{program}.p"));
        if measured.is_empty() {
            continue;
        }
        for contestant in MAPPERS.into_iter().chain(["best", "auto"]) {
            let of = |figures: &[(u64, &Figure)], workers: u64| {
                figures.iter().find(|(number, _)| *number == workers)?.1.of(contestant)
            };
            let cell = |workers| match (of(&measured, workers), of(&computed, workers)) {
                (Some(value), Some(computed)) => format!("{value:.2} ({computed:.2})"),
                (Some(value), None) => format!("{value:.2}"),
                (None, _) => "-".into(),
            };
            lines.push([vec![format!("{program}-{contestant}")], workers.map(cell).to_vec()].concat());
        }
    }
    rows(&["", "8 workers", "16", "40"], lines.into_iter())
}

/// Misses of DNN.
fn misses(data: &Data) -> String {
    let papers = paper::on("mapping.4-2");
    let line = |(caches, figure): (u64, &Figure)| {
        let of = |mapper| figure.of(mapper).unwrap_or(f64::NAN);
        let (both, runtime) = (of("seg-both"), of("seg-runtime"));
        let mut points = papers.iter().filter_map(|statement| statement.point);
        let paper = points.find(|(x, ..)| *x == caches as f64).map_or(f64::NAN, |(_, y, _)| y);
        let word = if (both / runtime - paper).abs() <= 0.1 { "agrees" } else { "differs" };
        vec![
            caches.to_string(),
            format!("{runtime:.0}"),
            format!("{both:.0}"),
            format!("{:.2}", both / runtime),
            format!("{paper:.2}: {word}"),
        ]
    };
    let lines = by_number(data, "map.model.misses.p").into_iter().map(line);
    rows(&["caches", "seg-runtime", "seg-both", "ratio", "the paper's ratio, within 0.1"], lines)
}

/// The nodes of each worker.
fn plans(data: &Data) -> String {
    let mut lines = Vec::new();
    for program in PROGRAMS {
        for mapper in MAPPERS {
            let name = format!("map.model.plan.{program}.{mapper}");
            let Some(figure) = data.figures.iter().find(|figure| figure.name == name) else { continue };
            let nodes = figure.values.iter().map(|value| {
                let text = format!("{:.2}", value.value);
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            });
            lines.push([vec![format!("{program}-{mapper}")], nodes.collect()].concat());
        }
    }
    let workers: Vec<String> = (0..8).map(|worker| format!("worker {worker}")).collect();
    let heads: Vec<&str> = std::iter::once("").chain(workers.iter().map(|name| &**name)).collect();
    rows(&heads, lines.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::recorded;

    /// Table 4.2 as recorded: the ratio with 1, 2, 4 and 8 caches is within 0.1 of the thesis'.
    #[test]
    fn the_recorded_misses_agree_with_the_paper() {
        let table = misses(&Data::read(&recorded().unwrap()).unwrap());
        assert_eq!(
            (table.matches(": agrees").count(), table.matches(": differs").count()),
            (4, 0),
            "{table}"
        );
    }
}
