//! Random graphs as data.
//!
//! A graph is a list of sources and a list of steps. Each step removes streams from the pool of open
//! streams and adds its outputs to it; the streams that are open at the end get a sink each. A step picks
//! a stream by a number modulo the size of the pool. So every list of steps is a graph, and proptest can
//! shrink it by removing steps.

use proptest::prelude::*;

/// A step of the splitmix64 generator: the arithmetic of all kernels.
pub fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Combines values into one that depends on all of them and on their order.
pub fn digest(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(7, mix)
}

/// The outputs that a splitting node pushes an item to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// One of two outputs.
    ByData,
    /// Both.
    Both,
    /// None, one or both.
    Any,
}

impl Route {
    /// Whether an item of this value goes to the first and to the second output.
    pub fn of(self, value: u64) -> (bool, bool) {
        match self {
            Route::ByData => (value.is_multiple_of(2), value % 2 == 1),
            Route::Both => (true, true),
            Route::Any => (value & 1 == 1, value & 6 == 6),
        }
    }
}

/// How the entry node of a loop pops its outside input and its feedback input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Entry {
    /// One item of each: the loop ends when the outside ends.
    Zip,
    /// One feedback item, and 0 to 2 items from outside, depending on its value.
    ByData,
    /// All items from outside first, then the feedback items until there are none: only the engine can
    /// detect that the loop has ended. The feedback channel must grow.
    Drain,
}

/// An operator that calls a function for each item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Each {
    /// `map`.
    Map,
    /// `try_map`.
    TryMap,
    /// `par_map`.
    ParMap,
    /// `par_map_init`: the function has scratch.
    Init,
    /// `filter`: passes on the items of which [`Each::keeps`] returns true.
    Filter,
    /// `filter_map`: one result for each of the same items.
    FilterMap,
    /// `par_filter_map`: the same results.
    ParFilterMap,
}

impl Each {
    const ALL: [Each; 7] = [
        Each::Map,
        Each::TryMap,
        Each::ParMap,
        Each::Init,
        Each::Filter,
        Each::FilterMap,
        Each::ParFilterMap,
    ];

    /// Whether there is a result for an item of this value.
    pub fn keeps(self, value: u64) -> bool {
        match self {
            Each::Map | Each::TryMap | Each::ParMap | Each::Init => true,
            Each::Filter | Each::FilterMap | Each::ParFilterMap => !value.is_multiple_of(3),
        }
    }
}

/// The outcome of a round of an item or part in a fork-join.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Forked {
    /// It is done, with this result.
    Done(u64),
    /// It goes round again.
    Again(u64),
    /// It splits into parts: in the mean fewer than one, counting [`Forked::Again`], so each item ends.
    Split(Vec<u64>),
}

impl Forked {
    /// The outcome for an item or part of this value.
    pub fn of(value: u64) -> Forked {
        match value % 4 {
            0 => Forked::Split((0..value >> 2 & 3).map(|i| mix(value, i)).collect()),
            1 => Forked::Again(mix(value, 9)),
            _ => Forked::Done(mix(value, 5)),
        }
    }
}

/// The node or nodes that a step adds to the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// One result for each item; a sequential map has state.
    Map { parallel: bool, blocking: bool },
    /// Zero to three results for each item.
    Rated { parallel: bool },
    /// The results of an iterator for each item: up to `most - 1` of them.
    Flat { parallel: bool, blocking: bool, most: u64 },
    /// The first results, up to this number, of iterators that never end.
    Endless { parallel: bool, blocking: bool, take: usize },
    /// `pop` items become `push` results.
    Static { parallel: bool, pop: u32, push: u32 },
    /// Peeks `peek` items, pops `pop`, pushes one result: a kernel, or the operators `windows` and `par_windows`.
    Window { parallel: bool, pop: u32, peek: u32, operator: bool },
    /// Two outputs.
    Split { parallel: bool, route: Route },
    /// Two outputs: the operator `partition`.
    Partition,
    /// Two outputs with all items: the operator `tee`.
    Tee,
    /// `tee`, and `discard` of the second output.
    Discard,
    /// An output for each weight: the operator `deal`.
    Deal(Vec<usize>),
    /// An input for each weight: the operator `interleave`.
    Interleave(Vec<usize>),
    /// Two inputs: all items of the first, then all of the second.
    Concat,
    /// Two inputs, an item of each becomes one result: the operator `zip`, and a map.
    Pair,
    /// Two inputs: `pops` items of them become one result.
    Zip { parallel: bool, pops: (u32, u32) },
    /// Three inputs: an item of the first selects the input, of the other two, that the next item is popped from.
    Choose { parallel: bool },
    /// Two inputs: the smaller of the two next items is popped first.
    Merge { parallel: bool },
    /// The first item of a group holds the group's length. With `peeks_last` the framing function peeks the
    /// last item of the group; without, the engine checks that the whole group has arrived.
    Groups { parallel: bool, peeks_last: bool },
    /// A feedback channel with `initial` items, and a chain of maps in the loop.
    Loop { entry: Entry, initial: usize, body: Vec<bool>, parallel: bool },
    /// Each item makes 0 to 4 rounds.
    Round { in_flight: usize },
    /// Each item may split into parts, which may split again: see [`Forked::of`]. The result of a split is the digest of its
    /// parts' results.
    ForkJoin { in_flight: usize },
    /// A limit of `most` items on a section that consists of this operator.
    InFlight { most: usize, each: Each },
    /// Batches of this length; the last one may be shorter.
    Batch(usize),
    /// Batches of this length, each of whose items becomes one result. With `timeout` a batch may be shorter: it waits for so
    /// many microseconds.
    Rebatch { size: usize, timeout: Option<u64> },
    /// An operator that calls a function for each item.
    Each(Each),
    /// The first items, up to this number; then the node ends.
    Take(usize),
    /// Every third item at once and, at the end, the digest of all items.
    Total,
}

impl Op {
    /// The number of input streams.
    pub fn inputs(&self) -> usize {
        match self {
            Op::Zip { .. } | Op::Merge { .. } | Op::Pair | Op::Concat => 2,
            Op::Choose { .. } => 3,
            Op::Interleave(weights) => weights.len(),
            _ => 1,
        }
    }

    /// The number of output streams.
    pub fn outputs(&self) -> usize {
        match self {
            Op::Split { .. } | Op::Partition | Op::Tee => 2,
            Op::Deal(weights) => weights.len(),
            _ => 1,
        }
    }
}

/// A node without inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The number of items it pushes.
    pub items: u64,
    /// The seed of their values.
    pub salt: u64,
    /// Whether it has a thread of its own.
    pub blocking: bool,
    /// What makes it.
    pub by: By,
}

/// What makes a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// `Graph::kernel`.
    Kernel,
    /// `Graph::source`.
    Source,
    /// `Graph::try_source`.
    TrySource,
}

/// The operator that makes a sink.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sink {
    /// `for_each`.
    ForEach,
    /// `for_each_with`.
    ForEachWith,
    /// `fold`.
    Fold,
    /// `try_fold`.
    TryFold,
    /// `collect`. Its items can be read after a run that has not failed.
    Collect,
}

impl Sink {
    const ALL: [Sink; 5] = [Sink::ForEach, Sink::ForEachWith, Sink::Fold, Sink::TryFold, Sink::Collect];

    /// Whether the function of the sink can end it.
    pub fn can_break(self) -> bool {
        matches!(self, Sink::ForEach | Sink::ForEachWith)
    }
}

impl Source {
    /// The values of its items.
    pub fn values(&self) -> impl Iterator<Item = u64> + Send + 'static {
        let salt = self.salt;
        (0..self.items).map(move |i| mix(salt, i))
    }
}

/// One step: the operation, its input streams, and the capacity of its outputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The operation.
    pub op: Op,
    /// Its input streams: indices into the open streams, modulo their number.
    pub picks: [usize; 3],
    /// Capacity of its outputs.
    pub capacity: Option<usize>,
    /// The upper bound of the random weight, in bytes, of an item of its outputs.
    pub weight: Option<usize>,
}

/// The maximum number of sources of a graph.
pub const MOST_SOURCES: usize = 3;

/// A random graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// The sources: at least one.
    pub sources: Vec<Source>,
    /// The steps, in the order in which they pick streams.
    pub steps: Vec<Step>,
    /// Whether kernels with a constant push rate declare it.
    pub declare: bool,
    /// If there is a number, the items of the first sink also go to a `fold_by_key` with this number of keys.
    pub keys: Option<u64>,
    /// The operator of the first sink; those of the next follow in the order of [`Sink::ALL`].
    pub sinks: usize,
}

/// A step with the numbers of its streams.
#[derive(Debug)]
pub struct Wired<'a> {
    /// The step.
    pub step: &'a Step,
    /// Its input streams.
    pub ins: Vec<usize>,
    /// Its output streams.
    pub outs: Vec<usize>,
}

/// The items of each key, in the order in which the keys came first.
pub type Groups = Vec<(u64, Vec<u64>)>;

/// The groups of these items by this number of keys, by a list that is searched.
pub fn groups(items: &[u64], keys: u64) -> Groups {
    let mut groups = Groups::new();
    for item in items {
        let key = item % keys;
        match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) => group.1.push(*item),
            None => groups.push((key, vec![*item])),
        }
    }
    groups
}

impl Spec {
    /// Assigns streams to steps; returns the steps and the streams that are open at the end. Stream `i` is the
    /// output of source `i`, later streams are the outputs of the steps, in order. A step that needs more
    /// streams than are open is left out.
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

    /// The operator of sink `i`.
    pub fn sink(&self, i: usize) -> Sink {
        Sink::ALL[(self.sinks + i) % Sink::ALL.len()]
    }

    /// The number of nodes that a fault can be injected in: the sources, then one for each wired step.
    pub fn nodes(&self) -> usize {
        self.sources.len() + self.wire().0.len()
    }
}

fn op() -> impl Strategy<Value = Op> {
    let par = any::<bool>;
    let weights = || prop::collection::vec(prop_oneof![3 => 1..=3usize, 1 => 1..=100usize], 1..=3);
    let timeout = prop_oneof![Just(None), prop_oneof![Just(0u64), Just(20), Just(2000)].prop_map(Some)];
    prop_oneof![
        4 => (par(), prop::bool::weighted(0.1))
            .prop_map(|(parallel, blocking)| Op::Map { parallel, blocking: blocking && !parallel }),
        4 => par().prop_map(|parallel| Op::Rated { parallel }),
        3 => (par(), prop::bool::weighted(0.1), prop_oneof![Just(2u64), Just(5), Just(300)]).prop_map(
            |(parallel, blocking, most)| Op::Flat { parallel, blocking: blocking && !parallel, most }
        ),
        1 => (par(), prop::bool::weighted(0.1), 0..=40usize).prop_map(
            |(parallel, blocking, take)| Op::Endless { parallel, blocking: blocking && !parallel, take }
        ),
        2 => (par(), 1..=4u32, 1..=3u32).prop_map(|(parallel, pop, push)| Op::Static { parallel, pop, push }),
        4 => (par(), 1..=3u32, 0..=5u32, par()).prop_map(|(parallel, pop, more, operator)| Op::Window {
            parallel,
            pop,
            peek: pop + more,
            operator,
        }),
        4 => (par(), prop_oneof![Just(Route::ByData), Just(Route::Both), Just(Route::Any)])
            .prop_map(|(parallel, route)| Op::Split { parallel, route }),
        1 => Just(Op::Partition),
        1 => Just(Op::Tee),
        2 => weights().prop_map(Op::Deal),
        2 => weights().prop_map(Op::Interleave),
        2 => Just(Op::Concat),
        1 => (1..=9usize, timeout).prop_map(|(size, timeout)| Op::Rebatch { size, timeout }),
        4 => prop::sample::select(&Each::ALL[..]).prop_map(Op::Each),
        1 => Just(Op::Discard),
        1 => Just(Op::Pair),
        3 => (par(), 1..=3u32, 1..=3u32).prop_map(|(parallel, a, b)| Op::Zip { parallel, pops: (a, b) }),
        2 => par().prop_map(|parallel| Op::Choose { parallel }),
        2 => par().prop_map(|parallel| Op::Merge { parallel }),
        3 => (par(), par()).prop_map(|(parallel, peeks_last)| Op::Groups { parallel, peeks_last }),
        3 => (
            prop_oneof![Just(Entry::Zip), Just(Entry::ByData), Just(Entry::Drain)],
            1..=3usize,
            prop::collection::vec(par(), 0..3),
            par(),
        )
            .prop_map(|(entry, initial, body, parallel)| Op::Loop { entry, initial, body, parallel }),
        2 => (1..=9usize).prop_map(|in_flight| Op::Round { in_flight }),
        2 => (1..=9usize).prop_map(|in_flight| Op::ForkJoin { in_flight }),
        1 => (1..=9usize, prop::sample::select(vec![Each::Map, Each::ParMap, Each::ParFilterMap]))
            .prop_map(|(most, each)| Op::InFlight { most, each }),
        1 => (1..=5usize).prop_map(Op::Batch),
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
    let by = prop::sample::select(&[By::Kernel, By::Source, By::TrySource][..]);
    (items, any::<u64>(), prop::bool::weighted(0.1), by).prop_map(|(items, salt, blocking, by)| Source {
        items,
        salt,
        blocking,
        by,
    })
}

/// Random graphs of up to three sources and nine steps.
pub fn spec() -> impl Strategy<Value = Spec> {
    let (sources, steps) =
        (prop::collection::vec(source(), 1..=MOST_SOURCES), prop::collection::vec(step(), 0..=9));
    let keys =
        prop_oneof![2 => Just(None), 1 => prop_oneof![Just(1u64), Just(5), Just(u64::MAX)].prop_map(Some)];
    let sinks = 0..Sink::ALL.len();
    (sources, steps, any::<bool>(), keys, sinks).prop_map(|(sources, steps, declare, keys, sinks)| Spec {
        sources,
        steps,
        declare,
        keys,
        sinks,
    })
}
