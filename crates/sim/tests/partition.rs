//! The policy `partition` in virtual time.

use thalweg_policy::Partition;
use thalweg_policy::partition::DEFAULT_TAU;
use thalweg_sim::{Cost, Model, Settings, run};

/// Chains that end together, the heavy nodes of which come first: dealt in runs, one worker has
/// nearly all there is to do.
fn lopsided(items: u64) -> Model {
    let mut model = Model::new();
    for at in 0..8 {
        let cost = Cost::Fixed(if at < 4 { 2_000 } else { 50 });
        let from = model.source(&format!("source{at}"), items, cost);
        let to = model.sequential(&format!("sink{at}"), cost);
        model.join(from, to);
    }
    model
}

#[test]
fn a_load_that_was_dealt_badly_is_balanced_in_virtual_time() {
    let model = lopsided(20_000);
    let settings = Settings { workers: 2, ..Settings::default() };
    let efficiency = |tau| run(&Partition::new(tau), &model, &settings).unwrap().efficiency(&model);
    let (never, now_and_then) = (efficiency(1.0), efficiency(DEFAULT_TAU));
    assert!(never < 0.55, "{never}");
    assert!(now_and_then > 0.8, "{now_and_then}");
}
