//! Partitioning of the regions into groups, and the channels between groups.

use super::free::Takes;
use crate::run::Run;
use std::ops::Range;
use thalweg_lang::flat::ChannelId;

/// A program cut into groups.
pub(super) struct Cut {
    pub(super) groups: Vec<Group>,
    /// Channels between groups.
    pub(super) crossing: Vec<ChannelId>,
}

/// Neighbouring regions that one member executes.
pub(super) struct Group {
    pub(super) regions: Range<usize>,
    /// For a region with copies: what it takes.
    pub(super) takes: Option<Vec<Takes>>,
    /// The channels that enter and leave, as indices into `crossing`.
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    /// The files that it reads, as indices into the readers.
    pub(super) readers: Vec<usize>,
}

impl Group {
    /// The number of its members on this many threads.
    pub(super) fn members(&self, threads: usize) -> usize {
        if self.takes.is_some() { threads } else { 1 }
    }
}

impl Cut {
    pub(super) fn new(run: &Run<'_>, stretches: Vec<Stretch>) -> Cut {
        let compiled = &run.native.compiled;
        let region_of = compiled.schedule.region_of();
        let mut crossing = Vec::new();
        for (at, channel) in compiled.flat.channels().iter().enumerate() {
            let (from, to) = (region_of[channel.from.0.index()], region_of[channel.to.0.index()]);
            if stretches
                .iter()
                .any(|Stretch { regions, .. }| regions.contains(&from) != regions.contains(&to))
            {
                crossing.push((ChannelId(at as u32), from, to));
            }
        }
        let places = |inside: &dyn Fn(&(ChannelId, usize, usize)) -> bool| {
            let places = crossing.iter().enumerate().filter(|(_, channel)| inside(channel));
            places.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let groups = stretches.into_iter().map(|Stretch { regions, takes }| Group {
            inputs: places(&|(_, _, to)| regions.contains(to)),
            outputs: places(&|(_, from, _)| regions.contains(from)),
            readers: (0..run.ends.readers.len())
                .filter(|at| regions.contains(&region_of[run.ends.readers[*at].0.0 as usize]))
                .collect(),
            regions,
            takes,
        });
        let groups = groups.collect();
        Cut { groups, crossing: crossing.into_iter().map(|(channel, ..)| channel).collect() }
    }
}

/// Neighbouring regions that will form a group.
pub(super) struct Stretch {
    pub(super) regions: Range<usize>,
    /// For a region with copies: what it takes.
    pub(super) takes: Option<Vec<Takes>>,
}

impl Stretch {
    pub(super) fn one_thread(regions: Range<usize>) -> Stretch {
        Stretch { regions, takes: None }
    }
}

/// Cuts the regions into stretches for `threads` threads. Among the stretches that one thread at a time must
/// do, the greatest cost is minimal, but not less than a thread's share of the whole. A region that may have
/// copies gets them if it is at least `much` of a share; otherwise it joins its neighbours.
pub(super) fn dealt(
    costs: &[f64],
    mut free: Vec<Option<Vec<Takes>>>,
    (threads, much): (usize, f64),
) -> Vec<Stretch> {
    let share = costs.iter().sum::<f64>() / threads as f64;
    for (free, cost) in free.iter_mut().zip(costs) {
        free.take_if(|_| *cost < much * share);
    }
    if free.iter().all(Option::is_none) {
        return balanced(costs, threads).into_iter().map(Stretch::one_thread).collect();
    }
    let dearest = costs.iter().zip(&free).filter(|(_, free)| free.is_none()).map(|(cost, _)| *cost);
    let most = dearest.fold(share, f64::max);
    let mut stretches = Vec::new();
    let mut at = 0;
    while at < costs.len() {
        if let Some(takes) = free[at].take() {
            stretches.push(Stretch { regions: at..at + 1, takes: Some(takes) });
            at += 1;
            continue;
        }
        let end = (at..costs.len()).find(|at| free[*at].is_some()).unwrap_or(costs.len());
        let of = |piece: Range<usize>| Stretch::one_thread(at + piece.start..at + piece.end);
        stretches.extend(pieces(&costs[at..end], most).into_iter().map(of));
        at = end;
    }
    stretches
}

/// At most as many stretches as threads, with the least possible greatest cost.
pub(super) fn balanced(costs: &[f64], threads: usize) -> Vec<Range<usize>> {
    let (mut low, mut high) = (0.0, costs.iter().sum());
    for _ in 0..50 {
        let most = (low + high) / 2.0;
        if pieces(costs, most).len() <= threads { high = most } else { low = most }
    }
    pieces(costs, high)
}

/// Cuts neighbours into stretches that cost at most `most`, or are one region that costs more.
fn pieces(costs: &[f64], most: f64) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut sum = 0.0;
    for (at, cost) in costs.iter().enumerate() {
        sum += cost;
        match pieces.last_mut().filter(|_| sum <= most) {
            Some(last) => last.end = at + 1,
            None => {
                sum = *cost;
                pieces.push(at..at + 1);
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Stretch, balanced, dealt};

    #[test]
    fn the_greatest_cost_of_a_stretch_is_minimal() {
        assert_eq!(balanced(&[1.0, 1.0, 1.0, 1.0], 2), [0..2, 2..4]);
        assert_eq!(balanced(&[5.0, 1.0, 1.0, 1.0], 2), [0..1, 1..4]);
        assert_eq!(balanced(&[1.0, 2.0, 3.0, 4.0, 5.0], 3), [0..3, 3..4, 4..5]);
        assert_eq!(balanced(&[1.0, 1.0], 8), [0..1, 1..2]);
        assert_eq!(balanced(&[7.0], 4).len(), 1);
    }

    #[test]
    fn stateless_regions_get_copies_where_they_are_much_of_the_work() {
        let free = |all: &[bool]| all.iter().map(|free| free.then(Vec::new)).collect::<Vec<_>>();
        let of = |stretches: Vec<Stretch>| {
            let of = |stretch: Stretch| (stretch.regions, stretch.takes.is_some());
            stretches.into_iter().map(of).collect::<Vec<_>>()
        };
        let dealt = |costs: &[f64], all: &[bool]| of(dealt(costs, free(all), (2, 0.1)));
        assert_eq!(
            dealt(&[34.0, 40.0, 22.0, 4.0], &[true, true, false, true]),
            [(0..1, true), (1..2, true), (2..4, false)]
        );
        assert_eq!(
            dealt(&[30.0, 60.0, 60.0], &[true, false, false]),
            [(0..1, true), (1..2, false), (2..3, false)]
        );
        assert_eq!(dealt(&[50.0, 1.0, 49.0], &[false, true, false]), [(0..1, false), (1..3, false)]);
    }
}
