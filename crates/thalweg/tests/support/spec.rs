//! Random graphs as data.
//!
//! A graph is a list of sources and a list of steps. Each step takes streams out of the pool of
//! those that are open and puts its own in; what is open at the end gets a sink. Which stream a
//! step takes is a number modulo the size of the pool, so every list of steps is a graph, and
//! proptest can shrink it by leaving steps out.

use proptest::prelude::*;

/// A step of the splitmix64 generator: what kernels compute.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Values in, one value out, that depends on all of them and their order.
pub fn digest(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(7, mix)
}

/// Where a splitting node sends an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To one of two outputs.
    ByData,
    /// To both.
    Both,
    /// To none, one or both.
    Any,
}

impl Way {
    /// Whether an item of this value goes to the first and to the second output.
    pub fn of(self, value: u64) -> (bool, bool) {
        match self {
            Way::ByData => (value.is_multiple_of(2), value % 2 == 1),
            Way::Both => (true, true),
            Way::Any => (value & 1 == 1, value & 6 == 6),
        }
    }
}

/// How the joining node of a loop takes from outside and from the way back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// One of each: the loop ends with the outside.
    Zip,
    /// One that came round, and as many from outside as it says: 0 to 2.
    ByData,
    /// All from outside first, then what comes round until nothing does: only the engine can see
    /// that the loop is over. The way back must grow.
    Drain,
}

/// What a step adds to the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// One result an item; with state where it is sequential.
    Map { parallel: bool, blocking: bool },
    /// None to three results an item.
    Rated { parallel: bool },
    /// `pop` items, `push` results.
    Static { parallel: bool, pop: u32, push: u32 },
    /// `peek` items seen, `pop` taken, one result.
    Window { parallel: bool, pop: u32, peek: u32 },
    /// Two outputs.
    Split { parallel: bool, way: Way },
    /// Two inputs, so many items of each for one result.
    Zip { parallel: bool, pops: (u32, u32) },
    /// Three inputs: the items of the first say from which of the others to take one.
    Choose { parallel: bool },
    /// Two inputs, the smaller head first.
    Merge { parallel: bool },
    /// An item says how many follow it. The framing function looks at the last of them, or leaves
    /// it to the engine to see that they are there.
    Groups { parallel: bool, looks: bool },
    /// A feedback channel with so many initial items, and a chain of maps in the loop.
    Loop { entry: Entry, initial: usize, body: Vec<bool>, parallel: bool },
    /// Each item goes round 0 to 4 times.
    Round { in_flight: usize },
    /// Groups of so many, the last one shorter.
    Chunks(usize),
    /// So many items; then it ends.
    Take(usize),
    /// The digest of all items, given at the end, besides every third item as it comes.
    Total,
}

impl Op {
    /// Streams it takes.
    pub fn inputs(&self) -> usize {
        match self {
            Op::Zip { .. } | Op::Merge { .. } => 2,
            Op::Choose { .. } => 3,
            _ => 1,
        }
    }

    /// Streams it gives.
    pub fn outputs(&self) -> usize {
        if matches!(self, Op::Split { .. }) { 2 } else { 1 }
    }
}

/// A starting node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Items it gives.
    pub items: u64,
    /// What they begin with.
    pub salt: u64,
    /// It has a thread of its own.
    pub blocking: bool,
}

impl Source {
    /// Its items.
    pub fn values(&self) -> impl Iterator<Item = u64> + Send + 'static {
        let salt = self.salt;
        (0..self.items).map(move |i| mix(salt, i))
    }
}

/// One step: what, from which open streams, and how much its outputs can hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What it adds.
    pub op: Op,
    /// Which open streams it takes, modulo how many there are.
    pub picks: [usize; 3],
    /// Capacity of its outputs.
    pub capacity: Option<usize>,
    /// Bytes that items of its outputs count as, more or less.
    pub weight: Option<usize>,
}

/// Sources of a graph at most.
pub const MOST_SOURCES: usize = 3;

/// A random graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Where streams begin: at least one.
    pub sources: Vec<Source>,
    /// What becomes of them.
    pub steps: Vec<Step>,
    /// Kernels that push the same number at every firing say so.
    pub declare: bool,
}

/// A step with the streams it was given, by number.
#[derive(Debug)]
pub struct Wired<'a> {
    /// The step.
    pub step: &'a Step,
    /// Streams it takes.
    pub ins: Vec<usize>,
    /// Streams it gives.
    pub outs: Vec<usize>,
}

impl Spec {
    /// Who takes which stream. Stream `i` comes from source `i`, the others from steps, in order;
    /// steps for which there are too few streams are left out. Second: the streams open at the end.
    pub fn wire(&self) -> (Vec<Wired<'_>>, Vec<usize>) {
        let mut open: Vec<usize> = (0..self.sources.len()).collect();
        let (mut wired, mut next) = (Vec::new(), open.len());
        for step in &self.steps {
            if open.len() < step.op.inputs() {
                continue;
            }
            let take = |pick: &usize| open.remove(pick % open.len());
            let ins = step.picks[..step.op.inputs()].iter().map(take).collect();
            let outs: Vec<usize> = (next..next + step.op.outputs()).collect();
            next += outs.len();
            open.extend(&outs);
            wired.push(Wired { step, ins, outs });
        }
        (wired, open)
    }

    /// Nodes that faults can be planted in: sources first, then one for each wired step.
    pub fn nodes(&self) -> usize {
        self.sources.len() + self.wire().0.len()
    }
}

fn op() -> impl Strategy<Value = Op> {
    let par = any::<bool>;
    prop_oneof![
        4 => (par(), prop::bool::weighted(0.1))
            .prop_map(|(parallel, blocking)| Op::Map { parallel, blocking: blocking && !parallel }),
        4 => par().prop_map(|parallel| Op::Rated { parallel }),
        2 => (par(), 1..=4u32, 1..=3u32).prop_map(|(parallel, pop, push)| Op::Static { parallel, pop, push }),
        3 => (par(), 1..=3u32, 0..=5u32)
            .prop_map(|(parallel, pop, more)| Op::Window { parallel, pop, peek: pop + more }),
        4 => (par(), prop_oneof![Just(Way::ByData), Just(Way::Both), Just(Way::Any)])
            .prop_map(|(parallel, way)| Op::Split { parallel, way }),
        3 => (par(), 1..=3u32, 1..=3u32).prop_map(|(parallel, a, b)| Op::Zip { parallel, pops: (a, b) }),
        2 => par().prop_map(|parallel| Op::Choose { parallel }),
        2 => par().prop_map(|parallel| Op::Merge { parallel }),
        3 => (par(), par()).prop_map(|(parallel, looks)| Op::Groups { parallel, looks }),
        3 => (
            prop_oneof![Just(Entry::Zip), Just(Entry::ByData), Just(Entry::Drain)],
            1..=3usize,
            prop::collection::vec(par(), 0..3),
            par(),
        )
            .prop_map(|(entry, initial, body, parallel)| Op::Loop { entry, initial, body, parallel }),
        2 => (1..=9usize).prop_map(|in_flight| Op::Round { in_flight }),
        1 => (1..=5usize).prop_map(Op::Chunks),
        1 => (0..=20usize).prop_map(Op::Take),
        1 => Just(Op::Total),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let capacity = prop_oneof![3 => Just(None), 1 => (1..=8usize).prop_map(Some)];
    let weight = prop_oneof![4 => Just(None), 1 => (1..=200usize).prop_map(Some)];
    (op(), any::<[u8; 3]>(), capacity, weight).prop_map(|(op, picks, capacity, weight)| Step {
        op,
        picks: picks.map(usize::from),
        capacity,
        weight,
    })
}

fn source() -> impl Strategy<Value = Source> {
    let items = prop_oneof![8 => 0..=60u64, 1 => 200..=600u64];
    (items, any::<u64>(), prop::bool::weighted(0.1)).prop_map(|(items, salt, blocking)| Source {
        items,
        salt,
        blocking,
    })
}

/// Random graphs of up to three sources and nine steps.
pub fn spec() -> impl Strategy<Value = Spec> {
    let (sources, steps) =
        (prop::collection::vec(source(), 1..=MOST_SOURCES), prop::collection::vec(step(), 0..=9));
    (sources, steps, any::<bool>()).prop_map(|(sources, steps, declare)| Spec { sources, steps, declare })
}
