//! Which regions are done by whom, and what goes from one group to another.

use crate::run::Run;
use std::ops::Range;
use thalweg_lang::flat::ChannelId;

/// A program cut into groups.
pub(super) struct Cut {
    pub(super) groups: Vec<Group>,
    /// Channels between groups.
    pub(super) crossing: Vec<ChannelId>,
}

/// Neighbouring regions that one thread does.
pub(super) struct Group {
    pub(super) regions: Range<usize>,
    /// What comes in and what goes out, by place among all that crosses.
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    /// Files that are read, by place among the readers.
    pub(super) readers: Vec<usize>,
}

impl Cut {
    pub(super) fn new(run: &Run<'_>, regions: Vec<Range<usize>>) -> Cut {
        let compiled = &run.native.compiled;
        let region_of = compiled.schedule.region_of();
        let mut crossing = Vec::new();
        for (at, channel) in compiled.flat.channels.iter().enumerate() {
            let (from, to) = (region_of[channel.from.0 as usize], region_of[channel.to.0 as usize]);
            if regions.iter().any(|regions| regions.contains(&from) != regions.contains(&to)) {
                crossing.push((ChannelId(at as u32), from, to));
            }
        }
        let places = |inside: &dyn Fn(&(ChannelId, usize, usize)) -> bool| {
            let places = crossing.iter().enumerate().filter(|(_, channel)| inside(channel));
            places.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let groups = regions.into_iter().map(|regions| Group {
            inputs: places(&|(_, _, to)| regions.contains(to)),
            outputs: places(&|(_, from, _)| regions.contains(from)),
            readers: (0..run.ends.readers.len())
                .filter(|at| regions.contains(&region_of[run.ends.readers[*at].0.0 as usize]))
                .collect(),
            regions,
        });
        let groups = groups.collect();
        Cut { groups, crossing: crossing.into_iter().map(|(channel, ..)| channel).collect() }
    }
}

/// As many stretches as threads, or fewer, the dearest of which is as cheap as can be.
pub(super) fn balanced(costs: &[f64], threads: usize) -> Vec<Range<usize>> {
    let (mut low, mut high) = (0.0, costs.iter().sum());
    for _ in 0..50 {
        let most = (low + high) / 2.0;
        if pieces(costs, most).len() <= threads { high = most } else { low = most }
    }
    pieces(costs, high)
}

/// Neighbours that together cost no more than so much, or one that costs more.
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
    use super::balanced;

    #[test]
    fn the_dearest_stretch_is_as_cheap_as_can_be() {
        assert_eq!(balanced(&[1.0, 1.0, 1.0, 1.0], 2), [0..2, 2..4]);
        assert_eq!(balanced(&[5.0, 1.0, 1.0, 1.0], 2), [0..1, 1..4]);
        assert_eq!(balanced(&[1.0, 2.0, 3.0, 4.0, 5.0], 3), [0..3, 3..4, 4..5]);
        assert_eq!(balanced(&[1.0, 1.0], 8), [0..1, 1..2]);
        assert_eq!(balanced(&[7.0], 4).len(), 1);
    }
}
