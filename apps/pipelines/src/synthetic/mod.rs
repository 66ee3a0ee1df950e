//! Pipelines of modules that a generator draws, with which mappings are compared (section 3.3.1).
//!
//! ```text
//! source ─▶ module 1 ─▶ module 2 ─▶ ... ─▶ module 140 ─▶ sink
//! ```
//!
//! [`Parameters::pipeline`] draws a [`Pipeline`], which is data alone: rates, gains, bytes of state and times. Models of caches and
//! mappers use it as it is. [`graph()`] makes a graph of it, whose modules read and write all of their state in each firing, and
//! compute for their time (by [`Pace`]; they do not sleep).
//!
//! Where the thesis leaves a choice:
//! - M is the bytes of the cache, also in the largest gain, M/16 items.
//! - Source and sink are not among the modules. The edge from the source has a gain as all others, so in a period the source sends
//!   as many items.
//! - Zipf's distribution is that of multiples of the smallest value, without those above the largest. The largest time is 100
//!   times the smallest; the largest state is 32 times the smallest.
//! - The source sends whole periods: a module that waits for the rest of its items does not fire.

use crate::random::Random;
use crate::{chain_profile, sum};
use std::ops::ControlFlow;
use std::time::Duration;
use thalweg::embed::graph::GraphData;
use thalweg::plan::Profile;
use thalweg::{Graph, Kernel, Output, Stream, output, window};

mod generate;
mod pace;
mod pipeline;

pub use generate::{Distribution, Fixed, ITEMS, Loads, Parameters, SMALLEST_CACHE, Times};
pub use pace::Pace;
pub use pipeline::{ITEM, Module, Pipeline};

/// What a module has between firings.
#[derive(Debug)]
struct State {
    words: Box<[u32]>,
    sum: u32,
}

impl State {
    fn new(module: &Module) -> State {
        let words = (module.state_bytes / 4) as u32;
        State { words: (0..words).collect(), sum: 0 }
    }

    /// Takes the items of a firing.
    fn take(&mut self, items: &[u32]) {
        self.sum =
            items.iter().fold(self.sum, |sum, item| (sum ^ item).wrapping_mul(0x9E37_79B1).rotate_left(7));
    }

    /// Reads and writes all words.
    fn touch(&mut self) {
        let (add, mut all) = (self.sum, 0u32);
        for word in &mut self.words {
            *word = word.rotate_left(1) ^ add;
            all = all.wrapping_add(*word);
        }
        self.sum = self.sum.wrapping_add(all);
    }

    /// The items that a firing gives.
    fn give(&self, pushes: u32) -> impl Iterator<Item = u32> + use<> {
        let sum = self.sum;
        (0..pushes).map(move |number| (sum ^ number).wrapping_mul(0x85EB_CA6B))
    }

    /// A firing.
    fn fire(&mut self, module: &Module, pace: Pace, items: &[u32]) -> impl Iterator<Item = u32> + use<> {
        self.take(items);
        self.touch();
        pace.spend(module.nanoseconds);
        self.give(module.pushes)
    }
}

/// The items of the source.
fn items(seed: u64) -> impl Iterator<Item = u32> + Send {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || random.number() as u32)
}

/// The pipeline as a graph. Its source sends `periods` times the items of its gain, from a seed, and its result is a checksum of
/// what the sink takes.
///
/// ```
/// use thalweg_pipelines::synthetic::{Pace, Parameters, graph, sequential};
///
/// let pipeline = Parameters { modules: 5, cache: 4096, ..Default::default() }.pipeline();
/// let sum = graph(&pipeline, 2, 1, Pace::OFF).run()?.into_value();
/// assert_eq!(sum, sequential(&pipeline, 2, 1, Pace::OFF));
/// # Ok::<(), thalweg::Error>(())
/// ```
pub fn graph(pipeline: &Pipeline, periods: u64, seed: u64, pace: Pace) -> Output<'static, u64> {
    let mut items = items(seed);
    let mut left = periods * u64::from(pipeline.gains()[0]);
    let source = Graph::new().kernel("source", (), output("items").push(1));
    // Source and sink take next to nothing beside a module; declared, so that mappers need no run.
    let source = source.state_bytes(0).firing_time(Duration::ZERO);
    let source = source.sequential(move |(), out| {
        let Some(less) = left.checked_sub(1) else { return ControlFlow::Break(()) };
        left = less;
        out.extend(items.next());
        ControlFlow::Continue(())
    });
    let modules = (1..).zip(pipeline.modules());
    modules
        .fold(source, |items, (number, module)| add_module(items, number, *module, pace))
        .fold(0, sum::with)
        .named("sink")
        .state_bytes(0)
        .firing_time(Duration::ZERO)
}

fn add_module(
    items: Stream<'static, u32>,
    number: usize,
    module: Module,
    pace: Pace,
) -> Stream<'static, u32> {
    let graph = items.graph();
    let input = window("items", items).pop(module.pops);
    let mut state = State::new(&module);
    let kernel = graph
        .kernel(&format!("module {number}"), input, output("items").push(module.pushes))
        .state_bytes(module.state_bytes);
    // A module that does not compute has the time of its state and items, which only a run can tell.
    let time = Some(module.nanoseconds).filter(|time| *time > 0 && pace != Pace::OFF);
    let kernel = time.map(Duration::from_nanos).into_iter().fold(kernel, Kernel::firing_time);
    kernel.sequential(move |items, out| out.extend(state.fire(&module, pace, items.as_slice())))
}

/// What mappers need to know of the pipeline's [graph](graph()), without a run of these periods: modules compute for their times,
/// source and sink take none.
pub fn profile(pipeline: &Pipeline, graph: &GraphData, periods: u64) -> Profile {
    let modules = pipeline.modules();
    let time = |node: usize| {
        node.checked_sub(1).and_then(|at| modules.get(at)).map_or(0, |module| module.nanoseconds)
    };
    chain_profile(graph, periods * u64::from(pipeline.gains()[0]), |node| Duration::from_nanos(time(node)))
}

/// The program without a graph: one module after the other fires as often as it does in a period.
pub fn sequential(pipeline: &Pipeline, periods: u64, seed: u64, pace: Pace) -> u64 {
    let mut source = items(seed);
    let mut states: Vec<State> = pipeline.modules().iter().map(State::new).collect();
    let mut sum = 0;
    for _ in 0..periods {
        let mut items: Vec<u32> = source.by_ref().take(pipeline.gains()[0] as usize).collect();
        for (module, state) in pipeline.modules().iter().zip(&mut states) {
            let firings = items.chunks_exact(module.pops as usize);
            items = firings.flat_map(|items| state.fire(module, pace, items)).collect();
        }
        sum = items.into_iter().fold(sum, sum::with);
    }
    sum
}
