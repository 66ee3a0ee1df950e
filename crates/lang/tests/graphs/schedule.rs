//! Regions, repetitions, schedules and buffers, as text and by execution.

use crate::streams::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use thalweg_lang::flat::flatten;
use thalweg_lang::schedule::schedule;
use thalweg_lang::tree::{Rate, Weights};

/// Computes a schedule, verifies it by execution, and returns it as text; returns the errors if there is none.
fn scheduled(draft: Draft) -> String {
    let tree = tree(draft);
    let flat = flatten(&tree);
    match schedule(&flat) {
        Ok(schedule) => {
            execution::verify(&flat.graph, &schedule).unwrap();
            schedule.show(&flat.graph).to_string()
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
fn prework_extends_the_initialisation_downstream() {
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![first("Source", rates(0, 0, 1), rates(0, 0, 1)), filter("Sink", 1, 0)]
    )));
}

#[test]
fn a_delay_leaves_its_items_before_a_joiner() {
    let delay = first("Delay", rates(0, 0, 3), rates(1, 1, 1));
    let branches = SplitJoin("Both", Weights::Duplicate, vec![delay, filter("Plain", 1, 1)], round([1, 1]));
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), branches, filter("Sink", 2, 0)]
    )));
}

#[test]
fn prework_items_stay_before_an_unfinished_consumer() {
    let windows = vec![window("Short", 2, 1, 1), window("Long", 4, 1, 1)];
    let both = SplitJoin("Both", Weights::Duplicate, windows, round([1, 1]));
    let source = first("Source", rates(0, 0, 2), rates(0, 0, 1));
    insta::assert_snapshot!(scheduled(Pipeline("Main", vec![source, both, filter("Sink", 2, 0)])));
}

#[test]
fn feedback_loops_have_schedules() {
    let inner = feedback("Loop", [1, 1], filter("Body", 2, 2), [1, 1], filter("Back", 1, 1), 3);
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1000), inner, filter("Sink", 1000, 0)]
    )));
}

#[test]
fn loops_with_too_few_items() {
    let inner = feedback("Loop", [1, 2], window("Body", 7, 3, 3), [1, 2], filter("Back", 4, 4), 1);
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), inner, filter("Sink", 1, 0)]
    )));
}

#[test]
fn unbalanced_weights() {
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
        Weights::Duplicate,
        vec![dynamic("Pick", Rate::Static(1), any()), filter("Plain", 1, 1)],
        round([1, 1]),
    );
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("Source", 0, 1), branches, filter("Sink", 2, 0)]
    )));
}

#[test]
fn nested_loops_with_too_few_items() {
    let inner = |enqueued| feedback("In", [1, 1], filter("B", 2, 2), [1, 1], filter("C", 1, 1), enqueued);
    let outer = |inside, enqueued| {
        let outer = feedback("Out", [1, 2], inner(inside), [1, 2], filter("D", 1, 1), enqueued);
        scheduled(Pipeline("Main", vec![filter("S", 0, 1), outer, filter("E", 1, 0)]))
    };
    insta::assert_snapshot!([outer(0, 2), outer(1, 0), outer(0, 0), outer(1, 2)].join("----\n"));
}

#[test]
fn loops_with_dynamic_channels_fall_into_nodes() {
    let body =
        Pipeline("Body", vec![filter("A", 2, 2), dynamic("Pick", Rate::Static(1), any()), filter("B", 2, 2)]);
    let inner = feedback("Loop", [1, 1], body, [1, 1], filter("Back", 1, 1), 1);
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![
            filter("Source", 0, 1),
            filter("Plain", 1, 1),
            inner,
            filter("Last", 1, 1),
            filter("Sink", 1, 0)
        ]
    )));
}

#[test]
fn nodes_behind_a_zero_weight_never_fire() {
    let dead = Pipeline("Dead", vec![filter("A", 1, 2), dynamic("Pick", any(), any()), filter("B", 3, 1)]);
    let both = SplitJoin("Both", round([1, 0]), vec![filter("Plain", 1, 1), dead], round([1, 0]));
    insta::assert_snapshot!(scheduled(Pipeline("Main", vec![filter("S", 0, 1), both, filter("E", 1, 0)])));
}

#[test]
fn rates_of_zero_are_reported() {
    let branches = |split: [u32; 2], join: [u32; 2]| {
        let children = vec![filter("A", 1, 1), filter("B", 1, 1)];
        let both = SplitJoin("Both", round(split), children, round(join));
        scheduled(Pipeline("Main", vec![filter("S", 0, 1), both, filter("E", 1, 0)]))
    };
    let told = [branches([0, 0], [1, 1]), branches([1, 0], [1, 1]), branches([1, 1], [1, 0])];
    insta::assert_snapshot!(told.join("----\n"));
}

#[test]
fn repetitions_beyond_64_bits_are_reported() {
    let filters = (0..8).map(|_| filter("F", 1_000_000_007, 998_244_353)).collect();
    insta::assert_snapshot!(scheduled(Pipeline("Main", filters)));
}

/// The scheduler takes few steps for large rates.
#[test]
fn large_rates_balance() {
    let inner = feedback("Loop", [1, 1], filter("Body", 2, 2), [1, 1], filter("Back", 1, 1), 1);
    let tree =
        tree(Pipeline("Main", vec![filter("S", 0, 4_000_000_000), inner, filter("E", 3_999_999_999, 0)]));
    let flat = flatten(&tree);
    let schedule = schedule(&flat).unwrap();
    insta::assert_snapshot!(schedule.show(&flat.graph));
}

/// Schedules of nested loops, and of loops with coprime rates, repeat phases in groups.
#[test]
fn steady_states_repeat_in_groups() {
    let inner = feedback("In", [1, 1], filter("B", 2, 2), [1, 1], filter("C", 1, 1), 1);
    let outer = feedback("Out", [1, 2], inner, [1, 2], filter("D", 1, 1), 2);
    let uneven = feedback("Uneven", [1, 5], filter("F", 6, 8), [1, 7], filter("G", 7, 5), 13);
    let filters = vec![filter("S", 0, 1_000_000), outer, uneven, filter("E", 1, 0)];
    let tree = tree(Pipeline("Main", filters));
    let flat = flatten(&tree);
    let schedule = schedule(&flat).unwrap();
    execution::verify(&flat.graph, &schedule).unwrap();
    insta::assert_snapshot!(schedule.show(&flat.graph));
}

/// The scheduler never panics, for consistent and inconsistent rates.
#[test]
fn no_rates_panic() {
    let most = u32::MAX;
    let numbers = [0, 1, 2, 3, 65_537, most - 4, most];
    for (one, two) in numbers.iter().flat_map(|one| numbers.iter().map(move |two| (*one, *two))) {
        let strange = first("Strange", rates(two, one, two), rates(most, two.max(1), one));
        let wide = SplitJoin(
            "Wide",
            round([one, two]),
            vec![strange, window("W", most, one, two)],
            round([two, one]),
        );
        let loops = feedback("Loop", [1, one], window("B", most, 1, two), [two, 1], filter("C", two, one), 3);
        let program = Pipeline("Main", vec![filter("S", 0, two), wide, loops, filter("E", one, 0)]);
        let tree = tree(program);
        let flat = flatten(&tree);
        match schedule(&flat) {
            Ok(schedule) => assert!(!schedule.show(&flat.graph).to_string().is_empty()),
            Err(errors) => assert!(!errors.is_empty()),
        }
    }
}

/// Wide and long graphs take time linear in the number of nodes.
#[test]
fn many_nodes_are_scheduled_in_linear_time() {
    let wide = SplitJoin("Wide", Weights::Duplicate, many(20_000), round(vec![1; 20_000]));
    let mut long = many(20_000);
    long.insert(10_000, dynamic("Pick", any(), any()));
    let filters = vec![filter("S", 0, 1), wide, Pipeline("Long", long), filter("E", 1, 0)];
    let tree = tree(Pipeline("Main", filters));
    let flat = flatten(&tree);
    let schedule = schedule(&flat).unwrap();
    let sizes: Vec<usize> = schedule.regions.iter().map(|region| region.nodes.len()).collect();
    assert_eq!(sizes, [30_003, 1, 10_001]);
    assert_eq!(schedule.buffers.iter().flatten().max(), Some(&20_000));
}

fn many(count: usize) -> Vec<Draft> {
    (0..count).map(|_| filter("F", 1, 1)).collect()
}

/// Filters with a `prework` of other rates and a larger window.
#[test]
fn prework_has_windows_of_its_own() {
    let look = first("Look", rates(9, 4, 2), rates(3, 2, 1));
    let join = first("Thin", rates(2, 2, 0), rates(1, 1, 1));
    insta::assert_snapshot!(scheduled(Pipeline(
        "Main",
        vec![filter("S", 0, 2), look, join, filter("E", 1, 0)]
    )));
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 600,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn static_programs_run(plan in random::plan(false), take in 1_u32..5, give in 1_u32..5) {
        scheduled_or_refused(&random::program(&plan, take, give));
    }

    #[test]
    fn dynamic_programs_run(plan in random::plan(true), take in 1_u32..5, give in 1_u32..5) {
        scheduled_or_refused(&random::program(&plan, take, give));
    }
}

/// Keeps the two property tests above meaningful.
#[test]
fn most_random_programs_have_schedules() {
    let mut runner = TestRunner::deterministic();
    let plans = random::plan(false);
    let mut next = || plans.new_tree(&mut runner).unwrap().current();
    let scheduled = (0..300).filter(|_| scheduled_or_refused(&random::program(&next(), 2, 3))).count();
    assert!(scheduled > 150, "{scheduled} of 300");
}

/// Schedules a program and verifies the schedule by execution. Returns whether there is one; only feedback loops may
/// be rejected.
fn scheduled_or_refused(draft: &Draft) -> bool {
    let tree = tree(draft.clone());
    let flat = flatten(&tree);
    match schedule(&flat) {
        Ok(schedule) => execution::verify(&flat.graph, &schedule).unwrap(),
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                assert!(error.message.starts_with("the feedback loop"), "{}", error.message);
            }
            return false;
        }
    }
    true
}
