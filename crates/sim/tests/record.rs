//! [`Recorded`] changes no decision and keeps all of them.

use thalweg_policy::record::Log;
use thalweg_policy::{Pss, Recorded};
use thalweg_sim::{Settings, run, shapes};

#[test]
fn a_recorded_policy_decides_the_same_and_the_log_is_complete() {
    let model = shapes::dedup(40, 100);
    let settings = Settings { workers: 3, ..Settings::default() };
    let log = Log::new();
    let plain = run(&Pss, &model, &settings).unwrap();
    let recorded = run(&Recorded::new(Pss, &log), &model, &settings).unwrap();
    assert_eq!(plain, recorded);
    let mut decisions = plain.decisions;
    decisions.sort_by_key(|entry| entry.worker);
    assert_eq!(log.take(), decisions);
    assert!(log.take().is_empty());
}
