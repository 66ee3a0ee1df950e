//! The domains of the paper's models, at their borders: what is just inside, and what is just outside.

use thalweg_queueing::{Edge, Model, Outside, Pipeline, Settings, Stage};

/// A serial stage and a parallel one of eight times its time, with these variations.
fn stages(variations: [f64; 2]) -> Vec<Stage> {
    vec![Stage::sequential(0.5, variations[0]), Stage::parallel(4.0, variations[1])]
}

fn chain(variations: [f64; 2], capacity: u64) -> Pipeline {
    Pipeline::chain(stages(variations), capacity).unwrap()
}

fn rated(pushes: f64, pops: f64) -> Pipeline {
    let edge = Edge::new(0, 1, 2_000_000).rates(pushes, pops);
    Pipeline::new(stages([1.0; 2]), vec![edge]).unwrap()
}

#[track_caller]
fn check(model: Model, pipeline: &Pipeline, settings: &Settings, expected: Option<Outside>) {
    let domain = model.domain().expect("a model of the paper");
    assert_eq!(domain.outside(pipeline, settings), expected, "{model:?} {settings:?} {pipeline:?}");
}

#[test]
fn models_of_ours_have_no_domain() {
    for model in [Model::Pair, Model::Tandem, Model::Workers, Model::Bound] {
        assert_eq!(model.domain(), None);
    }
}

#[test]
fn threads_are_those_of_the_model() {
    let (pipeline, pools, shared) =
        (chain([1.0; 2], 2_000_000), Settings::pools([1, 8]), Settings::shared(4).tokens(12));
    for (model, inside, outside) in [
        (Model::Closed, &pools, &shared),
        (Model::Open, &pools, &shared),
        (Model::Stealing, &shared, &pools),
        (Model::Ideal, &shared, &pools),
    ] {
        check(model, &pipeline, inside, None);
        check(model, &pipeline, outside, Some(Outside::Workers));
    }
}

#[test]
fn tokens_are_at_least_three_for_each_thread_or_none() {
    let (pipeline, shared) = (chain([1.0; 2], 100), Settings::shared(4));
    for model in [Model::Stealing, Model::Ideal] {
        check(model, &pipeline, &shared.clone().tokens(12), None);
        check(model, &pipeline, &shared.clone().tokens(11), Some(Outside::Tokens { tokens: Some(11) }));
        check(model, &pipeline, &shared, Some(Outside::Tokens { tokens: None }));
    }
    let pools = Settings::pools([1, 8]).tokens(1000);
    check(Model::Closed, &pipeline, &pools, Some(Outside::Tokens { tokens: Some(1000) }));
}

#[test]
fn times_are_exponential_but_those_of_stages_that_take_little() {
    let settings = Settings::pools([1, 8]);
    for (variation, is_inside) in [(0.74, false), (0.75, true), (1.0, true), (1.25, true), (1.26, false)] {
        for stage in 0..2 {
            let mut variations = [1.0; 2];
            variations[stage] = variation;
            let expected = (!is_inside).then_some(Outside::Variation { stage, variation });
            check(Model::Closed, &chain(variations, 20), &settings, expected);
        }
    }
    // A twentieth of the longest time, and a little more.
    for (service, is_inside) in [(0.2, true), (0.201, false)] {
        let stages = vec![Stage::sequential(service, 0.0), Stage::parallel(4.0, 1.0)];
        let expected = (!is_inside).then_some(Outside::Variation { stage: 0, variation: 0.0 });
        check(Model::Closed, &Pipeline::chain(stages, 20).unwrap(), &settings, expected);
    }
}

#[test]
fn a_stage_with_several_threads_has_no_order_that_holds_it_up() {
    let ordered = |tickets| {
        let stages = vec![Stage::sequential(0.5, 1.0).ordered(1), Stage::parallel(4.0, 1.0).ordered(tickets)];
        Pipeline::chain(stages, 20).unwrap()
    };
    let order = Some(Outside::Order { stage: 1 });
    check(Model::Closed, &ordered(1 << 20), &Settings::pools([1, 8]), order);
    check(Model::Closed, &ordered(1), &Settings::pools([1, 1]), None);
    // A window that holds all tokens never waits.
    let settings = Settings::shared(4).tokens(12);
    check(Model::Stealing, &ordered(11), &settings, order);
    check(Model::Stealing, &ordered(12), &settings, None);
}

#[test]
fn a_firing_takes_and_makes_one_item() {
    let settings = Settings::pools([1, 8]);
    for (pushes, pops, is_inside) in
        [(1.0, 1.0, true), (1.009, 1.009, true), (1.02, 1.0, false), (1.0, 2.0, false), (0.5, 1.0, false)]
    {
        let expected = (!is_inside).then_some(Outside::Rates { edge: 0 });
        check(Model::Closed, &rated(pushes, pops), &settings, expected);
        check(Model::Open, &rated(pushes, pops), &settings, None);
    }
}

#[test]
fn channels_have_the_models_room() {
    let pools = Settings::pools([1, 8]);
    let shared = Settings::shared(4).tokens(12);
    for (model, settings, room) in
        [(Model::Closed, &pools, 20), (Model::Open, &pools, 1_000_000), (Model::Stealing, &shared, 12)]
    {
        let narrow = Outside::Room { edge: 0, capacity: room - 1 };
        check(model, &chain([1.0; 2], room), settings, None);
        check(model, &chain([1.0; 2], room - 1), settings, Some(narrow));
        let unbounded = Pipeline::new(stages([1.0; 2]), vec![Edge::new(0, 1, 1).unbounded()]).unwrap();
        check(model, &unbounded, settings, None);
    }
}
