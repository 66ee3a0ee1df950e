//! The tree as a list in which each stream precedes its parts. Pictures are drawn from it without recursion.

use crate::flat::{Flat, NodeId};
use crate::tree::{FilterId, Stream, StreamKind, Tree};
use std::collections::HashMap;

/// A stream, a splitter or a joiner.
pub(super) struct Block<'a> {
    /// The stream; `None` for a splitter or joiner.
    pub stream: Option<&'a Stream>,
    /// Its node, unless it is a composite.
    pub node: Option<NodeId>,
    /// Its role in its parent.
    pub role: Role,
    /// Its parent; the root is its own parent.
    pub parent: usize,
    /// Its nesting depth.
    pub depth: usize,
    /// Its parts.
    pub children: Vec<usize>,
}

/// The role of a stream in a composite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A child of a pipeline or splitjoin.
    Child,
    Split,
    Join,
    Body,
    /// The loop stream of a feedback loop.
    Back,
}

/// All blocks.
pub(super) struct Blocks<'a> {
    pub all: Vec<Block<'a>>,
    /// The block of each node, if it has one.
    pub of_node: Vec<Option<usize>>,
}

enum Task<'a> {
    Stream(&'a Stream, Role),
    /// A splitter or joiner, with the end of its name.
    End(&'static str, Role),
}

impl<'a> Blocks<'a> {
    pub fn of(tree: &'a Tree, flat: &Flat) -> Blocks<'a> {
        let mut builder = Builder::new(tree, flat);
        let mut tasks = vec![(Task::Stream(&tree.root, Role::Child), None)];
        while let Some((task, parent)) = tasks.pop() {
            match task {
                Task::Stream(stream, role) => {
                    let place = builder.stream(stream, role, parent);
                    tasks.extend(parts(stream).into_iter().rev().map(|part| (part, Some(place))));
                }
                Task::End(last, role) => builder.end(last, role, parent),
            }
        }
        Blocks { all: builder.all, of_node: builder.of_node }
    }
}

/// The parts of a stream.
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

struct Builder<'a, 'f> {
    all: Vec<Block<'a>>,
    of_node: Vec<Option<usize>>,
    /// Nodes of filters, by filter id.
    filters: HashMap<FilterId, NodeId>,
    /// Splitters and joiners, by name.
    ends: HashMap<&'f str, NodeId>,
}

impl<'a, 'f> Builder<'a, 'f> {
    fn new(tree: &'a Tree, flat: &'f Flat) -> Builder<'a, 'f> {
        let mut filters = HashMap::with_capacity(tree.filters.len());
        let mut ends = HashMap::new();
        for id in flat.graph.node_ids() {
            match flat.filter(id) {
                Some(filter) => filters.insert(filter, id),
                None => ends.insert(flat.node(id).name(), id),
            };
        }
        Builder { all: Vec::new(), of_node: vec![None; flat.nodes().len()], filters, ends }
    }

    fn stream(&mut self, stream: &'a Stream, role: Role, parent: Option<usize>) -> usize {
        let node = match &stream.kind {
            StreamKind::Filter(id) => self.filters.get(id).copied(),
            _ => None,
        };
        self.block(Some(stream), node, role, parent)
    }

    /// A splitter or joiner, if it exists.
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
