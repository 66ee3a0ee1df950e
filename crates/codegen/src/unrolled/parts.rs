//! Cuts a block's [`Dag`](super::dag::Dag) into loops over memory close by and registers.
//!
//! **Slabs.** Consecutive actors form a slab as long as the components of its nodes need no more values at a
//! time than there are registers: then items pass from one actor to the next in registers. What a later slab
//! needs is stored.
//!
//! **Components.** The nodes of a slab fall into connected components. Isomorphic components, which differ
//! only in constants and in the positions of loads and stores, become one loop over all of them.
//!
//! Source: M. Frigo, A Fast Fourier Transform Compiler, section 6, orders its code in the same way: parts of
//! a network with few values between them are done one after the other.

use super::dag::{Node, Op, Val};
use super::linked::{Acting, Linked, Pressure, args};
use super::trace::{Cells, Trace};
use crate::ir::Kind;
use rustc_hash::FxHashMap;

/// The most values that are live at a time.
const REGISTERS: usize = 30;

/// The most nodes of a component, and of all classes together.
const LARGEST: usize = 2500;
const MOST: usize = 8000;

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arg {
    None,
    /// The result of another step of the class.
    Own(u32),
    Load(u32),
    Const(u32),
}

/// An operation of a class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) kind: Kind,
    pub(crate) of: Kind,
    pub(crate) args: [Arg; 3],
}

/// A load or a store of a class: the cell's position in the block's memory, by instance.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Access {
    pub(crate) kind: Kind,
    pub(crate) buffer: u32,
    pub(crate) at: Vec<u32>,
}

/// Isomorphic components.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Class {
    pub(crate) steps: Vec<Step>,
    /// The lengths of runs of steps that belong to one firing.
    pub(crate) firings: Vec<usize>,
    pub(crate) loads: Vec<Access>,
    pub(crate) consts: Vec<(Kind, Vec<u32>)>,
    /// The index of the step that computes the stored value, and the store.
    pub(crate) stores: Vec<(u32, Access)>,
    /// The most values that are live at a time.
    pub(crate) pressure: usize,
    pub(crate) instances: usize,
}

/// A buffer in the block's memory.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Slot {
    pub(crate) buffer: usize,
    /// The range of cells of a steady state that is there.
    pub(crate) low: u32,
    pub(crate) cells: u32,
    /// The offset in the block's memory.
    pub(crate) offset: u32,
    /// The class before which they must be there.
    pub(crate) before: usize,
}

/// A block as loops.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Parts {
    pub(crate) classes: Vec<Class>,
    pub(crate) slots: Vec<Slot>,
    /// The number of vectors of memory.
    pub(crate) vectors: u32,
}

/// A buffer and a cell of it.
pub(super) type Spot = (u32, u32);

struct Cut<'a> {
    nodes: &'a [Node],
    live: Vec<bool>,
    /// By node.
    slab: Vec<u32>,
    stores: Vec<Vec<Spot>>,
    homes: Vec<Option<Spot>>,
    /// The number of nodes after each firing.
    firings: &'a [u32],
}

/// A growing slab.
struct Slab {
    linked: Linked,
    fits: bool,
    component: Vec<u32>,
}

impl Slab {
    fn from(from: u32) -> Slab {
        Slab { linked: Linked::from(from), fits: true, component: Vec::new() }
    }

    /// Adds nodes; returns whether components are small enough. (A component that is too large stays so.)
    fn fits_up_to(&mut self, acting: Acting<'_>, pressure: &mut Pressure, end: u32) -> bool {
        for first in self.linked.grow(acting, end) {
            if !self.fits {
                break;
            }
            let component = &mut self.component;
            self.linked.component(first, component);
            self.fits = component.len() <= LARGEST && pressure.of(acting.nodes, component) <= REGISTERS;
        }
        self.fits
    }
}

/// Which actors form a slab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Together {
    /// As many as registers allow.
    Most,
    /// Those that do not depend on each other.
    Beside,
}

/// Makes every output of the block a node; returns where nodes are stored.
pub(super) fn close(trace: &mut Trace, exits: &[usize], ends: &mut Vec<u32>) -> Vec<Vec<Spot>> {
    let stores = outputs(trace, exits);
    ends.push(trace.dag.nodes.len() as u32);
    trace.homes.resize(trace.dag.nodes.len(), None);
    stores
}

/// Cuts a block up; `ends` are the numbers of nodes after each actor. `None` where the result is too large.
pub(super) fn parts(
    trace: &Trace,
    exits: &[usize],
    (stores, ends): (Vec<Vec<Spot>>, &[u32]),
    together: Together,
) -> Option<Parts> {
    let nodes = &trace.dag.nodes[..];
    let mut cut = Cut {
        nodes,
        live: live(nodes, &stores),
        slab: vec![0; nodes.len()],
        stores,
        homes: trace.homes.clone(),
        firings: &trace.firings,
    };
    let slabs = cut.slabs(ends, together);
    for (at, (from, to)) in slabs.iter().enumerate() {
        cut.slab[*from as usize..*to as usize].fill(at as u32);
    }
    cut.keep()?;
    let (mut slots, vectors) = cut.slots(exits, slabs.len() as u32);
    let (mut classes, mut first) = (Vec::new(), Vec::new());
    let by_buffer = slots.iter().map(|slot| (slot.buffer as u32, slot)).collect();
    let mut pressure = Pressure::new(nodes.len());
    for slab in &slabs {
        first.push(classes.len());
        cut.classes(*slab, &by_buffer, &mut pressure, &mut classes)?;
    }
    slots.iter_mut().for_each(|slot| slot.before = first[slot.before]);
    (classes.iter().map(|class| class.steps.len()).sum::<usize>() <= MOST).then_some(Parts {
        classes,
        slots,
        vectors,
    })
}

/// The outputs that each node is stored to; an output that no node computes gets a copy node.
fn outputs(trace: &mut Trace, exits: &[usize]) -> Vec<Vec<Spot>> {
    let mut wanted = Vec::new();
    for buffer in exits {
        let Some(Cells::Inside(cells)) = &trace.buffers[*buffer] else { continue };
        wanted.extend(cells.iter().enumerate().map(|(cell, value)| (*buffer as u32, cell as u32, *value)));
    }
    let mut stores = vec![Vec::new(); trace.dag.nodes.len()];
    for (buffer, cell, value) in wanted {
        let node = match value {
            Val::None => continue,
            Val::Node(node) if !matches!(trace.dag.nodes[node as usize].op, Op::In { .. }) => node,
            Val::Node(node) => {
                let kind = trace.dag.nodes[node as usize].kind;
                trace.dag.same(value, kind)
            }
            Val::Const(kind, _) => trace.dag.same(value, kind),
        };
        stores.resize(trace.dag.nodes.len(), Vec::new());
        stores[node as usize].push((buffer, cell));
    }
    stores.resize(trace.dag.nodes.len(), Vec::new());
    stores
}

fn live(nodes: &[Node], stores: &[Vec<Spot>]) -> Vec<bool> {
    let mut live: Vec<bool> = stores.iter().map(|stores| !stores.is_empty()).collect();
    for at in (0..nodes.len()).rev() {
        if live[at] {
            for arg in nodes[at].args {
                if let Val::Node(node) = arg {
                    live[node as usize] = true;
                }
            }
        }
    }
    live
}

impl Cut<'_> {
    fn acting(&self) -> Acting<'_> {
        Acting { nodes: self.nodes, live: &self.live }
    }

    fn acts(&self, node: u32) -> bool {
        self.acting().acts(node)
    }

    fn args(&self, node: u32) -> impl Iterator<Item = u32> + use<> {
        args(&self.nodes[node as usize]).into_iter().flatten()
    }

    /// Ranges of nodes, each of one or several actors.
    fn slabs(&self, ends: &[u32], together: Together) -> Vec<(u32, u32)> {
        let mut slabs = Vec::new();
        let (mut from, mut to) = (0, 0);
        let mut slab = Slab::from(0);
        let mut pressure = Pressure::new(self.nodes.len());
        for end in ends.iter().copied() {
            if end == to {
                continue;
            }
            let fits = match together {
                Together::Most => slab.fits_up_to(self.acting(), &mut pressure, end),
                Together::Beside => !(to..end).any(|node| {
                    self.acts(node) && self.args(node).any(|arg| (from..to).contains(&arg) && self.acts(arg))
                }),
            };
            if to > from && !fits {
                slabs.push((from, to));
                from = to;
                slab = Slab::from(from);
                if together == Together::Most {
                    slab.fits_up_to(self.acting(), &mut pressure, end);
                }
            }
            to = end;
        }
        slabs.push((from, to));
        slabs
    }

    /// Assigns memory to values that a later slab needs.
    fn keep(&mut self) -> Option<()> {
        for node in (0..self.nodes.len() as u32).filter(|node| self.acts(*node)).collect::<Vec<_>>() {
            for arg in self.args(node).collect::<Vec<_>>() {
                if self.acts(arg) && self.slab[arg as usize] < self.slab[node as usize] {
                    // An actor's result that another actor uses was stored to a buffer.
                    let home = self.homes[arg as usize]?;
                    if !self.stores[arg as usize].contains(&home) {
                        self.stores[arg as usize].push(home);
                    }
                }
            }
        }
        Some(())
    }

    /// Where the value of a node is found later.
    fn spot(&self, node: u32) -> Option<Spot> {
        match self.nodes[node as usize].op {
            Op::In { buffer, cell } => Some((buffer, cell)),
            _ => self.homes[node as usize],
        }
    }

    /// Assigns memory to each buffer for its lifetime.
    fn slots(&self, exits: &[usize], slabs: u32) -> (Vec<Slot>, u32) {
        /// A range of cells, and a range of slabs plus one.
        struct Span {
            cells: (u32, u32),
            time: (u32, u32),
        }
        let mut spans: FxHashMap<u32, Span> = FxHashMap::default();
        let mut touch = |(buffer, cell): Spot, time: u32| {
            let span = spans.entry(buffer).or_insert(Span { cells: (cell, cell), time: (time, time) });
            span.cells = (span.cells.0.min(cell), span.cells.1.max(cell));
            span.time = (span.time.0.min(time), span.time.1.max(time));
        };
        for node in (0..self.nodes.len() as u32).filter(|node| self.acts(*node)) {
            let now = self.slab[node as usize] + 1;
            self.stores[node as usize].iter().for_each(|spot| touch(*spot, now));
            for arg in self.args(node) {
                let entered = !self.acts(arg);
                if (entered || self.slab[arg as usize] + 1 < now)
                    && let Some(spot) = self.spot(arg)
                {
                    touch(spot, now);
                }
            }
        }
        for buffer in exits {
            if let Some(span) = spans.get_mut(&(*buffer as u32)) {
                span.time.1 = slabs + 1;
            }
        }
        let mut spans: Vec<(u32, Span)> = spans.into_iter().collect();
        spans.sort_unstable_by_key(|(buffer, span)| (span.time.0, *buffer));
        let mut placed: Vec<(Slot, (u32, u32))> = Vec::new();
        for (buffer, span) in spans {
            let cells = span.cells.1 - span.cells.0 + 1;
            let beside: Vec<(u32, u32)> = placed
                .iter()
                .filter(|(_, time)| time.0 <= span.time.1 && span.time.0 <= time.1)
                .map(|(slot, _)| (slot.offset, slot.offset + slot.cells.max(super::ROW)))
                .collect();
            let free =
                |from: u32| beside.iter().all(|(a, b)| *b <= from || from + cells.max(super::ROW) <= *a);
            let offset =
                std::iter::once(0).chain(beside.iter().map(|(_, end)| *end)).filter(|at| free(*at)).min();
            let slot = Slot {
                buffer: buffer as usize,
                low: span.cells.0,
                cells,
                offset: offset.unwrap_or(0),
                before: span.time.0 as usize - 1,
            };
            placed.push((slot, span.time));
        }
        let slots: Vec<Slot> = placed.into_iter().map(|(slot, _)| slot).collect();
        let vectors = slots.iter().map(|slot| slot.offset + slot.cells.max(super::ROW)).max().unwrap_or(0);
        (slots, vectors)
    }

    /// The numbers of consecutive nodes that belong to one firing.
    fn firings_of(&self, component: &[u32]) -> Vec<usize> {
        let firing = |node: &u32| self.firings.partition_point(|end| end <= node);
        component.chunk_by(|a, b| firing(a) == firing(b)).map(<[u32]>::len).collect()
    }

    /// The classes of a slab.
    fn classes(
        &self,
        (from, to): (u32, u32),
        by_buffer: &FxHashMap<u32, &Slot>,
        pressure: &mut Pressure,
        classes: &mut Vec<Class>,
    ) -> Option<()> {
        let place = |(buffer, cell): Spot| {
            let slot = by_buffer.get(&buffer)?;
            Some(slot.offset + (cell - slot.low))
        };
        let mut known: FxHashMap<Vec<Token>, usize> = FxHashMap::default();
        let mut linked = Linked::from(from);
        let (mut shape, mut component) = (Shape::default(), Vec::new());
        for first in linked.grow(self.acting(), to) {
            linked.component(first, &mut component);
            shape.clear();
            for node in &component {
                shape.node(self, *node, &place)?;
            }
            let at = known.get(&shape.tokens[..]).copied().unwrap_or_else(|| {
                known.insert(shape.tokens.clone(), classes.len());
                classes.push(Class {
                    steps: shape.steps.clone(),
                    firings: self.firings_of(&component),
                    loads: shape.loads.iter().map(|load| load.0.clone()).collect(),
                    consts: shape.consts.iter().map(|(kind, _)| (*kind, Vec::new())).collect(),
                    stores: shape.stores.iter().map(|(node, store)| (*node, store.0.clone())).collect(),
                    pressure: pressure.of(self.nodes, &component),
                    instances: 0,
                });
                classes.len() - 1
            });
            let class = &mut classes[at];
            class.instances += 1;
            class.loads.iter_mut().zip(&shape.loads).for_each(|(all, (_, one))| all.at.push(*one));
            class.consts.iter_mut().zip(&shape.consts).for_each(|(all, (_, one))| all.1.push(*one));
            class.stores.iter_mut().zip(&shape.stores).for_each(|(all, (_, (_, one)))| all.1.at.push(*one));
        }
        Some(())
    }
}

/// An element of a component's signature: components with equal signatures are isomorphic.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Token {
    Step(Step),
    /// A load from this buffer.
    From(u32),
    Store(u32),
}

#[derive(Default)]
struct Shape {
    tokens: Vec<Token>,
    steps: Vec<Step>,
    /// Accesses without positions, and this component's positions.
    loads: Vec<(Access, u32)>,
    consts: Vec<(Kind, u32)>,
    stores: Vec<(u32, (Access, u32))>,
    own: FxHashMap<u32, u32>,
    loaded: FxHashMap<u32, u32>,
}

impl Shape {
    fn clear(&mut self) {
        self.tokens.clear();
        self.steps.clear();
        self.loads.clear();
        self.consts.clear();
        self.stores.clear();
        self.own.clear();
        self.loaded.clear();
    }

    fn node(&mut self, cut: &Cut<'_>, node: u32, place: &dyn Fn(Spot) -> Option<u32>) -> Option<()> {
        let Node { op, kind, of, args } = cut.nodes[node as usize];
        let mut into = [Arg::None; 3];
        for (to, arg) in into.iter_mut().zip(args) {
            *to = match arg {
                Val::None => Arg::None,
                Val::Const(kind, bits) => {
                    self.consts.push((kind, bits));
                    Arg::Const(self.consts.len() as u32 - 1)
                }
                Val::Node(arg) => match self.own.get(&arg) {
                    Some(own) => Arg::Own(*own),
                    None => Arg::Load(self.load(cut, arg, place)?),
                },
            };
        }
        let step = Step { op, kind, of, args: into };
        self.own.insert(node, self.steps.len() as u32);
        self.steps.push(step);
        self.tokens.push(Token::Step(step));
        for spot in &cut.stores[node as usize] {
            let access = Access { kind, buffer: spot.0, at: Vec::new() };
            self.stores.push((self.steps.len() as u32 - 1, (access, place(*spot)?)));
            self.tokens.push(Token::Store(spot.0));
        }
        Some(())
    }

    fn load(&mut self, cut: &Cut<'_>, node: u32, place: &dyn Fn(Spot) -> Option<u32>) -> Option<u32> {
        if let Some(load) = self.loaded.get(&node) {
            return Some(*load);
        }
        let spot = cut.spot(node)?;
        let access = Access { kind: cut.nodes[node as usize].kind, buffer: spot.0, at: Vec::new() };
        self.loads.push((access, place(spot)?));
        self.tokens.push(Token::From(spot.0));
        let load = self.loads.len() as u32 - 1;
        self.loaded.insert(node, load);
        Some(load)
    }
}
