//! The tree as a list, each stream before what it is made of: what pictures are drawn from, so that none
//! has to recurse.

use crate::flat::{Flat, NodeId, NodeKind};
use crate::tree::{FilterId, Stream, StreamKind, Tree};
use std::collections::HashMap;

/// A stream, a splitter or a joiner.
pub(super) struct Block<'a> {
    /// What it is; none of a splitter or a joiner.
    pub stream: Option<&'a Stream>,
    /// Its node, unless it is a composite.
    pub node: Option<NodeId>,
    /// Its part in what it is in.
    pub role: Role,
    /// What it is in; its own place, of the whole.
    pub parent: usize,
    /// How deep it is in others.
    pub depth: usize,
    /// What it is made of.
    pub children: Vec<usize>,
}

/// The part of a stream in a composite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// One of several.
    Child,
    Split,
    Join,
    Body,
    /// The way back of a loop.
    Back,
}

/// All blocks.
pub(super) struct Blocks<'a> {
    pub all: Vec<Block<'a>>,
    /// For each node its block, where it has one.
    pub of_node: Vec<Option<usize>>,
}

enum Task<'a> {
    Stream(&'a Stream, Role),
    /// A splitter or joiner; what its name ends with.
    End(&'static str, Role),
}

impl<'a> Blocks<'a> {
    pub fn of(tree: &'a Tree, flat: &Flat) -> Blocks<'a> {
        let mut maker = Maker::new(tree, flat);
        let mut tasks = vec![(Task::Stream(&tree.root, Role::Child), None)];
        while let Some((task, parent)) = tasks.pop() {
            match task {
                Task::Stream(stream, role) => {
                    let place = maker.stream(stream, role, parent);
                    tasks.extend(parts(stream).into_iter().rev().map(|part| (part, Some(place))));
                }
                Task::End(last, role) => maker.end(last, role, parent),
            }
        }
        Blocks { all: maker.all, of_node: maker.of_node }
    }
}

/// What a stream is made of.
fn parts(stream: &Stream) -> Vec<Task<'_>> {
    let child = |child| Task::Stream(child, Role::Child);
    match &stream.kind {
        StreamKind::Filter(_) => Vec::new(),
        StreamKind::Pipeline(children) => children.iter().map(child).collect(),
        StreamKind::SplitJoin { children, .. } => {
            let ends = (Task::End("split", Role::Split), Task::End("join", Role::Join));
            std::iter::once(ends.0).chain(children.iter().map(child)).chain([ends.1]).collect()
        }
        StreamKind::FeedbackLoop { body, back, .. } => vec![
            Task::End("join", Role::Join),
            Task::Stream(body, Role::Body),
            Task::End("split", Role::Split),
            Task::Stream(back, Role::Back),
        ],
    }
}

struct Maker<'a, 'f> {
    all: Vec<Block<'a>>,
    of_node: Vec<Option<usize>>,
    /// Nodes of filters, by the filters' numbers.
    filters: HashMap<FilterId, NodeId>,
    /// Splitters and joiners, by name.
    ends: HashMap<&'f str, NodeId>,
}

impl<'a, 'f> Maker<'a, 'f> {
    fn new(tree: &'a Tree, flat: &'f Flat) -> Maker<'a, 'f> {
        let mut filters = HashMap::with_capacity(tree.filters.len());
        let mut ends = HashMap::new();
        for (place, node) in flat.nodes.iter().enumerate() {
            let id = NodeId(place as u32);
            match node.kind {
                NodeKind::Filter(filter) => filters.insert(filter, id),
                NodeKind::Split(_) | NodeKind::Join(_) => ends.insert(&*node.name, id),
            };
        }
        Maker { all: Vec::new(), of_node: vec![None; flat.nodes.len()], filters, ends }
    }

    fn stream(&mut self, stream: &'a Stream, role: Role, parent: Option<usize>) -> usize {
        let node = match &stream.kind {
            StreamKind::Filter(id) => self.filters.get(id).copied(),
            _ => None,
        };
        self.block(Some(stream), node, role, parent)
    }

    /// A splitter or joiner, where there is one.
    fn end(&mut self, last: &str, role: Role, parent: Option<usize>) {
        let mut parts = vec![last];
        let mut above = parent;
        while let Some(place) = above {
            parts.extend(self.all[place].stream.map(|stream| stream.name.as_str()));
            above = Some(self.all[place].parent).filter(|parent| *parent != place);
        }
        parts.reverse();
        if let Some(node) = self.ends.get(parts.join(".").as_str()).copied() {
            self.block(None, Some(node), role, parent);
        }
    }

    fn block(
        &mut self,
        stream: Option<&'a Stream>,
        node: Option<NodeId>,
        role: Role,
        parent: Option<usize>,
    ) -> usize {
        let place = self.all.len();
        let depth = parent.map_or(0, |parent| self.all[parent].depth + 1);
        if let Some(parent) = parent {
            self.all[parent].children.push(place);
        }
        if let Some(node) = node {
            self.of_node[node.0 as usize] = Some(place);
        }
        let parent = parent.unwrap_or(place);
        self.all.push(Block { stream, node, role, parent, depth, children: Vec::new() });
        place
    }
}
