//! SIMD packs: parallel filters, the *members*, that differ only in constants, fields and views.
//!
//! They are searched from the sources on: filters of equal depth with isomorphic codes, that fire equally
//! often, and that read in the same way from one buffer or from buffers that members write. Where members write
//! buffers of their own, these form a *class*: a single buffer in which the items `k` of all of them are
//! adjacent, as if a joiner had interleaved them ([`interleaved`]). So what one pack writes and the next
//! one reads are whole vectors.
//!
//! Filters of equal depth that read one buffer, or the buffers of one class, do not depend on each other's
//! output. Filters in feedback loops, and those that print, draw random numbers or may fail, have no
//! members.

use super::fused::Candidate;
use super::{Actor, Buffer, Facts, Items, Mapping, Port, Step, View};
use crate::ir::{Code, Stmt, walk};
use crate::isomorphic::{Joint, outline};
use crate::lower::NodeCode;
use std::collections::BTreeMap;
use thalweg_lang::flat::ChannelId;

/// A SIMD pack of isomorphic filters that fire together.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Pack {
    /// By member.
    pub(crate) actors: Vec<usize>,
    /// Their joint code; the lanes of a member are adjacent.
    pub(crate) joint: Joint,
    /// Fields that hold equal integers in all members.
    pub(crate) same: Vec<u32>,
    /// Lanes of a vector.
    pub(crate) width: usize,
    /// The items of the member that comes first in the buffer.
    pub(crate) input: Option<Port>,
    pub(crate) output: Port,
    /// By lane: the distance in cells from that member's items to its own.
    pub(crate) from: Vec<i64>,
    pub(crate) to: Vec<i64>,
    pub(crate) firings: u64,
    /// The cost of a steady state; see [`cost`](super::cost).
    pub(crate) cost: f64,
}

/// Filters that may fire together, as indices into the actors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub(crate) actors: Vec<usize>,
    /// The classes that they read and write, where these have several buffers.
    pub(crate) classes: Vec<usize>,
}

/// The result of the search.
#[derive(Default, Debug)]
pub(crate) struct Found {
    pub(crate) groups: Vec<Group>,
    /// Buffers that can be interleaved.
    pub(crate) classes: Vec<Vec<usize>>,
}

struct Finder<'a> {
    codes: &'a [Option<NodeCode>],
    actors: &'a [Actor],
    buffers: &'a [Buffer],
    /// By buffer: the actors that write it.
    writers: Vec<Vec<usize>>,
    class: Vec<Option<usize>>,
    found: Found,
}

/// Finds members among the filters that are not fused. Several buffers that a kernel writes may form a class
/// too.
pub(super) fn find(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    (actors, buffers): (&[Actor], &[Buffer]),
    steps: &[Step],
    kernels: &[Candidate],
) -> Found {
    let mut writers = vec![Vec::new(); buffers.len()];
    for (at, actor) in actors.iter().enumerate() {
        actor.outputs.iter().for_each(|port| writers[port.buffer].push(at));
    }
    let depths = depths(actors, &writers, kernels);
    let fused = |actor: &usize| kernels.iter().any(|kernel| kernel.actors.contains(actor));
    let mut finder =
        Finder { codes, actors, buffers, writers, class: vec![None; buffers.len()], found: Found::default() };
    for kernel in kernels.iter().filter(|kernel| kernel.exits.len() > 1) {
        finder.make_class(&kernel.exits, &kernel.actors);
    }
    let mut by_depth: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for step in steps {
        if let Step::All(actor) = step
            && finder.can_be_packed(facts, *actor)
            && !fused(actor)
        {
            by_depth.entry(depths[*actor]).or_default().push(*actor);
        }
    }
    for mut actors in by_depth.into_values() {
        actors.sort_unstable();
        finder.depth(facts, &actors);
    }
    finder.found
}

/// Whether a firing has checks that may fail.
fn fails(code: &Code) -> bool {
    let mut found = false;
    walk(&code.body, &mut |st| found |= matches!(st, Stmt::Check(..)));
    found
}

/// The longest path to each actor from the sources; any number for actors in loops. A kernel counts as one.
fn depths(actors: &[Actor], writers: &[Vec<usize>], kernels: &[Candidate]) -> Vec<usize> {
    let mut depths = vec![0; actors.len()];
    let mut changed = true;
    let mut attempts = 0..actors.len();
    while std::mem::take(&mut changed) && attempts.next().is_some() {
        for (at, actor) in actors.iter().enumerate() {
            let kernel = kernels.iter().find(|kernel| kernel.actors.contains(&at));
            let inside = |writer: &usize| kernel.is_some_and(|kernel| kernel.actors.contains(writer));
            let before = actor.inputs.iter().flat_map(|port| &writers[port.buffer]);
            let before = before.filter(|writer| **writer < at && !inside(writer));
            let depth = before.map(|writer| depths[*writer] + 1).max().unwrap_or(0);
            for member in kernel.map_or(std::slice::from_ref(&at), |kernel| &kernel.actors) {
                changed |= depth > depths[*member];
                depths[*member] = depth.max(depths[*member]);
            }
        }
    }
    depths
}

impl Finder<'_> {
    fn can_be_packed(&self, facts: &Facts<'_>, at: usize) -> bool {
        let actor = &self.actors[at];
        let Some(codes) = &self.codes[actor.node.0 as usize] else { return false };
        let flat = facts.compiled.flat.node(actor.node);
        let plain = !fails(&codes.work) && codes.work.formats.is_empty() && codes.handlers.is_empty();
        let own = |port: &Port| port.items.window > 0;
        plain
            && flat.inputs().len() <= 1
            && flat.outputs().len() == 1
            && actor.inputs.iter().chain(&actor.outputs).all(own)
    }

    fn depth(&mut self, facts: &Facts<'_>, actors: &[usize]) {
        let mut alike: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for actor in actors {
            alike.entry(self.key(facts, *actor)).or_default().push(*actor);
        }
        let mut groups: Vec<Vec<usize>> = alike.into_values().collect();
        groups.sort_unstable();
        groups.into_iter().for_each(|group| self.group(group));
    }

    /// A key that is equal for filters that may be members.
    fn key(&self, facts: &Facts<'_>, at: usize) -> String {
        let actor = &self.actors[at];
        let (node, codes) = (actor.node.0 as usize, self.codes[actor.node.0 as usize].as_ref());
        let codes = codes.expect("a member has code");
        let input = actor.inputs.first().map(|port| {
            let class = self.class[port.buffer].ok_or(port.buffer);
            (class, Items { base: 0, ..port.items.clone() })
        });
        let output = actor.outputs.first().map(|port| Items { base: 0, ..port.items.clone() });
        let times = (facts.begun[node], facts.firings[node], codes.prework.is_some());
        format!("{input:?} {output:?} {times:?} {}", outline(&codes.work))
    }

    /// Makes isomorphic filters a group if they write one buffer, or buffers that form a class; else splits them.
    fn group(&mut self, actors: Vec<usize>) {
        if actors.len() < 2 {
            return;
        }
        let buffers = self.outputs(&actors);
        if buffers.len() == 1 || self.make_class(&buffers, &actors) {
            let mut classes: Vec<usize> = [self.inputs(&actors), buffers]
                .into_iter()
                .filter(|buffers| buffers.len() > 1)
                .filter_map(|buffers| self.class[buffers[0]])
                .collect();
            classes.dedup();
            self.found.groups.push(Group { actors, classes });
            return;
        }
        for buffer in buffers {
            let same = |actor: &usize| self.actors[*actor].outputs[0].buffer == buffer;
            self.group(actors.iter().copied().filter(same).collect());
        }
    }

    fn outputs(&self, actors: &[usize]) -> Vec<usize> {
        distinct(actors.iter().map(|actor| self.actors[*actor].outputs[0].buffer))
    }

    fn inputs(&self, actors: &[usize]) -> Vec<usize> {
        distinct(actors.iter().filter_map(|actor| Some(self.actors[*actor].inputs.first()?.buffer)))
    }

    /// Makes buffers a class, if only these actors write them, and all in the same way.
    fn make_class(&mut self, buffers: &[usize], actors: &[usize]) -> bool {
        let way = |buffer: usize| {
            let Buffer { cell, cells, origin, advance, keep, .. } = self.buffers[buffer];
            let writers = &self.writers[buffer];
            let ways: Vec<&Items> =
                writers.iter().map(|writer| &self.actors[*writer].outputs[0].items).collect();
            writers
                .iter()
                .all(|writer| actors.contains(writer))
                .then_some((cell, cells, origin, advance, keep, ways))
        };
        let Some(first) = way(buffers[0]) else { return false };
        if !buffers.iter().all(|buffer| way(*buffer).as_ref() == Some(&first)) {
            return false;
        }
        let class = self.found.classes.len();
        buffers.iter().for_each(|buffer| self.class[*buffer] = Some(class));
        self.found.classes.push(buffers.to_vec());
        true
    }
}

fn distinct(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all = Vec::new();
    for number in numbers {
        if !all.contains(&number) {
            all.push(number);
        }
    }
    all
}

/// The views of channels after the buffers of some classes have been interleaved.
pub(super) fn interleaved(
    views: &[Option<View>],
    buffers: &[Buffer],
    classes: &[&Vec<usize>],
) -> Vec<Option<View>> {
    let mut views = views.to_vec();
    for class in classes {
        let channels: Vec<ChannelId> = class.iter().map(|buffer| buffers[*buffer].channel).collect();
        for view in views.iter_mut().flatten() {
            if let Some(before) = channels.iter().position(|channel| *channel == view.buffer) {
                let (all, before) = (channels.len() as i64, before as i64);
                view.buffer = channels[0];
                view.mappings.push(Mapping::RoundRobin { width: 1, all, before });
            }
        }
    }
    views
}
