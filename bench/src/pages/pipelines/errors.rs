//! How far predictions are from random pipelines: the lines `pipeline` of recorded results, which
//! `crates/thalweg/tests/pipelines.rs` writes.

use super::super::data::{Data, Figure};
use super::super::table::{self, rows};

/// A pipeline with what was measured and predicted, in items a second.
struct Case<'d> {
    /// One of those in the domain of a model of the paper, which the others are not chosen for.
    is_of_paper: bool,
    sleeps: bool,
    /// `48 all` or `8 each`.
    workers: &'d str,
    measured: f64,
    predicted: f64,
    bound: f64,
    paper: f64,
    /// What the paper's model does not have; `-` where the pipeline is in its domain.
    outside: &'d str,
}

/// The fields of a line behind its first one, in their order.
fn case(line: &str) -> Option<Case<'_>> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [
        name,
        _stages,
        work,
        workers,
        _capacities,
        _tokens,
        measured,
        predicted,
        _model,
        bound,
        paper,
        outside,
    ] = fields[..]
    else {
        return None;
    };
    Some(Case {
        is_of_paper: name.starts_with("paper"),
        sleeps: work == "Sleeps",
        workers,
        measured: measured.parse().ok()?,
        predicted: predicted.parse().ok()?,
        bound: bound.parse().ok()?,
        paper: paper.parse().ok()?,
        outside,
    })
}

/// The median and the 95th percentile of relative errors; `-` without any.
fn errors<'c>(cases: impl Iterator<Item = &'c Case<'c>>, of: impl Fn(&Case<'_>) -> f64) -> String {
    let mut errors: Vec<f64> = cases.map(|case| (of(case) / case.measured - 1.0).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let at =
        |share: usize| errors.get(errors.len() * share / 100).map(|error| format!("{:.1} %", 100.0 * error));
    match (at(50), at(95)) {
        (Some(median), Some(high)) => format!("{median}, {high}"),
        _ => "-".into(),
    }
}

/// How far the models are from the measurements of the sections below, by kind of pipeline; empty without any.
pub(super) fn measured(data: &Data) -> String {
    let kinds = [
        ("6 stages, room for 20", "ferret.pools6.c20."),
        ("6 stages, room for 100", "ferret.pools6.c100."),
        ("3 stages, room for 20", "ferret.pools3.c20."),
        ("3 stages, room for 100", "ferret.pools3.c100."),
        ("20 tokens", "ferret.tokens20."),
        ("100 tokens", "ferret.tokens100."),
        ("6 tokens a thread", "ferret.tokens6p."),
        ("programs", "predict."),
    ];
    let range = |prefix: &str, model: &str| {
        let error = |figure: &Figure| Some(100.0 * (figure.of(model)? / figure.of("ours")? - 1.0));
        let errors: Vec<f64> = data.starting(prefix).filter_map(error).collect();
        let [low, high] = [errors.iter().copied().reduce(f64::min), errors.iter().copied().reduce(f64::max)];
        Some(format!("{:+.0} to {:+.0} %", low?, high?))
    };
    let row = |(name, prefix): &(&str, &str)| {
        let [ours, paper] = [range(prefix, "model")?, range(prefix, "paper").unwrap_or_else(|| "-".into())];
        Some(vec![(*name).to_owned(), ours, paper])
    };
    let rows: Vec<_> = kinds.iter().filter_map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = table::rows(&["measured below", "ours", "paper"], rows.into_iter());
    format!(
        "## Measured beside modelled\n\nHow much more the models predict than the sections below measure, from the same \
         reports.\n\n{table}\nWith 3 stages and room for 20 the channel is the reorder window too: a long firing stops all \
         others, which ours has in part.\n"
    )
}

/// The section; empty where no run has such lines.
pub(super) fn section(data: &Data) -> String {
    let Some((run, lines)) = data.pipelines() else { return String::new() };
    let cases: Vec<Case<'_>> = lines.iter().filter_map(|line| case(line)).collect();
    let random = |case: &&Case<'_>| !case.is_of_paper;
    type Test = fn(&Case<'_>) -> bool;
    let kinds: [(&str, Test); 5] = [
        ("all", |_| true),
        ("sleeping, 4 to 64 shared workers", |case| case.sleeps && case.workers.ends_with("all")),
        ("sleeping, 1 to 32 workers for each stage", |case| case.workers.ends_with("each")),
        ("computing, 1 and 2 workers", |case| !case.sleeps),
        ("the last with 2 workers", |case| !case.sleeps && case.workers.starts_with('2')),
    ];
    let row = |(name, test): &(&str, Test)| {
        let of = || cases.iter().filter(random).filter(|case| test(case));
        vec![
            (*name).to_owned(),
            of().count().to_string(),
            errors(of(), |case| case.predicted),
            errors(of(), |case| case.paper),
            errors(of(), |case| case.bound),
        ]
    };
    let ours = rows(&["pipelines", "number", "ours", "paper", "threads over work"], kinds.iter().map(row));
    let domains: [(&str, Test); 4] = [
        ("equation 4, in its domain", |case| case.workers.ends_with("each") && case.outside == "-"),
        ("equation 4, outside", |case| case.workers.ends_with("each") && case.outside != "-"),
        ("equations 7 and 8, in their domain", |case| case.workers.ends_with("all") && case.outside == "-"),
        ("equations 7 and 8, outside", |case| case.workers.ends_with("all") && case.outside != "-"),
    ];
    let row = |(name, test): &(&str, Test)| {
        let of = || cases.iter().filter(|case| test(case));
        vec![
            (*name).to_owned(),
            of().count().to_string(),
            errors(of(), |case| case.paper),
            errors(of(), |case| case.predicted),
        ]
    };
    let domains = rows(&["model and pipelines", "number", "the model", "ours"], domains.iter().map(row));
    let (file, date, load) = (&run.file, run.note("date"), run.note("load"));
    let waits = run.note("times of items");
    format!(
        "Random pipelines of 2 to 6 stages, sequential and parallel, with capacities from 1 to 32 and coefficients of variation \
         from 0\nto 2, beside what the report of the same run predicts: [{file}](../../bench/results/{file}), by\n\
         `crates/thalweg/tests/pipelines.rs` ([how to run it](../checks.md)), {date}; load of the two cores: {load}. Most stages \
         sleep 1 to 5 ms\nin place of computing, so that up to 64 workers keep their schedule. Relative errors, median and 95th \
         percentile. `paper`:\nequation 4 for workers of each stage, equations 7 and 8 for shared ones.\n\n{ours}\n\
         The paper states each model for some pipelines only (`Model::domain` of `crates/queueing`): equation 4 for exponential \
         times,\nunordered stages of one item a firing, and room for 20 items or more; equations 7 and 8 for exponential times and \
         a limit of\ntokens, at least 3 for each thread, which no channel and no window holds up. None of the random pipelines is \
         such a one, so a\nfifth as many more are drawn for it; and a report says in which domain its run is.\n\n{domains}\n\
         Predicted times of items in channels differ from the measured ones by {waits} (median, 95th \
         percentile): by 41 % in\nthe median before, when occupancy was the mean over activations, which begin just after items \
         have come.\n\n"
    )
}
