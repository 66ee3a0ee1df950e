//! A loop by stretches.

use super::LoopSettings;
use super::report::Record;
use crate::due::Due;
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{StealOrder, Stretches};

/// Does all iterations. A worker leaves when there is nothing that it may take.
pub(super) fn run(order: StealOrder, settings: &LoopSettings, record: &mut Record) {
    let (workers, costs) = (settings.workers, settings.costs);
    let mut rests = Stretches::new(record.length as u64, workers, settings.grain, order);
    let mut randoms: Vec<_> = (0..workers).map(|worker| XorShift::new(settings.seed, worker)).collect();
    let mut due = Due::default();
    (0..workers).for_each(|worker| due.add(settings.start(worker), worker));
    while let Some((now, worker)) = due.next() {
        if let Some(iterations) = rests.take(worker) {
            let ticks = record.iterate(worker, iterations, now + costs.take);
            due.add(now + costs.take + ticks, worker);
            continue;
        }
        let counts = &mut record.counts[worker];
        counts.attempts += u64::from(order != StealOrder::Off);
        if let Some((_, iterations)) = rests.steal(worker, &mut || randoms[worker].number()) {
            counts.steals += 1;
            let ticks = record.iterate(worker, iterations, now + costs.steal);
            due.add(now + costs.steal + ticks, worker);
        }
    }
}
