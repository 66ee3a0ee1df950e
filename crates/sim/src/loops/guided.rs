//! A loop whose workers take parts of what is left.

use super::LoopSettings;
use super::report::Record;
use crate::due::Due;
use thalweg_policy::tasks::guided;

/// Does all iterations. A worker leaves when none are left.
pub(super) fn run(settings: &LoopSettings, record: &mut Record) {
    let (mut next, end) = (0, record.length as u64);
    let mut due = Due::default();
    (0..settings.workers).for_each(|worker| due.add(settings.start(worker), worker));
    while let Some((now, worker)) = due.next() {
        if next < end {
            let part = guided(end - next, settings.workers, settings.grain);
            let begin = now + settings.costs.take;
            let ticks = record.iterate(worker, next..next + part, begin);
            next += part;
            due.add(begin + ticks, worker);
        }
    }
}
