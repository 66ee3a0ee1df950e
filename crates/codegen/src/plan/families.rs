//! Isomorphic filters (*siblings*): parallel filters that differ only in constants, fields and places.
//!
//! They are searched from the sources on: filters of equal depth with isomorphic codes, that fire equally
//! often, and that read in the same way from one root or from roots that siblings write. Where siblings write
//! roots of their own, these form a *class*: a single root in which the items `k` of all of them are
//! adjacent, as if a joiner had interleaved them ([`interleaved`]). So what one family writes and the next
//! one reads are whole vectors.
//!
//! Filters of equal depth that read one root, or the roots of one class, do not depend on each other's
//! output. Filters in feedback loops, and those that print, draw random numbers or may fail, have no
//! siblings.

use super::fused::Candidate;
use super::{Actor, Facts, Items, Level, Place, Port, Root, Step};
use crate::ir::{Code, Stmt, walk};
use crate::lower::NodeCode;
use crate::siblings::{Joint, outline};
use std::collections::BTreeMap;
use thalweg_lang::flat::ChannelId;

/// A SIMD pack of isomorphic filters that fire together.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Family {
    /// By sibling.
    pub(crate) actors: Vec<usize>,
    /// Their joint code; the lanes of a sibling are adjacent.
    pub(crate) joint: Joint,
    /// Fields that hold equal integers in all siblings.
    pub(crate) same: Vec<u32>,
    /// Lanes of a vector.
    pub(crate) width: usize,
    /// The items of the sibling that comes first in the root.
    pub(crate) input: Option<Port>,
    pub(crate) output: Port,
    /// By lane: the distance in cells from that sibling's items to its own.
    pub(crate) from: Vec<i64>,
    pub(crate) to: Vec<i64>,
    pub(crate) firings: u64,
    /// The cost of a steady state; see [`cost`](super::cost).
    pub(crate) cost: f64,
}

/// Siblings that may fire together, as indices into the actors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Group {
    pub(crate) actors: Vec<usize>,
    /// The classes that they read and write, where these have several roots.
    pub(crate) classes: Vec<usize>,
}

/// The result of the search.
#[derive(Default, Debug)]
pub(crate) struct Found {
    pub(crate) groups: Vec<Group>,
    /// Roots that can be interleaved.
    pub(crate) classes: Vec<Vec<usize>>,
}

struct Finder<'a> {
    codes: &'a [Option<NodeCode>],
    actors: &'a [Actor],
    roots: &'a [Root],
    /// By root: the actors that write it.
    writers: Vec<Vec<usize>>,
    class: Vec<Option<usize>>,
    found: Found,
}

/// Finds siblings among the filters that are not bundled. Several roots that a bundle writes may form a class
/// too.
pub(super) fn find(
    facts: &Facts<'_>,
    codes: &[Option<NodeCode>],
    (actors, roots): (&[Actor], &[Root]),
    steps: &[Step],
    bundles: &[Candidate],
) -> Found {
    let mut writers = vec![Vec::new(); roots.len()];
    for (at, actor) in actors.iter().enumerate() {
        actor.outputs.iter().for_each(|port| writers[port.root].push(at));
    }
    let depths = depths(actors, &writers, bundles);
    let bundled = |actor: &usize| bundles.iter().any(|bundle| bundle.actors.contains(actor));
    let mut finder =
        Finder { codes, actors, roots, writers, class: vec![None; roots.len()], found: Found::default() };
    for bundle in bundles.iter().filter(|bundle| bundle.exits.len() > 1) {
        finder.make_class(&bundle.exits, &bundle.actors);
    }
    let mut by_depth: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for step in steps {
        if let Step::All(actor) = step
            && finder.can_be_sibling(facts, *actor)
            && !bundled(actor)
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

/// The longest path to each actor from the sources; any number for actors in loops. A bundle counts as one.
fn depths(actors: &[Actor], writers: &[Vec<usize>], bundles: &[Candidate]) -> Vec<usize> {
    let mut depths = vec![0; actors.len()];
    let mut changed = true;
    let mut turns = 0..actors.len();
    while std::mem::take(&mut changed) && turns.next().is_some() {
        for (at, actor) in actors.iter().enumerate() {
            let bundle = bundles.iter().find(|bundle| bundle.actors.contains(&at));
            let inside = |writer: &usize| bundle.is_some_and(|bundle| bundle.actors.contains(writer));
            let before = actor.inputs.iter().flat_map(|port| &writers[port.root]);
            let before = before.filter(|writer| **writer < at && !inside(writer));
            let depth = before.map(|writer| depths[*writer] + 1).max().unwrap_or(0);
            for member in bundle.map_or(std::slice::from_ref(&at), |bundle| &bundle.actors) {
                changed |= depth > depths[*member];
                depths[*member] = depth.max(depths[*member]);
            }
        }
    }
    depths
}

impl Finder<'_> {
    fn can_be_sibling(&self, facts: &Facts<'_>, at: usize) -> bool {
        let actor = &self.actors[at];
        let Some(codes) = &self.codes[actor.node.0 as usize] else { return false };
        let flat = facts.compiled.flat.node(actor.node);
        let plain = !fails(&codes.work) && codes.work.formats.is_empty() && codes.handlers.is_empty();
        let own = |port: &Port| port.items.window > 0;
        plain
            && flat.inputs.len() <= 1
            && flat.outputs.len() == 1
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

    /// A key that is equal for filters that may be siblings.
    fn key(&self, facts: &Facts<'_>, at: usize) -> String {
        let actor = &self.actors[at];
        let (node, codes) = (actor.node.0 as usize, self.codes[actor.node.0 as usize].as_ref());
        let codes = codes.expect("a sibling has code");
        let input = actor.inputs.first().map(|port| {
            let class = self.class[port.root].ok_or(port.root);
            (class, Items { base: 0, ..port.items.clone() })
        });
        let output = actor.outputs.first().map(|port| Items { base: 0, ..port.items.clone() });
        let times = (facts.begun[node], facts.firings[node], codes.prework.is_some());
        format!("{input:?} {output:?} {times:?} {}", outline(&codes.work))
    }

    /// Makes isomorphic filters a group if they write one root, or roots that form a class; else splits them.
    fn group(&mut self, actors: Vec<usize>) {
        if actors.len() < 2 {
            return;
        }
        let roots = self.outputs(&actors);
        if roots.len() == 1 || self.make_class(&roots, &actors) {
            let mut classes: Vec<usize> = [self.inputs(&actors), roots]
                .into_iter()
                .filter(|roots| roots.len() > 1)
                .filter_map(|roots| self.class[roots[0]])
                .collect();
            classes.dedup();
            self.found.groups.push(Group { actors, classes });
            return;
        }
        for root in roots {
            let same = |actor: &usize| self.actors[*actor].outputs[0].root == root;
            self.group(actors.iter().copied().filter(same).collect());
        }
    }

    fn outputs(&self, actors: &[usize]) -> Vec<usize> {
        distinct(actors.iter().map(|actor| self.actors[*actor].outputs[0].root))
    }

    fn inputs(&self, actors: &[usize]) -> Vec<usize> {
        distinct(actors.iter().filter_map(|actor| Some(self.actors[*actor].inputs.first()?.root)))
    }

    /// Makes roots a class, if only these actors write them, and all in the same way.
    fn make_class(&mut self, roots: &[usize], actors: &[usize]) -> bool {
        let way = |root: usize| {
            let Root { cell, cells, origin, advance, keep, .. } = self.roots[root];
            let writers = &self.writers[root];
            let ways: Vec<&Items> =
                writers.iter().map(|writer| &self.actors[*writer].outputs[0].items).collect();
            writers
                .iter()
                .all(|writer| actors.contains(writer))
                .then_some((cell, cells, origin, advance, keep, ways))
        };
        let Some(first) = way(roots[0]) else { return false };
        if !roots.iter().all(|root| way(*root).as_ref() == Some(&first)) {
            return false;
        }
        let class = self.found.classes.len();
        roots.iter().for_each(|root| self.class[*root] = Some(class));
        self.found.classes.push(roots.to_vec());
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

/// The places of channels after the roots of some classes have been interleaved.
pub(super) fn interleaved(
    places: &[Option<Place>],
    roots: &[Root],
    classes: &[&Vec<usize>],
) -> Vec<Option<Place>> {
    let mut places = places.to_vec();
    for class in classes {
        let channels: Vec<ChannelId> = class.iter().map(|root| roots[*root].channel).collect();
        for place in places.iter_mut().flatten() {
            if let Some(before) = channels.iter().position(|channel| *channel == place.root) {
                let (all, before) = (channels.len() as i64, before as i64);
                place.root = channels[0];
                place.levels.push(Level::Deal { width: 1, all, before });
            }
        }
    }
    places
}
