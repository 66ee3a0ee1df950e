//! Parallel loops in virtual time (chapter 6): locality, balance, late starts.

use thalweg_policy::random::mix;
use thalweg_policy::tasks::StealOrder;
use thalweg_sim::loops::{LoopReport, LoopSchedule, LoopSettings, run};

const ALL: [LoopSchedule; 4] = [
    LoopSchedule::HYBRID,
    LoopSchedule::Stretches(StealOrder::Paper),
    LoopSchedule::STATIC,
    LoopSchedule::Split,
];

/// The reports of all schedules: hybrid, the paper's order, static, split.
fn reports(work: &[u64], settings: LoopSettings) -> [LoopReport; 4] {
    ALL.map(|schedule| run(work, &LoopSettings { schedule, ..settings }))
}

/// Iterations of which those of the first quarter take three times as long.
fn uneven(iterations: usize) -> Vec<u64> {
    (0..iterations).map(|i| if i < iterations / 4 { 300 } else { 100 }).collect()
}

#[test]
fn each_iteration_is_done_once_by_any_schedule() {
    for seed in 0..40 {
        let iterations = mix(seed) as usize % 300;
        let work: Vec<u64> = (0..iterations).map(|i| mix(i as u64 ^ seed) % 400).collect();
        let settings =
            LoopSettings { workers: 1 + seed as usize % 9, grain: seed % 5, ..LoopSettings::default() };
        for report in reports(&work, LoopSettings { late: 1_000 * (seed % 3), seed, ..settings }) {
            assert_eq!(report.total().iterations as usize, iterations);
            assert_eq!(report.by.len(), iterations);
        }
    }
}

#[test]
fn an_even_loop_is_done_where_its_data_is_at_each_invocation() {
    let even = vec![100; 16_384];
    let first = reports(&even, LoopSettings::default());
    let second = reports(&even, LoopSettings { seed: 9, ..LoopSettings::default() });
    let remote = |report: &LoopReport| report.total().remote as f64 / even.len() as f64;
    for schedule in [0, 1, 2] {
        assert_eq!(first[schedule].by, second[schedule].by);
        assert_eq!(remote(&first[schedule]), 0.0);
    }
    let moved = first[3].by.iter().zip(&second[3].by).filter(|(a, b)| a != b).count() as f64;
    let (moved, of_split) = (moved / even.len() as f64, remote(&first[3]));
    assert!(moved > 0.8 && of_split > 0.4, "{moved} moved, {of_split} remote");
    let slower = first[3].time as f64 / first[0].time as f64;
    assert!(slower > 1.3, "{slower}");
}

#[test]
fn stealing_balances_an_uneven_loop() {
    let [hybrid, paper, fixed, split] = reports(&uneven(16_384), LoopSettings::default());
    assert!(fixed.time as f64 > 1.3 * hybrid.time as f64, "{} and {}", fixed.time, hybrid.time);
    assert!(hybrid.efficiency() > 0.95, "{}", hybrid.efficiency());
    assert!(hybrid.time < split.time && hybrid.time as f64 <= 1.05 * paper.time as f64);
    assert!(hybrid.total().steals < paper.total().steals, "the longest rest needs fewer steals");
    assert!(hybrid.total().remote * 2 < split.total().remote);
}

/// Figure 6.6: without stealing late workers keep the others waiting; with it the others begin their stretches.
#[test]
fn stealing_makes_up_for_late_workers() {
    let even = vec![100; 16_384];
    let settings = LoopSettings { late: 100_000, ..LoopSettings::default() };
    let [hybrid, paper, fixed, _] = reports(&even, settings);
    assert!(fixed.time as f64 > 1.25 * hybrid.time as f64, "{} and {}", fixed.time, hybrid.time);
    assert!(fixed.time as f64 > 1.25 * paper.time as f64, "{} and {}", fixed.time, paper.time);
}
