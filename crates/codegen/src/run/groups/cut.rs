//! Partitioning of the regions into groups, and the channels between groups.

use super::free::Takes;
use crate::run::Run;
use std::ops::Range;
use thalweg::embed::plan::Body;
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
    /// The number of its members.
    pub(super) members: usize,
    /// The channels that enter and leave, as indices into `crossing`.
    pub(super) inputs: Vec<usize>,
    pub(super) outputs: Vec<usize>,
    /// The files that it reads, as indices into the readers.
    pub(super) readers: Vec<usize>,
}

impl Cut {
    pub(super) fn new(run: &Run<'_>, stretches: Vec<Stretch>) -> Cut {
        let compiled = &run.native.compiled;
        let region_of = compiled.schedule.region_of();
        let mut crossing = Vec::new();
        for (at, channel) in compiled.flat.channels().iter().enumerate() {
            let (from, to) = (region_of[channel.from().0.index()], region_of[channel.to().0.index()]);
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
        let groups = stretches.into_iter().map(|Stretch { regions, takes, members }| Group {
            inputs: places(&|(_, _, to)| regions.contains(to)),
            outputs: places(&|(_, from, _)| regions.contains(from)),
            readers: (0..run.ends.readers.len())
                .filter(|at| regions.contains(&region_of[run.ends.readers[*at].0.0 as usize]))
                .collect(),
            regions,
            takes,
            members,
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
    /// The number of members: 1 without copies.
    pub(super) members: usize,
}

impl Stretch {
    /// The stretch of a body whose units are regions. `takes` is what each region takes, if it may have copies.
    pub(super) fn new(body: &Body, takes: &mut [Option<Vec<Takes>>]) -> Stretch {
        let regions = body.units().clone();
        let takes = match regions.len() {
            1 if body.copies() > 1 => takes[regions.start].take(),
            _ => None,
        };
        let members = if takes.is_some() { body.copies() } else { 1 };
        Stretch { regions, takes, members }
    }
}
