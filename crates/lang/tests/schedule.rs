//! Regions, repetitions, schedules and buffers, as text and by execution.

mod streams;

use streams::*;
use thalweg_lang::flat::flatten;
use thalweg_lang::schedule::schedule;

/// The schedule as text, once it has been executed.
fn scheduled(draft: Draft) -> String {
    let tree = tree(draft);
    let flat = flatten(&tree);
    match schedule(&flat, &tree) {
        Ok(schedule) => {
            execution::verify(&flat, &tree, &schedule).unwrap();
            schedule.show(&flat).to_string()
        }
        Err(errors) => {
            let text = |error: &thalweg_lang::Diagnostic| {
                format!("{}\n  {}\n", error.message, error.hint.as_deref().unwrap_or(""))
            };
            errors.iter().map(text).collect()
        }
    }
}

#[test]
fn a_pipeline_with_a_window() {
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 2), window("Sum", 5, 3, 1), filter("Sink", 1, 0)]
    )));
}

#[test]
fn prework_goes_on_downstream() {
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![first("Source", rates(0, 0, 1), rates(0, 0, 1)), filter("Sink", 1, 0)]
    )));
}

#[test]
fn a_delay_leaves_its_items_before_a_joiner() {
    let delay = first("Delay", rates(0, 0, 3), rates(1, 1, 1));
    let branches = SplitJoin(
        "Both",
        thalweg_lang::tree::Weights::Duplicate,
        vec![delay, filter("Plain", 1, 1)],
        round([1, 1]),
    );
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), branches, filter("Sink", 2, 0)]
    )));
}

#[test]
fn loops_go_round() {
    let inner = feedback("Loop", [1, 1], filter("Body", 2, 2), [1, 1], filter("Back", 1, 1), 3);
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1000), inner, filter("Sink", 1000, 0)]
    )));
}

#[test]
fn loops_lack_items() {
    let inner = feedback("Loop", [1, 2], window("Body", 7, 3, 3), [1, 2], filter("Back", 4, 4), 1);
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), inner, filter("Sink", 1, 0)]
    )));
}

#[test]
fn weights_that_do_not_balance() {
    let branches =
        SplitJoin("Both", round([1, 2]), vec![filter("Left", 1, 1), filter("Right", 1, 1)], round([1, 1]));
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), branches, filter("Sink", 1, 0)]
    )));
}

#[test]
fn dynamic_branches_cut_static_channels() {
    let branches = SplitJoin(
        "Both",
        thalweg_lang::tree::Weights::Duplicate,
        vec![dynamic("Pick", thalweg_lang::tree::Rate::Static(1), any()), filter("Plain", 1, 1)],
        round([1, 1]),
    );
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), branches, filter("Sink", 2, 0)]
    )));
}
