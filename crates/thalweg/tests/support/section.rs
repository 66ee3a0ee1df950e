//! Random sections of [`Stream::in_flight`](thalweg::Stream::in_flight): as data, by a sequential reference, and for
//! the engine, with a count of the items in flight.

use super::spec::{digest, mix};
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use thalweg::Report;
use thalweg::{Graph, Options, Stream, input, output, window};

/// One operator of a section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    Map {
        parallel: bool,
    },
    /// Up to `most` results for each item, in parallel.
    Many {
        most: u64,
        workers: Option<u32>,
    },
    /// Peeks `peek` items, pops `pop` of them, pushes `push` results.
    Fixed {
        parallel: bool,
        pop: u32,
        peek: u32,
        push: u32,
    },
    /// Copies each item to two paths, one of them with a map, and joins the paths.
    Paths,
    /// A section within the section.
    Inner {
        most: usize,
        steps: Vec<Step>,
    },
}

/// A value, and the numbers of the section's input items that it was computed from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    pub value: u64,
    pub from: Vec<u32>,
}

impl Item {
    fn join<'a>(items: impl Iterator<Item = &'a Item> + Clone, salt: u64) -> Item {
        let mut from: Vec<u32> = items.clone().flat_map(|item| item.from.iter().copied()).collect();
        from.sort_unstable();
        from.dedup();
        Item { value: mix(digest(items.map(|item| item.value)), salt), from }
    }

    fn many(&self, most: u64) -> impl Iterator<Item = Item> + use<> {
        let item = self.clone();
        (0..item.value % (most + 1)).map(move |i| Item { value: mix(item.value, i), from: item.from.clone() })
    }

    fn map(mut self) -> Item {
        self.value = mix(self.value, 5);
        self
    }
}

/// The section's input items.
pub fn items(count: u32, salt: u64) -> impl Iterator<Item = Item> + Send + 'static {
    (0..count).map(move |i| Item { value: mix(salt, i.into()), from: vec![i] })
}

/// The results of a section, computed sequentially.
pub fn reference(items: Vec<Item>, steps: &[Step]) -> Vec<Item> {
    steps.iter().fold(items, |items, step| match step {
        Step::Map { .. } => items.into_iter().map(Item::map).collect(),
        Step::Many { most, .. } => items.iter().flat_map(|item| item.many(*most)).collect(),
        Step::Fixed { pop, peek, push, .. } => {
            let starts = (0..items.len()).step_by(*pop as usize);
            let windows = starts.filter_map(|start| items.get(start..start + *peek as usize));
            windows.flat_map(|window| (0..*push).map(|i| Item::join(window.iter(), i.into()))).collect()
        }
        Step::Paths => items
            .into_iter()
            .map(|item| {
                let other = item.clone().map();
                Item::join([item, other].iter(), 0)
            })
            .collect(),
        Step::Inner { steps, .. } => reference(items, steps),
    })
}

/// Builds the steps for the engine.
pub fn build<'env>(items: Stream<'env, Item>, steps: &[Step], capacity: Option<usize>) -> Stream<'env, Item> {
    steps.iter().fold(items, |items, step| {
        let items = match step {
            Step::Map { parallel: true } => items.par_map(Item::map),
            Step::Map { parallel: false } => items.map(Item::map),
            Step::Many { most, workers } => {
                let most = *most;
                let many = items.par_flat_map(move |item| item.many(most));
                workers.iter().fold(many, |many, most| many.workers(*most))
            }
            Step::Fixed { parallel, pop, peek, push } => fixed(items, *parallel, (*pop, *peek), *push),
            Step::Paths => {
                let (a, b) = items.kernel("copy", (output("a").push(1), output("b").push(1))).parallel(
                    |items, (a, b)| {
                        let item = items.pop();
                        a.push(item.clone());
                        b.push(item);
                    },
                );
                a.zip(b.map(Item::map)).par_map(|(a, b)| Item::join([a, b].iter(), 0))
            }
            Step::Inner { most, steps } => items.in_flight(*most, |items| build(items, steps, capacity)),
        };
        capacity.iter().fold(items, |items, capacity| items.capacity(*capacity))
    })
}

fn fixed(items: Stream<'_, Item>, parallel: bool, (pop, peek): (u32, u32), push: u32) -> Stream<'_, Item> {
    let graph = items.graph();
    if pop == peek {
        let kernel = graph.kernel("fixed", input("in", items).pop(pop), output("out").push(push));
        let fire = move |items: &mut thalweg::In<Item>, out: &mut thalweg::Out<Item>| {
            let popped: Vec<Item> = std::iter::from_fn(|| items.try_pop()).collect();
            (0..push).for_each(|i| out.push(Item::join(popped.iter(), i.into())));
        };
        return if parallel { kernel.parallel(fire) } else { kernel.sequential(fire) };
    }
    let kernel = graph.kernel("fixed", window("in", items).pop(pop).peek(peek), output("out").push(push));
    let fire = move |items: &mut thalweg::View<Item>, out: &mut thalweg::Out<Item>| {
        let seen: Vec<&Item> = items.iter().collect();
        (0..push).for_each(|i| out.push(Item::join(seen.iter().copied(), i.into())));
    };
    if parallel { kernel.parallel(fire) } else { kernel.sequential(fire) }
}

/// Counts the input items in flight, and their maximum: an item enters with its firing at the section's entry and
/// leaves with the last result computed from it. An item without results is not counted.
struct InFlight {
    now: AtomicUsize,
    most: AtomicUsize,
    /// By input item: whether a result is computed from it.
    counts: Vec<bool>,
    /// By result: the number of input items that leave with it.
    ends: Vec<usize>,
    left: AtomicUsize,
}

impl InFlight {
    fn new(count: u32, results: &[Item]) -> InFlight {
        let mut last = vec![None; count as usize];
        for (at, result) in results.iter().enumerate() {
            result.from.iter().for_each(|from| last[*from as usize] = Some(at));
        }
        let mut ends = vec![0; results.len()];
        last.iter().flatten().for_each(|at| ends[*at] += 1);
        let counts = last.iter().map(Option::is_some).collect();
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        InFlight { now, most, counts, ends, left: AtomicUsize::new(0) }
    }

    fn enter(&self, item: &Item) {
        if self.counts[item.from[0] as usize] {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
        }
    }

    fn leave(&self) {
        let at = self.left.fetch_add(1, Ordering::SeqCst);
        self.now.fetch_sub(self.ends[at], Ordering::SeqCst);
    }
}

/// The measured outcome of a section's run.
#[derive(Debug)]
pub struct Measured {
    pub results: Vec<Item>,
    pub expected: Vec<Item>,
    /// The maximum number of items in flight.
    pub most: usize,
    pub report: Report,
}

impl Measured {
    /// The final capacity of the token channel of the section with this exit node.
    pub fn limit(&self, exit: &str) -> usize {
        let graph = self.report.graph();
        let tokens = graph.channel_ids().find(|id| {
            let channel = graph.channel(*id);
            channel.link().limits() && graph.node(channel.to().0).name() == exit
        });
        self.report.channels()[tokens.expect("a section has a token channel").index()].capacity()
    }

    /// Whether any limit has grown.
    pub fn has_grown(&self) -> bool {
        self.report
            .growths()
            .iter()
            .any(|growth| self.report.graph().channel(growth.channel()).link().limits())
    }
}

/// Runs a section named `limit`.
pub fn run(
    steps: &[Step],
    items: (u32, u64),
    most: usize,
    capacity: Option<usize>,
    options: &Options,
) -> Measured {
    measure(steps, items, options, |items, watched| {
        items.in_flight(most, |items| watched_steps(items, steps, capacity, watched)).named("limit")
    })
}

/// Runs the same steps between a source and a sink, with as many tokens.
pub fn run_with_tokens(
    steps: &[Step],
    items: (u32, u64),
    tokens: usize,
    capacity: Option<usize>,
    options: &Options,
) -> Measured {
    let options = options.clone().tokens(tokens);
    measure(steps, items, &options, |items, watched| watched_steps(items, steps, capacity, watched))
}

/// The steps between two nodes that count items.
fn watched_steps<'env>(
    items: Stream<'env, Item>,
    steps: &[Step],
    capacity: Option<usize>,
    watched: &'env InFlight,
) -> Stream<'env, Item> {
    let begun = items.map(|item| {
        watched.enter(&item);
        item
    });
    build(begun, steps, capacity).map(|item| {
        watched.leave();
        item
    })
}

/// Runs what `limited` makes of a source of items.
fn measure(
    steps: &[Step],
    (count, salt): (u32, u64),
    options: &Options,
    limited: impl for<'env> FnOnce(Stream<'env, Item>, &'env InFlight) -> Stream<'env, Item>,
) -> Measured {
    let expected = reference(items(count, salt).collect(), steps);
    let in_flight = InFlight::new(count, &expected);
    let source = Graph::new().source(items(count, salt));
    let (results, report) = limited(source, &in_flight).collect().run_with(options).unwrap().into_parts();
    Measured { results, expected, most: in_flight.most.into_inner(), report }
}

/// The number by which the items in flight may exceed the limit. Rates count items in shares, so an item may count as gone
/// before its last result has left: fewer items than the product of all rates. With it go the other items of the windows
/// from which that result was computed, if the node that counts comes after the windows and pushes nothing for them.
pub fn slack(steps: &[Step]) -> usize {
    match shares(steps) {
        1 => 0,
        shares => shares + reach(steps) - 2,
    }
}

/// The product of all rates.
fn shares(steps: &[Step]) -> usize {
    steps.iter().fold(1, |product, step| match step {
        Step::Fixed { pop, push, .. } => product * (*pop * *push) as usize,
        Step::Inner { steps, .. } => product * (1 + slack(steps)),
        _ => product,
    })
}

/// The greatest number of the section's items in the windows from which one item before its last `Many` was computed.
fn reach(steps: &[Step]) -> usize {
    let flat = steps.iter().flat_map(|step| match step {
        Step::Inner { steps, .. } => steps.as_slice(),
        step => std::slice::from_ref(step),
    });
    let last = flat.clone().enumerate().filter(|(_, step)| matches!(step, Step::Many { .. })).last();
    flat.take(last.map_or(0, |(at, _)| at)).fold(1, |reach, step| match step {
        Step::Fixed { peek, .. } => reach * *peek as usize,
        _ => reach,
    })
}

/// Whether no firing needs more than one item of an input, so that no limit has to grow.
pub fn needs_one_item_a_firing(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Fixed { peek, .. } => *peek == 1,
        Step::Inner { steps, .. } => needs_one_item_a_firing(steps),
        _ => true,
    })
}

/// Random steps.
pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let many = || {
        let workers = prop_oneof![3 => Just(None), 1 => (1..=2u32).prop_map(Some)];
        (0..=3u64, workers).prop_map(|(most, workers)| Step::Many { most, workers })
    };
    let step = prop_oneof![
        1 => any::<bool>().prop_map(|parallel| Step::Map { parallel }),
        4 => many(),
        2 => (any::<bool>(), 1..=3u32, 0..=2u32, 1..=3u32)
            .prop_map(|(parallel, pop, more, push)| Step::Fixed { parallel, pop, peek: pop + more, push }),
        1 => Just(Step::Paths),
    ];
    let steps = prop::collection::vec(step.clone(), 0..=4);
    let inner = (1..=5usize, prop::collection::vec(step, 0..=3))
        .prop_map(|(most, steps)| Step::Inner { most, steps });
    (steps, prop::option::weighted(0.3, (inner, any::<prop::sample::Index>()))).prop_map(
        |(mut steps, inner)| {
            if let Some((inner, at)) = inner {
                steps.insert(at.index(steps.len() + 1), inner);
            }
            steps
        },
    )
}
