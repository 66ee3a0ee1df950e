//! Recorded values of ciw 3.2.7 (PyPI), a simulator of queueing networks; `tests/record.py` made them.

use crate::assert_near;
use thalweg_queueing::open::Open;
use thalweg_queueing::{Edge, Pipeline, Settings, Stage, tandem};

#[test]
fn open_stages() {
    let waiting = |open: Open| open.solve().unwrap().waiting;
    assert_near(waiting(Open::exponential(2.0, 1.2, 3)), 1.266, 0.05);
    assert_near(waiting(Open::exponential(0.8, 1.0, 1)), 3.866, 0.05);
    assert_near(waiting(Open { service_cv: 0.0, ..Open::exponential(1.6, 1.0, 2) }), 0.905, 0.05);
    let lognormal = Open { service_cv: 1.236f64.sqrt(), ..Open::exponential(1.4, 1.0, 2) };
    assert_near(waiting(lognormal), 1.034, 0.05);
}

/// The throughput of stages (mean, coefficient of variation, threads) with blocking after service.
fn chain(stages: &[(f64, f64, u32)], rooms: &[u64]) -> f64 {
    let pools: Vec<u32> = stages.iter().map(|(_, _, threads)| *threads).collect();
    let stages = stages.iter().map(|(time, cv, _)| Stage::parallel(*time, *cv)).collect();
    let edges = rooms.iter().enumerate().map(|(from, room)| Edge::new(from, from + 1, *room)).collect();
    tandem::predict(&Pipeline::new(stages, edges).unwrap(), &Settings::pools(pools)).unwrap().throughput
}

#[test]
fn chains_with_blocking() {
    assert_near(chain(&[(2.0, 1.0, 2), (2.5, 1.0, 3)], &[2]), 0.909, 0.02);
    assert_near(chain(&[(1.0, 1.0, 1), (2.0, 1.0, 2), (1.0 / 1.1, 1.0, 1)], &[3, 2]), 0.789, 0.03);
    assert_near(chain(&[(1.0, 0.5, 1), (2.0, 0.5, 2), (1.0, 0.5, 1)], &[1, 1]), 0.847, 0.03);
    assert_near(chain(&[(1.0, 0.5f64.sqrt(), 1); 5], &[2; 4]), 0.781, 0.03);
}
