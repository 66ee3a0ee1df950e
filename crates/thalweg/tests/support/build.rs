//! Builds random graphs for the engine: the same arithmetic as the reference, in separate code.

use super::inject::Inject;
use super::item::{Item, Ledger};
use super::reference::{initial_items, leaves};
use super::spec::{By, Each, Entry, Forked, Op, Route, Source, Spec, digest, mix};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;
use thalweg::node::PushSpec;
use thalweg::{Fork, Graph, In, Out, Stream, View, input, output, window};

/// State shared by all kernels of a graph.
#[derive(Clone)]
pub struct Shared {
    /// Called at the start of every firing.
    pub inject: Arc<Inject>,
    /// Counts the items.
    pub ledger: Arc<Ledger>,
}

/// The name of the node with this number: see [`Inject::fire`].
pub fn name(number: usize) -> String {
    format!("n{number}")
}

struct Build<'a, T> {
    graph: Graph<'static>,
    shared: &'a Shared,
    /// The number of the node under construction.
    number: usize,
    declare: bool,
    item: std::marker::PhantomData<T>,
}

/// Returns the graph and the open streams. With `declare`, kernels with a constant push rate declare it; a graph
/// with inconsistent rates is refused.
pub fn build<T: Item>(
    spec: &Spec,
    shared: &Shared,
    declare: bool,
) -> (Graph<'static>, Vec<Stream<'static, T>>) {
    let mut b = Build { graph: Graph::new(), shared, number: 0, declare, item: std::marker::PhantomData };
    let mut streams: Vec<Option<Stream<'static, T>>> = Vec::new();
    for source in &spec.sources {
        let stream = b.source(source);
        streams.push(Some(stream));
        b.number += 1;
    }
    let (wired, open) = spec.wire();
    for wired in wired {
        let ins =
            wired.ins.iter().map(|i| streams[*i].take().expect("each stream has one consumer")).collect();
        for stream in b.step(&wired.step.op, ins) {
            let stream = wired.step.capacity.into_iter().fold(stream, Stream::capacity);
            let weigh =
                |stream: Stream<'static, T>, most| stream.weigh(move |item| item.value() as usize % most);
            let stream = wired.step.weight.into_iter().fold(stream, weigh);
            streams.push(Some(stream));
        }
        b.number += 1;
    }
    let open = open.iter().map(|i| streams[*i].take().expect("each stream has one consumer")).collect();
    (b.graph, open)
}

/// Finishes a kernel with a function, sequential or parallel.
macro_rules! finish {
    ($kernel:expr, $parallel:expr, $f:expr) => {
        if $parallel { $kernel.parallel($f) } else { $kernel.sequential($f) }
    };
}

type Result<T = ()> = std::result::Result<T, String>;

impl<T: Item> Build<'_, T> {
    fn name(&self) -> String {
        name(self.number)
    }

    /// The output of a node that pushes `count` items at every firing; the rate is declared if the graph says so.
    fn fixed_output(&self, name: &str, count: u32) -> PushSpec<T> {
        if self.declare { output(name).push(count) } else { output(name) }
    }

    /// Two functions for a kernel: the first is called at the start of a firing, the second creates results.
    fn hooks(&self) -> (impl Fn() -> Result + Clone + use<T>, impl Fn(u64) -> T + Clone + use<T>) {
        let (inject, ledger, number) = (self.shared.inject.clone(), self.shared.ledger.clone(), self.number);
        (move || inject.fire(number), move |value| T::make(value, &ledger))
    }

    /// As [`Build::hooks`], for a function that cannot fail: it panics.
    fn panicking_hooks(&self) -> (impl Fn() + Clone + use<T>, impl Fn(u64) -> T + Clone + use<T>) {
        let (fire, make) = self.hooks();
        (move || fire().unwrap_or_else(|error| panic!("{error}")), make)
    }

    fn source(&mut self, source: &Source) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let (inject, number, mut values) = (self.shared.inject.clone(), self.number, source.values());
        let mut items = std::iter::from_fn(move || {
            if let Err(error) = fire() {
                return Some(Err(error));
            }
            let value = values.next()?;
            inject.count_push(number);
            Some(Ok(make(value)))
        });
        let stream = match source.by {
            By::Source => self.graph.source(items.map(|item| item.unwrap_or_else(|error| panic!("{error}")))),
            By::TrySource => self.graph.try_source(items),
            By::Kernel => self.graph.kernel("source", (), output("out")).sequential(
                move |(), out| -> Result<ControlFlow<()>> {
                    let Some(item) = items.next() else { return Ok(ControlFlow::Break(())) };
                    out.push(item?);
                    Ok(ControlFlow::Continue(()))
                },
            ),
        };
        let stream = if source.blocking { stream.blocking() } else { stream };
        stream.named(&self.name())
    }

    fn step(&mut self, op: &Op, ins: Vec<Stream<'static, T>>) -> Vec<Stream<'static, T>> {
        let mut ins = ins.into_iter();
        let mut next = || ins.next().expect("as many streams as the step has inputs");
        let first = next();
        match *op {
            Op::Map { parallel, blocking } => vec![self.map(&self.name(), first, parallel, blocking)],
            Op::Rated { parallel } => vec![self.rated(first, parallel)],
            Op::Flat { parallel, blocking, most } => {
                let results = self.flat(first, parallel, blocking, move |item| item % most);
                vec![results.named(&self.name())]
            }
            Op::Endless { parallel, blocking, take } => {
                let results = self.flat(first, parallel, blocking, |_| u64::MAX);
                vec![results.named(&format!("{}.flat", self.name())).take(take).named(&self.name())]
            }
            Op::Static { parallel, pop, push } => vec![self.fixed(first, parallel, pop, push)],
            Op::Window { parallel, pop, peek, operator: false } => {
                vec![self.window(first, parallel, pop, peek)]
            }
            Op::Window { parallel, pop, peek, operator: true } => {
                vec![self.windows(first, parallel, pop, peek)]
            }
            Op::Split { parallel, route } => self.split(first, parallel, route),
            Op::Partition => {
                let (fire, _) = self.panicking_hooks();
                let (a, b) = first.partition(move |item| {
                    fire();
                    item.value() % 3 == 0
                });
                vec![a.named(&self.name()), b]
            }
            // The rates of `tee` are declared always.
            Op::Tee if !self.declare => {
                let kernel = self.graph.kernel("tee", input("in", first), (output("a"), output("b")));
                let (a, b) = kernel.sequential(|items, (a, b)| {
                    let item: T = items.pop();
                    a.push(item.clone());
                    b.push(item);
                });
                vec![a.named(&self.name()), b]
            }
            Op::Tee => {
                let (a, b) = first.tee();
                vec![a.named(&self.name()), b]
            }
            Op::Discard => {
                let (a, b) = first.tee();
                b.discard();
                vec![a.named(&self.name())]
            }
            Op::Deal(ref weights) => match weights[..] {
                [a] => first.deal([a]).into(),
                [a, b] => first.deal([a, b]).into(),
                [a, b, c] => first.deal([a, b, c]).into(),
                _ => unreachable!("at most three"),
            },
            Op::Interleave(ref weights) => vec![match weights[..] {
                [a] => self.graph.interleave([a], [first]),
                [a, b] => self.graph.interleave([a, b], [first, next()]),
                [a, b, c] => self.graph.interleave([a, b, c], [first, next(), next()]),
                _ => unreachable!("at most three"),
            }],
            Op::Concat => vec![first.concat(next())],
            Op::Rebatch { size, timeout } => vec![self.rebatch(first, size, timeout)],
            Op::Each(each) => vec![self.each(first, each)],
            Op::Pair => vec![self.pair(first, next())],
            Op::Zip { parallel, pops } => vec![self.zip(first, next(), parallel, pops)],
            Op::Choose { parallel } => {
                let (a, b) = (next(), next());
                vec![self.choose(first, a, b, parallel)]
            }
            Op::Merge { parallel } => vec![self.merge(first, next(), parallel)],
            Op::Groups { parallel, peeks_last } => vec![self.groups(first, parallel, peeks_last)],
            Op::Loop { entry, initial, ref body, parallel } => {
                vec![self.feedback(first, entry, initial, body, parallel)]
            }
            Op::Round { in_flight } => vec![self.round(first, in_flight)],
            Op::ForkJoin { in_flight } => vec![self.fork_join(first, in_flight)],
            Op::InFlight { most, each } => vec![first.in_flight(most, |items| self.each(items, each))],
            Op::Batch(size) => vec![self.batch(first, size)],
            Op::Take(count) => {
                vec![first.take(count).named(&self.name())]
            }
            Op::Total => vec![self.total(first)],
        }
    }

    fn map(
        &mut self,
        name: &str,
        items: Stream<'static, T>,
        parallel: bool,
        blocking: bool,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let outs = self.fixed_output("out", 1);
        let kernel = self.graph.kernel(name, input("in", items), outs);
        if parallel {
            let map = move |items: &mut In<T>, out: &mut Out<T>| -> Result {
                fire()?;
                out.push(make(mix(items.pop().value(), 5)));
                Ok(())
            };
            return kernel.parallel(map);
        }
        let kernel = if blocking { kernel.blocking() } else { kernel };
        let mut state = 0;
        kernel.sequential(move |items, out| -> Result {
            fire()?;
            state = mix(state, items.pop().value());
            out.push(make(state));
            Ok(())
        })
    }

    fn rated(&mut self, items: Stream<'static, T>, parallel: bool) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let kernel = self.graph.kernel(&name(self.number), input("in", items), output("out"));
        let f = move |items: &mut In<T>, out: &mut Out<T>| -> Result {
            fire()?;
            let item = items.pop().value();
            out.extend((0..item % 4).map(|i| make(mix(item, i))));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    /// Each item becomes the results of an iterator, as many as `length` says. The iterator owns the item.
    fn flat(
        &mut self,
        items: Stream<'static, T>,
        parallel: bool,
        blocking: bool,
        length: impl Fn(u64) -> u64 + Send + Sync + 'static,
    ) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        let results = move |item: T| {
            fire();
            let make = make.clone();
            (0..length(item.value())).map(move |i| make(mix(item.value(), i)))
        };
        match (parallel, blocking) {
            (true, _) => items.par_flat_map(results),
            (false, true) => items.flat_map(results).blocking(),
            (false, false) => items.flat_map(results),
        }
    }

    fn each(&self, items: Stream<'static, T>, each: Each) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        let map = move |item: T| {
            fire();
            let value = item.value();
            drop(item); // as in `round`
            make(mix(value, 5))
        };
        let (fire, make) = self.panicking_hooks();
        let filter_map = move |item: T| {
            fire();
            let value = item.value();
            drop(item); // as in `round`
            each.keeps(value).then(|| make(mix(value, 5)))
        };
        let (fire, make) = self.hooks();
        let try_map = move |item: T| -> Result<T> {
            fire()?;
            let value = item.value();
            drop(item); // as in `round`
            Ok(make(mix(value, 5)))
        };
        let (fire, _) = self.panicking_hooks();
        let results = match each {
            Each::Map => items.map(map),
            Each::TryMap => items.try_map(try_map),
            Each::ParMap => items.par_map(map),
            Each::Init => self.with_scratch(items),
            Each::Filter => items.filter(move |item| {
                fire();
                each.keeps(item.value())
            }),
            Each::FilterMap => items.filter_map(filter_map),
            Each::ParFilterMap => items.par_filter_map(filter_map),
        };
        results.named(&self.name())
    }

    fn with_scratch(&self, items: Stream<'static, T>) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        items.par_map_init(Vec::new, move |scratch: &mut Vec<T>, item| {
            fire();
            scratch.clear();
            scratch.push(item);
            make(mix(scratch[0].value(), 5))
        })
    }

    fn fixed(
        &mut self,
        items: Stream<'static, T>,
        parallel: bool,
        pop: u32,
        push: u32,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let outs = self.fixed_output("out", push);
        let kernel = self.graph.kernel(&name(self.number), input("in", items).pop(pop), outs);
        let f = move |items: &mut In<T>, out: &mut Out<T>| -> Result {
            fire()?;
            let of = digest(rest(items));
            out.extend((0..u64::from(push)).map(|i| make(mix(of, i))));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    fn window(
        &mut self,
        items: Stream<'static, T>,
        parallel: bool,
        pop: u32,
        peek: u32,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let outs = self.fixed_output("out", 1);
        let ins = window("in", items).pop(pop).peek(peek);
        let kernel = self.graph.kernel(&name(self.number), ins, outs);
        let f = move |items: &mut View<T>, out: &mut Out<T>| -> Result {
            fire()?;
            out.push(make(digest(items.iter().map(T::value))));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    fn windows(
        &mut self,
        items: Stream<'static, T>,
        parallel: bool,
        pop: u32,
        peek: u32,
    ) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        let f = move |items: &mut View<T>| {
            fire();
            make(digest(items.iter().map(T::value)))
        };
        let results = if parallel { items.par_windows(peek, pop, f) } else { items.windows(peek, pop, f) };
        results.named(&self.name())
    }

    fn split(&mut self, items: Stream<'static, T>, parallel: bool, route: Route) -> Vec<Stream<'static, T>> {
        let (fire, make) = self.hooks();
        let both = route == Route::Both;
        let out = |name| if both { self.fixed_output(name, 1) } else { output(name) };
        let outs = (out("first"), out("second"));
        let kernel = self.graph.kernel(&name(self.number), input("in", items), outs);
        let f = move |items: &mut In<T>, (a, b): &mut (Out<T>, Out<T>)| -> Result {
            fire()?;
            let item = items.pop().value();
            let (first, second) = route.of(item);
            a.extend(first.then(|| make(mix(item, 1))));
            b.extend(second.then(|| make(mix(item, 2))));
            Ok(())
        };
        let (a, b) = finish!(kernel, parallel, f);
        vec![a, b]
    }

    fn pair(&mut self, a: Stream<'static, T>, b: Stream<'static, T>) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        let pairs = a.zip(b).named(&format!("{}.zip", self.name()));
        let results = pairs.map(move |pair: (T, T)| {
            fire();
            let value = digest([pair.0.value(), pair.1.value()]);
            drop(pair); // as in `round`
            make(value)
        });
        results.named(&self.name())
    }

    fn zip(
        &mut self,
        a: Stream<'static, T>,
        b: Stream<'static, T>,
        parallel: bool,
        pops: (u32, u32),
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let outs = self.fixed_output("out", 1);
        let ins = (input("a", a).pop(pops.0), input("b", b).pop(pops.1));
        let kernel = self.graph.kernel(&name(self.number), ins, outs);
        let f = move |(a, b): &mut (In<T>, In<T>), out: &mut Out<T>| -> Result {
            fire()?;
            out.push(make(digest(rest(a).chain(rest(b)))));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    fn choose(
        &mut self,
        control: Stream<'static, T>,
        a: Stream<'static, T>,
        b: Stream<'static, T>,
        parallel: bool,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let ins = (input("control", control).pop(1), input("a", a), input("b", b));
        let outs = self.fixed_output("out", 1);
        let kernel = self.graph.kernel(&name(self.number), ins, outs).framed(|(control, a, b)| {
            let Some(selector) = control.peek(0)? else { return Ok(None) };
            let odd = selector.value() % 2 == 1;
            let chosen = if odd { b.peek(0)? } else { a.peek(0)? };
            Ok(chosen.map(|_| [1, usize::from(!odd), usize::from(odd)]))
        });
        let f = move |(control, a, b): &mut (In<T>, In<T>, In<T>), out: &mut Out<T>| -> Result {
            fire()?;
            out.push(make(digest(rest(control).chain(rest(a)).chain(rest(b)))));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    fn merge(&mut self, a: Stream<'static, T>, b: Stream<'static, T>, parallel: bool) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let outs = self.fixed_output("out", 1);
        let ins = (input("a", a), input("b", b));
        let kernel = self.graph.kernel(&name(self.number), ins, outs).framed(|(a, b)| {
            Ok(match (a.peek(0)?.map(T::value), b.peek(0)?.map(T::value)) {
                (None, None) => None,
                (Some(a), Some(b)) if b < a => Some([0, 1]),
                (None, Some(_)) => Some([0, 1]),
                (Some(_), _) => Some([1, 0]),
            })
        });
        let f = move |(a, b): &mut (In<T>, In<T>), out: &mut Out<T>| -> Result {
            fire()?;
            let item = a.try_pop().map(|item| (item, 0)).or_else(|| b.try_pop().map(|item| (item, 1)));
            let (item, from) = item.expect("the framing function selected an item");
            out.push(make(mix(item.value(), from)));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    fn groups(&mut self, items: Stream<'static, T>, parallel: bool, peeks_last: bool) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let ins = input("in", items);
        let kernel = self.graph.kernel(&name(self.number), ins, output("out")).framed(move |items| {
            let Some(first) = items.peek(0)? else { return Ok(None) };
            let size = 1 + (first.value() % 4) as usize;
            if peeks_last && items.peek(size - 1)?.is_none() {
                return Ok(None);
            }
            Ok(Some(size))
        });
        let f = move |items: &mut In<T>, out: &mut Out<T>| -> Result {
            fire()?;
            let of = digest(rest(items));
            out.extend((0..of % 3).map(|i| make(mix(of, i))));
            Ok(())
        };
        finish!(kernel, parallel, f)
    }

    fn feedback(
        &mut self,
        items: Stream<'static, T>,
        entry: Entry,
        initial: usize,
        body: &[bool],
        parallel: bool,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let (end, back) = self.graph.feedback(initial_items(initial).map(&make).collect::<Vec<T>>());
        let mut at = self.enter(items, back, entry, parallel);
        for (i, parallel) in body.iter().enumerate() {
            at = self.map(&format!("{}.body{i}", self.name()), at, *parallel, false);
        }
        let always = entry != Entry::Drain;
        let out = |name| if always { self.fixed_output(name, 1) } else { output(name) };
        let outs = (out("out"), out("back"));
        let kernel = self.graph.kernel(&format!("{}.leave", self.name()), input("in", at), outs);
        let f = move |items: &mut In<T>, (out, back): &mut (Out<T>, Out<T>)| -> Result {
            fire()?;
            let item = items.pop().value();
            let (leaves, round) = leaves(entry, item);
            out.extend(leaves.then(|| make(mix(item, 1))));
            back.extend(round.then(|| make(mix(item, 2))));
            Ok(())
        };
        let (out, back) = finish!(kernel, parallel, f);
        back.feed(end);
        out
    }

    /// The node that joins a loop's outside input and its feedback.
    fn enter(
        &mut self,
        items: Stream<'static, T>,
        back: Stream<'static, T>,
        entry: Entry,
        parallel: bool,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let outs: PushSpec<T> = self.fixed_output("out", 1);
        let ins = (input("in", items), input("back", back));
        let kernel = self.graph.kernel(&format!("{}.enter", name(self.number)), ins, outs);
        let f = move |(items, back): &mut (In<T>, In<T>), out: &mut Out<T>| -> Result {
            fire()?;
            out.push(make(digest(rest(items).chain(rest(back)))));
            Ok(())
        };
        match entry {
            Entry::Zip => finish!(kernel, parallel, f),
            Entry::ByData => {
                let kernel = kernel.framed(|(items, back)| {
                    let Some(first) = back.peek(0)? else { return Ok(None) };
                    let wanted = (first.value() % 3) as usize;
                    if wanted > 0 && items.peek(wanted - 1)?.is_none() {
                        return Ok(None);
                    }
                    Ok(Some([wanted, 1]))
                });
                finish!(kernel, parallel, f)
            }
            Entry::Drain => {
                let kernel = kernel.framed(|(items, back)| match items.peek(0)? {
                    Some(_) => Ok(Some([1, 0])),
                    None => Ok(back.peek(0)?.map(|_| [0, 1])),
                });
                finish!(kernel, parallel, f)
            }
        }
    }

    fn round(&mut self, items: Stream<'static, T>, in_flight: usize) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        // State: the item so far, the rounds completed, and the rounds in all.
        let begin =
            self.graph.kernel(&format!("{}.begin", self.name()), input("in", items), output("out").push(1));
        let begun = begin.sequential(|items, out| {
            let item = items.pop();
            let rounds = item.value() % 5;
            out.push((item, 0, rounds));
        });
        begun
            .par_iterate(in_flight, move |(item, completed, rounds)| {
                fire();
                if completed == rounds {
                    return ControlFlow::Break(item);
                }
                let value = item.value();
                // Dropped before the new item is created: the value being returned leaks if the drop of a
                // local panics (rust-lang/rust#47949).
                drop(item);
                ControlFlow::Continue((make(mix(value, completed)), completed + 1, rounds))
            })
            .named(&name(self.number))
    }

    fn fork_join(&mut self, items: Stream<'static, T>, in_flight: usize) -> Stream<'static, T> {
        let (fire, make) = self.panicking_hooks();
        let step = move |item: T| {
            fire();
            let forked = Forked::of(item.value());
            drop(item); // as in `round`
            match forked {
                Forked::Done(value) => Fork::Done(make(value)),
                Forked::Again(value) => Fork::Again(make(value)),
                Forked::Split(parts) => Fork::Split(parts.into_iter().map(&make).collect()),
            }
        };
        let (fire, make) = self.panicking_hooks();
        let join = move |results: Vec<T>| {
            fire();
            let value = digest(results.iter().map(T::value));
            drop(results); // as in `round`
            make(value)
        };
        items.par_fork_join(in_flight, step, join).named(&self.name())
    }

    fn batch(&mut self, items: Stream<'static, T>, size: usize) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let digests = items.batch(size).try_par_map(move |batch: Vec<T>| {
            fire()?;
            let value = digest(batch.iter().map(T::value));
            drop(batch); // as in `round`
            Ok::<T, String>(make(value))
        });
        digests.named(&self.name())
    }

    fn rebatch(
        &mut self,
        items: Stream<'static, T>,
        size: usize,
        timeout: Option<u64>,
    ) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let batches = match timeout {
            None => items.batch(size),
            Some(micros) => items.batch_timeout(size, Duration::from_micros(micros)),
        };
        let results = batches.try_par_map(move |batch: Vec<T>| {
            fire()?;
            let made = batch.iter().map(|item| make(mix(item.value(), 5))).collect();
            // Before the result is returned: the compiler leaks a returned value if the drop of an argument panics after it
            // (rust-lang/rust#47949).
            drop(batch);
            Ok::<Vec<T>, String>(made)
        });
        results.named(&self.name()).unbatch()
    }

    fn total(&mut self, items: Stream<'static, T>) -> Stream<'static, T> {
        let (fire, make) = self.hooks();
        let last = make.clone();
        let total = Arc::new(std::sync::atomic::AtomicU64::new(7));
        let so_far = total.clone();
        let order = std::sync::atomic::Ordering::Relaxed; // the node is sequential
        self.graph
            .kernel(&name(self.number), input("in", items), output("out"))
            .finish(move |out| out.push(last(total.load(order))))
            .sequential(move |items, out| -> Result {
                fire()?;
                let item = items.pop().value();
                so_far.store(mix(so_far.load(order), item), order);
                out.extend(item.is_multiple_of(3).then(|| make(item)));
                Ok(())
            })
    }
}

/// Pops the remaining items of a firing and returns their values.
fn rest<T: Item>(items: &mut In<T>) -> impl Iterator<Item = u64> {
    std::iter::from_fn(|| items.try_pop().map(|item| item.value()))
}
