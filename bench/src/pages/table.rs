//! Tables in Markdown.

use std::fmt::Write as _;

use super::data::{Data, Figure, Value};
use super::names::in_words;
use super::paper::Statement;

/// The figures of a section with the values of all contestants, the target and the verdict.
pub fn figures(figures: &[&Figure], number_of: impl Fn(usize) -> usize) -> String {
    let mut text = String::from(
        "| figure | ours | peers | also measured | target | run | name |\n|---|---|---|---|---|---|---|\n",
    );
    for figure in figures {
        let many = |role| join(&figure.with_role(role), &figure.unit);
        let none = if figure.run.is_none() { "not measured" } else { "-" };
        let ours =
            figure.with_role("ours").first().map_or(none.into(), |ours| number(ours.value, &figure.unit));
        let run = figure.run.map_or("-".into(), |run| number_of(run).to_string());
        let target = target(&figure.target, &figure.unit);
        let target = if figure.verdict() == "-" { target } else { format!("{target}: {}", figure.verdict()) };
        let noisy = if figure.noisy { ", noisy" } else { "" };
        let slow_split = if figure.has_slow_split() { ", slow split" } else { "" };
        _ = writeln!(
            text,
            "| {} | {ours} | {} | {} | {target} | {run}{noisy}{slow_split} | `{}` |",
            in_words(&figure.name),
            many("peer"),
            many("aside"),
            figure.name,
        );
    }
    text
}

/// A table with these heads.
pub fn rows(heads: &[&str], lines: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    lines.for_each(|line| _ = writeln!(text, "| {} |", line.join(" | ")));
    text
}

/// The statements of the papers.
pub fn papers(statements: &[Statement]) -> String {
    let mut text = String::from("| in the paper | value | where |\n|---|---|---|\n");
    for Statement { paper, what, value, place, .. } in statements {
        let title = paper.split_once(':').map_or(*paper, |(title, _)| title);
        _ = writeln!(text, "| {what} | {value} | {title}, {place} |");
    }
    text
}

/// The figures that ran under several policies, with the ratio of `auto` to the best of them.
pub fn policies(figures: &[&Figure]) -> String {
    let mut names = vec!["auto", "ws-cur", "ws-last"];
    for value in figures.iter().flat_map(|figure| figure.with_role("aside")) {
        if !names.contains(&&*value.name) {
            names.push(&value.name);
        }
    }
    let heads: String = names.iter().map(|name| format!(" `{name}` |")).collect();
    let mut text =
        format!("| figure |{heads} `auto` over the best |\n|---|{}---|\n", "---|".repeat(names.len()));
    for figure in figures {
        let values: Vec<_> = names.iter().map(|policy| policy_value(figure, policy)).collect();
        let cells = values.iter().map(|value| value.map_or("-".into(), |value| number(value, &figure.unit)));
        let best = values[1..].iter().flatten().copied().fold(f64::NAN, f64::max);
        let ratio = values[0].map_or("-".into(), |auto| format!("{:.3}", auto / best));
        _ = writeln!(
            text,
            "| {} | {} | {ratio} |",
            in_words(&figure.name),
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
    text
}

/// The value of a figure of processes under a policy. `ours` ran under `ws-last` if the figure has a contestant `auto`,
/// and under `auto` otherwise.
pub fn policy_value(figure: &Figure, policy: &str) -> Option<f64> {
    let ours = if figure.of("auto").is_some() { "ws-last" } else { "auto" };
    figure.of(if policy == ours { "ours" } else { policy })
}

/// The counts of a section, whose figures have names that end in a benchmark and a number of workers, or in that number
/// alone: a column for each benchmark, or else for each number of workers. Points of the paper, which name a benchmark,
/// stand below ours.
pub fn counts(figures: &[&Figure], papers: &[Statement]) -> String {
    let mut cells: Vec<(String, String, String)> = Vec::new();
    for figure in figures {
        let [.., before, workers] = &figure.name.split('.').collect::<Vec<_>>()[..] else { continue };
        let workers = match workers.trim_start_matches('p') {
            "1" => "1 worker".to_owned(),
            number => format!("{number} workers"),
        };
        for value in
            figure.with_role("ours").into_iter().chain(figure.values.iter().filter(|v| v.role == "aside"))
        {
            let cell = plain(value.value, &figure.unit);
            cells.push(match *before {
                "ticks" => (value.name.clone(), workers.clone(), cell),
                "remote" => (format!("{}, remote accesses in %", value.name), workers.clone(), cell),
                benchmark => (format!("{}, {workers}", value.name), benchmark.to_owned(), cell),
            });
        }
    }
    for (workers, value, benchmark) in papers.iter().filter_map(|statement| statement.point) {
        cells.push((format!("paper, {workers} cores"), benchmark.to_owned(), plain(value, "")));
    }
    matrix(&cells)
}

/// The columns of costs, with their words in figures' names.
const COSTS: [(&str, &str); 4] =
    [("size", "size"), ("time", "wall clock"), ("cpu", "processor"), ("memory", "memory")];

/// The costs of whole programs, in figures whose names end in an operation, a cost and a number of threads: a row for each
/// contestant of an operation, and a column for each cost.
pub fn costs(figures: &[&Figure], number_of: impl Fn(usize) -> usize) -> String {
    let mut cells = Vec::new();
    for (cost, column) in COSTS {
        for figure in figures {
            let [.., operation, of, _] = &figure.name.split('.').collect::<Vec<_>>()[..] else { continue };
            let Some(run) = figure.run.filter(|_| *of == cost) else { continue };
            let noisy = if figure.noisy { ", noisy" } else { "" };
            for value in &figure.values {
                let row = row_of(operation, &value.name);
                cells.push((row.clone(), column.to_owned(), with_verdict(figure, value)));
                cells.push((row, "run".to_owned(), format!("{}{noisy}", number_of(run))));
            }
        }
    }
    // The run stands in the last column.
    cells.sort_by_key(|(_, column, _)| column == "run");
    if cells.is_empty() { "Not measured.\n".into() } else { matrix(&cells) }
}

/// The name of a row: a contestant, with its level, or with the word for a pair of trees.
fn row_of(operation: &str, contestant: &str) -> String {
    let name = contestant.replace('|', " to ");
    match operation.strip_prefix("level") {
        Some(level) => format!("{name}, level {level}"),
        None if operation == "unpack_pair" => format!("{name}, with the near-copy"),
        None => name,
    }
}

/// A value, and whether it reaches its target.
fn with_verdict(figure: &Figure, value: &Value) -> String {
    let number = number(value.value, &figure.unit);
    match figure.verdict() {
        "-" => number,
        _ if value.role != "ours" => number,
        verdict => format!("{number}: {verdict}"),
    }
}

/// A table from cells with the names of their rows and columns, in the order in which these come first.
fn matrix(cells: &[(String, String, String)]) -> String {
    let mut rows: Vec<&str> = cells.iter().map(|cell| &*cell.0).collect();
    let mut columns: Vec<&str> = cells.iter().map(|cell| &*cell.1).collect();
    for names in [&mut rows, &mut columns] {
        let mut seen = Vec::new();
        names.retain(|name| {
            !seen.contains(name) && {
                seen.push(*name);
                true
            }
        });
    }
    let mut text = format!("| | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
    for row in rows {
        let cell = |column: &&str| {
            let found = cells.iter().find(|cell| cell.0 == row && cell.1 == *column);
            found.map_or("-", |cell| &cell.2)
        };
        _ = writeln!(text, "| {row} | {} |", columns.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    text
}

/// A value without its unit.
fn plain(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value:.2}"),
        "%" => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// The runs that measured the figures of a page.
pub fn runs(data: &Data, used: &[usize]) -> String {
    let mut text =
        String::from("| run | date (UTC) | commit | machine | command | data |\n|---|---|---|---|---|---|\n");
    for (number, run) in used.iter().map(|run| &data.runs[*run]).enumerate() {
        let machine =
            format!("{}, {} cores, Linux {}", run.note("cpu"), run.note("cores"), run.note("kernel"));
        let command = match run.note("command") {
            unknown @ "not recorded" => unknown.into(),
            known => format!("`{known}`"),
        };
        _ = writeln!(
            text,
            "| {} | {} | {} | {machine}, {} | {command} | [{file}](../../bench/results/{file}) |",
            number + 1,
            run.note("date"),
            run.note("commit"),
            run.note("rustc").split(" (").next().unwrap_or_default(),
            file = run.file,
        );
    }
    text
}

/// A target as it was kept, `<=15000` or `<=1.3x bare-ring`, for the page.
fn target(kept: &str, unit: &str) -> String {
    let text = kept.replace("<=", "≤ ").replace(">=", "≥ ").replace('|', " to ");
    let long = text.split_once(' ').and_then(|(sign, value)| Some((sign, value.parse::<f64>().ok()?)));
    match long.filter(|(_, value)| unit == "ns" && *value >= 1e4) {
        Some((sign, value)) => format!("{sign} {} us", value / 1e3),
        None => text,
    }
}

fn join(values: &[&Value], unit: &str) -> String {
    let name = |name: &str| name.replace('|', " to ");
    let words: Vec<_> =
        values.iter().map(|value| format!("{} {}", name(&value.name), number(value.value, unit))).collect();
    words.join(", ")
}

/// A value with its unit.
pub fn number(value: f64, unit: &str) -> String {
    match unit {
        "" => format!("{value:.3}"),
        "%" => format!("{value:.1} %"),
        "ns" if value >= 1e6 => number(value / 1e6, "ms"),
        "ns" if value >= 1e4 => number(value / 1e3, "us"),
        "B" if value >= 1e6 => format!("{:.2} MB", value / 1e6),
        _ if value >= 100.0 => format!("{value:.0} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}
