//! The policy `partition` in virtual time.

use thalweg_policy::Partition;
use thalweg_policy::partition::DEFAULT_TAU;
use thalweg_sim::{Cost, Model, Settings, run};

/// Eight chains with the same number of items, the heavy ones first. Dealt in runs, one of two workers has nearly
/// all of the work.
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
fn an_unbalanced_start_is_repartitioned() {
    let model = lopsided(20_000);
    let settings = Settings { workers: 2, ..Settings::default() };
    let efficiency = |tau| run(&Partition::new(tau), &model, &settings).unwrap().efficiency(&model);
    let (never, sometimes) = (efficiency(1.0), efficiency(DEFAULT_TAU));
    assert!(never < 0.55, "{never}");
    assert!(sometimes > 0.8, "{sometimes}");
}
