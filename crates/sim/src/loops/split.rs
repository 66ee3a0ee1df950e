//! A loop by recursive halving and random stealing.

use super::LoopSettings;
use super::report::Record;
use crate::due::Due;
use std::ops::Range;
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{Attempt, ColourSet, Deque, Place, Search, SearchSettings, Transfer};

/// What a worker is about to do.
#[derive(Clone)]
enum Next {
    Run(Range<u64>),
    Steal(Attempt),
    Find,
}

/// Does all iterations. A worker leaves when all are done or under way.
pub(super) fn run(settings: &LoopSettings, record: &mut Record) {
    let (workers, place) = (settings.workers, Place::default());
    let mut deques: Vec<Deque<Range<u64>>> = (0..workers).map(|_| Deque::new(Transfer::One)).collect();
    let mut randoms: Vec<_> = (0..workers).map(|worker| XorShift::new(settings.seed, worker)).collect();
    let search = |worker| Search::new(place.clone(), workers, worker, SearchSettings::RANDOM);
    let mut searches: Vec<_> = (0..workers).map(search).collect();
    let mut next = vec![Next::Find; workers];
    next[0] = Next::Run(0..record.length as u64);
    let mut due = Due::default();
    (0..workers).for_each(|worker| due.add(settings.start(worker), worker));
    while let Some((now, worker)) = due.next() {
        let ticks = match std::mem::replace(&mut next[worker], Next::Find) {
            Next::Run(range) if range.end - range.start > settings.grain.max(1) => {
                let middle = range.start + (range.end - range.start) / 2;
                deques[worker].push(middle..range.end, ColourSet::EMPTY);
                next[worker] = Next::Run(range.start..middle);
                settings.costs.take
            }
            Next::Run(range) => record.iterate(worker, range, now),
            Next::Steal(attempt) => {
                let stolen = deques[attempt.victim].steal(&place, attempt.level);
                record.counts[worker].attempts += 1;
                record.counts[worker].steals += u64::from(stolen.is_some());
                match stolen {
                    Some(stolen) => {
                        searches[worker].stole();
                        next[worker] = Next::Run(stolen.oldest);
                        settings.costs.steal
                    }
                    None => {
                        searches[worker].failed();
                        0
                    }
                }
            }
            Next::Find => match deques[worker].pop() {
                Some(range) => {
                    next[worker] = Next::Run(range);
                    0
                }
                None if record.is_done() => continue,
                None => {
                    next[worker] = Next::Steal(searches[worker].next(&mut || randoms[worker].number()));
                    settings.costs.attempt
                }
            },
        };
        due.add(now + ticks, worker);
    }
}
