//! From the tree to the flat graph.
//!
//! Uses an explicit stack of tasks, because trees may be deep. The traversal follows the items: `flow` is the
//! output port reached last, and the next consumer is connected to it.

use super::draft::{Draft, Kind, Line, finish};
use super::{Contents, Flat};
use crate::source::Span;
use crate::tree::{FilterId, Stream, StreamKind, Tree, Weights};
use crate::value::Shape;
use smol_str::{SmolStr, SmolStrBuilder};

/// Builds the flat graph of a tree.
pub fn flatten(tree: &Tree) -> Flat {
    let mut builder = Builder::default();
    builder.tasks.push(Task::Visit(&tree.root, NO_PATH));
    while let Some(task) = builder.tasks.pop() {
        builder.step(task, tree);
    }
    finish(builder.nodes, builder.channels, tree)
}

/// An output port and its item shape.
#[derive(Clone)]
struct Source {
    node: usize,
    port: usize,
    item: Shape,
}

/// A path: an index into `Builder::paths`. `NO_PATH` is the parent of the root.
type Path = usize;
const NO_PATH: Path = usize::MAX;

enum Task<'a> {
    /// Visit a stream with this parent path.
    Visit(&'a Stream, Path),
    /// Set the flow.
    From(Option<Source>),
    /// Save the flow for the joiner.
    Save,
    /// All children are done: add the joiner.
    Join(&'a Stream, Path),
    /// The body of a loop is done: add the splitter. The index is the joiner's.
    EndBody(&'a Stream, Path, usize),
    /// The loop stream is done: close the loop at the joiner.
    EndLoop(&'a Stream, usize),
}

#[derive(Default)]
struct Builder<'a> {
    tasks: Vec<Task<'a>>,
    flow: Option<Source>,
    saved: Vec<Option<Source>>,
    /// Each name with its parent path.
    paths: Vec<(Path, &'a SmolStr)>,
    nodes: Vec<Draft>,
    channels: Vec<Line>,
}

impl<'a> Builder<'a> {
    fn step(&mut self, task: Task<'a>, tree: &'a Tree) {
        match task {
            Task::Visit(stream, within) => self.visit(stream, within, tree),
            Task::From(source) => self.flow = source,
            Task::Save => self.saved.push(self.flow.take()),
            Task::Join(stream, path) => self.join(stream, path),
            Task::EndBody(stream, path, joiner) => self.end_body(stream, path, joiner),
            Task::EndLoop(stream, joiner) => self.end_loop(stream, joiner),
        }
    }

    fn visit(&mut self, stream: &'a Stream, within: Path, tree: &'a Tree) {
        self.paths.push((within, &stream.name));
        let path = self.paths.len() - 1;
        match &stream.kind {
            StreamKind::Filter(filter) => self.filter(stream, *filter, tree),
            StreamKind::Pipeline(children) => {
                self.tasks.extend(children.iter().rev().map(|child| Task::Visit(child, path)));
            }
            StreamKind::SplitJoin { split, children, .. } => self.split(stream, split, children, path),
            StreamKind::FeedbackLoop { join, body, .. } => self.begin_loop(stream, join, body, path),
        }
    }

    fn filter(&mut self, stream: &'a Stream, filter: FilterId, tree: &Tree) {
        let name = tree.filters[filter.0 as usize].path.clone();
        let ports = (usize::from(!stream.input.is_void()), usize::from(!stream.output.is_void()));
        let node = self.add(name, stream.span, Kind::Filter(filter), ports);
        self.connect(node, 0);
        self.flow = (ports.1 == 1).then(|| Source { node, port: 0, item: stream.output.clone() });
    }

    /// Adds a splitter, and tasks for the children in order.
    fn split(&mut self, stream: &'a Stream, split: &Weights, children: &'a [Stream], path: Path) {
        let has_input: Vec<bool> = children.iter().map(|child| !child.input.is_void()).collect();
        let inward = !stream.input.is_void();
        let weights = of_ports(split, &has_input, inward);
        let ports = (usize::from(inward), has_input.iter().filter(|has_input| **has_input).count());
        let node = (ports != (0, 0)).then(|| {
            let name = self.name(path, "split");
            self.add(name, stream.span, Kind::Split(weights), ports)
        });
        if let Some(node) = node {
            self.connect(node, 0);
        }
        self.tasks.push(Task::Join(stream, path));
        let mut port = ports.1;
        for (child, has_input) in children.iter().zip(has_input).rev() {
            port -= usize::from(has_input);
            let source = node.filter(|_| has_input);
            self.tasks.push(Task::Save);
            self.tasks.push(Task::Visit(child, path));
            self.tasks.push(Task::From(source.map(|node| Source { node, port, item: child.input.clone() })));
        }
    }

    fn join(&mut self, stream: &'a Stream, path: Path) {
        let StreamKind::SplitJoin { join, children, .. } = &stream.kind else { return };
        let flows = self.saved.split_off(self.saved.len() - children.len());
        let has_output: Vec<bool> = flows.iter().map(Option::is_some).collect();
        let outward = !stream.output.is_void();
        let weights = of_ports(join, &has_output, outward);
        let ports = (has_output.iter().filter(|has_output| **has_output).count(), usize::from(outward));
        if ports == (0, 0) {
            self.flow = None;
            return;
        }
        let name = self.name(path, "join");
        let node = self.add(name, stream.span, Kind::Join(weights), ports);
        for (port, flow) in flows.into_iter().flatten().enumerate() {
            self.flow = Some(flow);
            self.connect(node, port);
        }
        self.flow = outward.then(|| Source { node, port: 0, item: stream.output.clone() });
    }

    fn begin_loop(&mut self, stream: &'a Stream, join: &Weights, body: &'a Stream, path: Path) {
        let outside = !stream.input.is_void();
        let weights = of_ports(join, &[outside, true], true);
        let name = self.name(path, "join");
        let ports = (1 + usize::from(outside), 1);
        let joiner = self.add(name, stream.span, Kind::Join(weights), ports);
        if outside {
            self.connect(joiner, 0);
        }
        self.flow = Some(Source { node: joiner, port: 0, item: body.input.clone() });
        self.tasks.push(Task::EndBody(stream, path, joiner));
        self.tasks.push(Task::Visit(body, path));
    }

    fn end_body(&mut self, stream: &'a Stream, path: Path, joiner: usize) {
        let StreamKind::FeedbackLoop { split, back, .. } = &stream.kind else { return };
        let outside = !stream.output.is_void();
        let weights = of_ports(split, &[outside, true], true);
        let name = self.name(path, "split");
        let ports = (1, 1 + usize::from(outside));
        let node = self.add(name, stream.span, Kind::Split(weights), ports);
        self.connect(node, 0);
        self.saved.push(outside.then(|| Source { node, port: 0, item: stream.output.clone() }));
        self.flow = Some(Source { node, port: usize::from(outside), item: back.input.clone() });
        self.tasks.push(Task::EndLoop(stream, joiner));
        self.tasks.push(Task::Visit(back, path));
    }

    fn end_loop(&mut self, stream: &'a Stream, joiner: usize) {
        let StreamKind::FeedbackLoop { enqueued, .. } = &stream.kind else { return };
        let port = self.nodes[joiner].inputs.len() - 1;
        if let Some(channel) = self.connect(joiner, port) {
            channel.contents.initial = enqueued.to_vec();
            channel.back = true;
        }
        self.flow = self.saved.pop().flatten();
    }

    fn add(&mut self, name: SmolStr, span: Span, kind: Kind, ports: (usize, usize)) -> usize {
        let (inputs, outputs) = (vec![None; ports.0], vec![None; ports.1]);
        self.nodes.push(Draft { name, span, kind, inputs, outputs });
        self.nodes.len() - 1
    }

    /// Connects the flow to an input port, if both exist.
    fn connect(&mut self, to: usize, port: usize) -> Option<&mut Line> {
        let input = self.nodes[to].inputs.get_mut(port)?;
        let source = self.flow.take()?;
        *input = Some(self.channels.len());
        self.nodes[source.node].outputs[source.port] = *input;
        let contents = Contents { shape: source.item, initial: Vec::new() };
        self.channels.push(Line { from: source.node, to, contents, back: false });
        self.channels.last_mut()
    }

    /// The text of a path, with `last` appended.
    fn name(&self, mut path: Path, last: &str) -> SmolStr {
        let mut parts = vec![last];
        while let Some((within, name)) = self.paths.get(path) {
            parts.push(name);
            path = *within;
        }
        let mut name = SmolStrBuilder::new();
        for (place, part) in parts.iter().rev().enumerate() {
            if place > 0 {
                name.push('.');
            }
            name.push_str(part);
        }
        name.finish()
    }
}

/// Weights of the existing ports; all 0 if nothing passes on the other side.
fn of_ports(weights: &Weights, exists: &[bool], passes: bool) -> Weights {
    let Weights::RoundRobin(weights) = weights else {
        let none = vec![0; exists.iter().filter(|exists| **exists).count()];
        return if passes { Weights::Duplicate } else { Weights::RoundRobin(none) };
    };
    let weight = |port: usize| if passes { weights.get(port).copied().unwrap_or(0) } else { 0 };
    let ports = exists.iter().enumerate().filter(|(_, exists)| **exists);
    Weights::RoundRobin(ports.map(|(port, _)| weight(port)).collect())
}
