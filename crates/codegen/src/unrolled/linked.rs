//! The connected components of a slab's nodes, maintained while it grows, and their register pressure.

use super::dag::{Node, Op, Val};

/// The operands of a node that are nodes.
pub(super) fn args(node: &Node) -> [Option<u32>; 3] {
    node.args.map(|arg| if let Val::Node(node) = arg { Some(node) } else { None })
}

/// Nodes, and which of them are live.
#[derive(Clone, Copy)]
pub(super) struct Acting<'a> {
    pub(super) nodes: &'a [Node],
    pub(super) live: &'a [bool],
}

impl Acting<'_> {
    pub(super) fn acts(self, node: u32) -> bool {
        self.live[node as usize] && !matches!(self.nodes[node as usize].op, Op::In { .. })
    }
}

/// The components of a growing range of nodes (union-find).
pub(super) struct Linked {
    from: u32,
    /// By node of the range: another node of its component; following it leads to the first.
    up: Vec<u32>,
    /// By node: the next one of its component, in a circular list.
    next: Vec<u32>,
}

impl Linked {
    /// An empty range that begins at a node.
    pub(super) fn from(from: u32) -> Linked {
        Linked { from, up: Vec::new(), next: Vec::new() }
    }

    fn end(&self) -> u32 {
        self.from + self.up.len() as u32
    }

    /// The first node of a component.
    fn first(&mut self, node: u32) -> u32 {
        let mut at = (node - self.from) as usize;
        loop {
            let up = (self.up[at] - self.from) as usize;
            if up == at {
                return self.up[at];
            }
            self.up[at] = self.up[up];
            at = up;
        }
    }

    /// Adds the nodes up to `end`; returns the first nodes of the components that have changed.
    pub(super) fn grow(&mut self, acting: Acting<'_>, end: u32) -> Vec<u32> {
        let to = self.end();
        for node in to..end {
            self.up.push(node);
            self.next.push(node);
            if acting.acts(node) {
                let before = |arg: &u32| *arg >= self.from && acting.acts(*arg);
                let [a, b, c] = args(&acting.nodes[node as usize]).map(|arg| arg.filter(before));
                [a, b, c].into_iter().flatten().for_each(|arg| self.link(node, arg));
            }
        }
        let mut changed: Vec<u32> =
            (to..end).filter(|node| acting.acts(*node)).map(|node| self.first(node)).collect();
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    fn link(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        if a != b {
            let (a, b) = ((a.min(b) - self.from) as usize, (a.max(b) - self.from) as usize);
            self.up[b] = self.up[a];
            // Joins the two circular lists.
            self.next.swap(a, b);
        }
    }

    /// The nodes of the component with this first node, in order.
    pub(super) fn component(&self, first: u32, into: &mut Vec<u32>) {
        into.clear();
        let mut node = first;
        loop {
            into.push(node);
            node = self.next[(node - self.from) as usize];
            if node == first {
                break;
            }
        }
        into.sort_unstable();
    }
}

/// Scratch memory of [`Pressure::of`], by node; clear between calls.
pub(super) struct Pressure {
    last: Vec<u32>,
    held: Vec<bool>,
}

impl Pressure {
    pub(super) fn new(nodes: usize) -> Pressure {
        Pressure { last: vec![0; nodes], held: vec![false; nodes] }
    }

    /// The most values that are live at a time in a component.
    pub(super) fn of(&mut self, nodes: &[Node], component: &[u32]) -> usize {
        let args = |node: u32| args(&nodes[node as usize]).into_iter().flatten().map(|arg| arg as usize);
        for (at, node) in component.iter().enumerate() {
            self.last[*node as usize] = at as u32;
            args(*node).for_each(|arg| self.last[arg] = at as u32);
        }
        let (mut now, mut most) = (0, 0);
        for (at, node) in component.iter().enumerate() {
            for arg in args(*node) {
                now += usize::from(!std::mem::replace(&mut self.held[arg], true));
            }
            most = most.max(now);
            for arg in args(*node).filter(|arg| self.last[*arg] == at as u32) {
                now -= usize::from(std::mem::replace(&mut self.held[arg], false));
            }
            // A value with later uses stays live until the last one.
            if self.last[*node as usize] > at as u32 {
                now += usize::from(!std::mem::replace(&mut self.held[*node as usize], true));
            }
            most = most.max(now);
        }
        most
    }
}
