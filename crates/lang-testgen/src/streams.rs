//! Streams with balanced rates: sources, sinks, and streams with input and output.

use super::Options;
use super::branches::{Branches, Join};
use super::choices::Choices;
use super::code::{Coder, Globals};
use super::filter::{FilterSpec, Rates, filter};
use super::kernel::kernel;
use super::model::{Composite, Head, Loop, Recursive, Stream, Weights};
use super::ratio::Ratio;
use super::types::{Ty, any, content, is_storable};

/// A stream and its output items per input item; `None` if not fixed, or without input or output.
pub(super) type StreamWithGain = (Stream, Option<Ratio>);

/// Constraints on a stream.
#[derive(Clone, Debug)]
pub(super) struct Constraints {
    /// The remaining nesting depth of composites.
    pub depth: u32,
    /// One output item per input item is required.
    pub unit: bool,
    /// Dynamic rates are not allowed.
    pub fixed: bool,
    /// There is only one instance of the stream.
    pub alone: bool,
    /// Filters may have windows and `prework`.
    pub windows: bool,
    /// A visible variable.
    pub around: Option<String>,
}

/// The state of generating streams.
pub(super) struct Generator<'a> {
    pub choices: &'a mut Choices,
    pub globals: &'a Globals,
    pub options: &'a Options,
    pub names: u32,
    pub inputs: Vec<(String, Vec<u8>)>,
    pub outputs: Vec<String>,
    pub dynamic: bool,
    /// Whether a fault must still be inserted.
    pub fault: bool,
}

/// The limit of weights and of numbers in a rate ratio.
pub(super) const MAX_RATIO: u32 = 12;

impl Generator<'_> {
    pub fn number(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    pub fn ty(&mut self) -> Ty {
        if self.options.kernels && self.choices.chance(60) {
            return if self.choices.chance(60) { Ty::Float } else { Ty::Int };
        }
        any(self.choices, self.globals.structs.len())
    }

    fn rate(&mut self) -> u32 {
        1 + self.choices.weighted(&[5, 3, 2]) as u32
    }

    /// The number of similar streams.
    fn repeat_count(&mut self) -> u32 {
        let most = if self.options.kernels { 5 } else { 3 };
        self.choices.within(1, most)
    }

    /// A kernel.
    fn kernel(&mut self, ends: (&Ty, &Ty), constraints: &Constraints) -> StreamWithGain {
        let spec = FilterSpec {
            name: format!("F{}", self.number()),
            input: Some(ends.0),
            output: Some(ends.1),
            rates: Rates::Static { pop: 1, push: 1 },
            alone: constraints.alone,
            shows: false,
            around: constraints.around.as_deref(),
            windows: constraints.windows,
            first: constraints.windows,
            fault: false,
        };
        let made = kernel(self.choices, self.globals, &spec, constraints.unit);
        let gain = made.gain;
        (Stream::Filter(Box::new(made)), gain)
    }

    pub fn filter(
        &mut self,
        ends: (Option<&Ty>, Option<&Ty>),
        rates: Rates,
        constraints: &Constraints,
        shows: bool,
    ) -> Stream {
        let fault = shows && std::mem::take(&mut self.fault);
        let spec = FilterSpec {
            name: format!("F{}", self.number()),
            input: ends.0,
            output: ends.1,
            rates,
            alone: constraints.alone,
            shows,
            around: constraints.around.as_deref(),
            windows: constraints.windows,
            first: constraints.windows && !fault,
            fault,
        };
        Stream::Filter(Box::new(filter(self.choices, self.globals, &spec)))
    }

    pub fn head(&mut self, letter: &str, ends: (Option<&Ty>, Option<&Ty>)) -> Head {
        let number = self.number();
        let variable =
            self.choices.chance(40).then(|| (format!("n{number}"), self.choices.within(2, 5) as i32));
        Head {
            name: format!("{letter}{number}"),
            input: ends.0.cloned(),
            output: ends.1.cloned(),
            named: self.choices.chance(50),
            typed: self.choices.chance(85),
            variable,
        }
    }

    /// Constraints on the children of a composite.
    fn inner(&self, constraints: &Constraints, head: &Head) -> Constraints {
        let seen = constraints.around.clone().filter(|_| !head.named);
        let around = head.variable.as_ref().map(|(name, _)| name.clone()).or(seen);
        Constraints { depth: constraints.depth.saturating_sub(1), around, ..constraints.clone() }
    }

    /// A stream from one type to another.
    pub fn through(&mut self, input: &Ty, output: &Ty, constraints: &Constraints) -> StreamWithGain {
        if constraints.depth > 0 {
            match self.choices.below(12) {
                6 | 7 => return self.pipeline(input, output, constraints),
                8 | 9 => return self.splitjoin(input, output, constraints),
                10 => return self.feedback(input, output, constraints),
                11 if input == output => return self.recursive(input, constraints),
                _ => {}
            }
        }
        if input == output && self.choices.chance(15) {
            return (Stream::Identity(input.clone()), Some(Ratio::ONE));
        }
        self.simple(input, output, constraints)
    }

    fn simple(&mut self, input: &Ty, output: &Ty, constraints: &Constraints) -> StreamWithGain {
        let numbers = input.is_number() && output.is_number();
        if self.options.kernels && numbers && self.choices.chance(65) {
            return self.kernel((input, output), constraints);
        }
        let ends = (Some(input), Some(output));
        if self.options.dynamic && !constraints.fixed && !constraints.unit && self.choices.chance(30) {
            self.dynamic = true;
            let rates = Rates::Dynamic { pop: self.choices.within(1, 3), push: self.choices.within(1, 3) };
            return (self.filter(ends, rates, constraints, false), None);
        }
        let pop = self.rate();
        let push = if constraints.unit { pop } else { self.rate() };
        (self.filter(ends, Rates::Static { pop, push }, constraints, false), Some(Ratio::new(push, pop)))
    }

    /// A pipeline, possibly with repeated parts.
    fn pipeline(&mut self, input: &Ty, output: &Ty, constraints: &Constraints) -> StreamWithGain {
        let head = self.head("P", (Some(input), Some(output)));
        let mut inner = self.inner(constraints, &head);
        let (mut children, mut gain, mut from) = (Vec::new(), Some(Ratio::ONE), input.clone());
        let count = self.choices.within(1, 3);
        for at in 0..count {
            let to = if at + 1 == count { output.clone() } else { self.ty() };
            if self.choices.chance(15) {
                children.push(self.repeat(&from, &inner));
            }
            inner.unit = constraints.unit || gain.is_some_and(|gain| !gain.is_small(MAX_RATIO / 3));
            let (child, by) = self.through(&from, &to, &inner);
            children.push(child);
            gain = gain.zip(by).map(|(gain, by)| gain.times(by));
            from = to;
        }
        (Stream::Pipeline(Composite { head, children }), gain)
    }

    /// A stream of gain 1, repeated in a loop.
    fn repeat(&mut self, ty: &Ty, constraints: &Constraints) -> Stream {
        let (variable, count) = (format!("r{}", self.number()), self.repeat_count());
        let around = Some(variable.clone());
        let constraints = Constraints {
            depth: constraints.depth.min(1),
            unit: true,
            fixed: true,
            alone: false,
            around,
            ..constraints.clone()
        };
        let (child, _) = self.through(ty, ty, &constraints);
        Stream::Repeat(variable, count, Box::new(child))
    }

    fn splitjoin(&mut self, input: &Ty, output: &Ty, constraints: &Constraints) -> StreamWithGain {
        let head = self.head("S", (Some(input), Some(output)));
        let inner = self.inner(constraints, &head);
        let duplicate = !constraints.unit && self.choices.chance(40);
        let count = self.repeat_count();
        for unit in [constraints.unit, true] {
            let mut branches = Branches::default();
            for _ in 0..count {
                self.branch(
                    (input, output),
                    &Constraints { unit, ..inner.clone() },
                    duplicate,
                    &mut branches,
                );
            }
            if !constraints.unit && self.choices.chance(20) {
                self.end_branch((input, output), &inner, duplicate, &mut branches);
            }
            if let Some(made) = branches.build(duplicate, &head, self.choices.chance(30)) {
                return made;
            }
        }
        self.simple(input, output, constraints)
    }

    /// A branch between splitter and joiner.
    fn branch(
        &mut self,
        (input, output): (&Ty, &Ty),
        constraints: &Constraints,
        duplicate: bool,
        to: &mut Branches,
    ) {
        let weight = if duplicate { 1 } else { self.rate() };
        if self.choices.chance(if self.options.kernels { 30 } else { 15 }) {
            return self.equal_branches((input, output), constraints, weight, to);
        }
        let (child, gain) = self.through(input, output, constraints);
        let out = gain.map(|gain| gain.times(Ratio(weight, 1)));
        to.add(child, weight, out);
    }

    /// Similar branches, created in a loop.
    fn equal_branches(
        &mut self,
        (input, output): (&Ty, &Ty),
        constraints: &Constraints,
        weight: u32,
        to: &mut Branches,
    ) {
        let (variable, count) = (format!("r{}", self.number()), self.repeat_count());
        let around = Some(variable.clone());
        let constraints = Constraints {
            depth: constraints.depth.min(1),
            fixed: true,
            alone: false,
            around,
            ..constraints.clone()
        };
        let (child, gain) = self.through(input, output, &constraints);
        let out = gain.map(|gain| gain.times(Ratio(weight, 1)));
        let child = Stream::Repeat(variable, count, Box::new(child));
        (0..count).for_each(|_| to.add(child.clone(), weight, out));
        to.children.truncate(to.children.len() + 1 - count as usize);
    }

    /// A branch that is only a sink or a source.
    fn end_branch(
        &mut self,
        (input, output): (&Ty, &Ty),
        constraints: &Constraints,
        duplicate: bool,
        to: &mut Branches,
    ) {
        let constraints = Constraints { depth: 0, ..constraints.clone() };
        if duplicate || self.choices.chance(50) {
            let child = self.sink(input, &constraints);
            let weight = if duplicate { 1 } else { self.rate() };
            to.children.push(child);
            to.split.push(weight);
            to.join.push(Join::Nothing);
        } else {
            let child = self.source(output, &constraints);
            to.children.push(child);
            to.split.push(0);
            let rate = self.rate();
            to.join.push(Join::Any(rate));
        }
    }

    /// A feedback loop in which one firing of each part completes a cycle.
    fn feedback(&mut self, input: &Ty, output: &Ty, constraints: &Constraints) -> StreamWithGain {
        let outside = self.rate();
        let given = if constraints.unit { outside } else { self.rate() };
        let made =
            self.feedback_loop((input, outside), (output, given), constraints, (Some(input), Some(output)));
        (made, Some(Ratio::new(given, outside)))
    }

    /// A feedback loop with optional input and output; a missing one has count 0.
    pub fn feedback_loop(
        &mut self,
        (input, outside): (&Ty, u32),
        (output, given): (&Ty, u32),
        constraints: &Constraints,
        ends: (Option<&Ty>, Option<&Ty>),
    ) -> Stream {
        let mut head = self.head("L", ends);
        if ends == (None, None) {
            // This is the entry point.
            (head.named, head.variable) = (true, None);
        }
        let constraints = self.inner(constraints, &head);
        let constraints = Constraints { fixed: true, depth: 0, unit: false, ..constraints };
        let (turns, back) = (self.rate(), self.rate());
        let duplicate = given > 0 && self.choices.chance(25);
        let (push, split) = if duplicate { (given, None) } else { (given + back, Some((given, back))) };
        let back = if duplicate { given } else { back };
        let rates = Rates::Static { pop: outside + turns, push };
        let shows = ends.1.is_none();
        let body = self.loop_filter((input, output), rates, &constraints, shows);
        let window = if let Stream::Filter(filter) = &body { filter.window } else { 0 };
        let plain = input == output && back == 1 && turns == 1;
        let back = if plain && self.choices.chance(50) {
            Stream::Identity(input.clone())
        } else {
            let constraints = Constraints { windows: false, ..constraints };
            self.loop_filter((output, input), Rates::Static { pop: back, push: turns }, &constraints, false)
        };
        let more =
            if self.options.kernels && self.choices.chance(30) { self.choices.within(3, 40) } else { 0 };
        let enqueued = turns * (1 + window) + self.choices.below(3) + more;
        let first = self.first_item(input);
        Stream::Loop(Box::new(Loop { head, join: (outside, turns), split, body, back, enqueued, first }))
    }

    fn loop_filter(
        &mut self,
        ends: (&Ty, &Ty),
        rates: Rates,
        constraints: &Constraints,
        shows: bool,
    ) -> Stream {
        let fault = shows && std::mem::take(&mut self.fault);
        let spec = FilterSpec {
            name: format!("F{}", self.number()),
            input: Some(ends.0),
            output: Some(ends.1),
            rates,
            alone: constraints.alone,
            shows,
            around: constraints.around.as_deref(),
            windows: constraints.windows,
            first: false,
            fault,
        };
        Stream::Filter(Box::new(filter(self.choices, self.globals, &spec)))
    }

    /// Statements that build an item; the last one enqueues it.
    fn first_item(&mut self, ty: &Ty) -> Vec<String> {
        let number = self.number();
        let globals = Globals { random: false, ..self.globals.clone() };
        let mut coder = Coder::new(self.choices, &globals);
        coder.names = number * 1000;
        let name = coder.declare(ty);
        coder.line(format!("enqueue {name};"));
        coder.lines
    }

    fn recursive(&mut self, ty: &Ty, constraints: &Constraints) -> StreamWithGain {
        let name = format!("R{}", self.number());
        let weight = self.choices.chance(50).then(|| self.rate());
        let depth = self.choices.within(1, if weight.is_some() { 3 } else { 4 });
        let constraints = Constraints {
            depth: 0,
            unit: true,
            fixed: true,
            alone: false,
            around: Some("n".to_owned()),
            ..constraints.clone()
        };
        let (leaf, _) = self.simple(ty, ty, &constraints);
        let recursive = Recursive { name, ty: ty.clone(), depth, weight, leaf };
        (Stream::Recursive(Box::new(recursive)), Some(Ratio::ONE))
    }

    /// A source.
    pub fn source(&mut self, output: &Ty, constraints: &Constraints) -> Stream {
        let kind = self.choices.below(10);
        if (5..7).contains(&kind)
            && self.options.files
            && constraints.alone
            && is_storable(output, &self.globals.structs)
        {
            return self.reader(output);
        }
        if constraints.depth > 0 {
            match kind {
                7 => return self.parallel_ends(None, Some(output), constraints),
                8 => {
                    let (ty, given) = (self.ty(), self.rate());
                    return self.feedback_loop((&ty, 0), (output, given), constraints, (None, Some(output)));
                }
                9 => {
                    let head = self.head("P", (None, Some(output)));
                    let (inner, ty) = (self.inner(constraints, &head), self.ty());
                    let children = vec![self.source(&ty, &inner), self.through(&ty, output, &inner).0];
                    return Stream::Pipeline(Composite { head, children });
                }
                _ => {}
            }
        }
        let push = self.rate();
        self.filter((None, Some(output)), Rates::Static { pop: 0, push }, constraints, false)
    }

    fn reader(&mut self, ty: &Ty) -> Stream {
        let name = format!("in{}", self.inputs.len());
        let items = self.choices.within(5, 60);
        let bytes = content(self.choices, ty, &self.globals.structs, items);
        self.inputs.push((name.clone(), bytes));
        Stream::Reader(ty.clone(), name)
    }

    /// A sink that prints or writes.
    pub fn sink(&mut self, input: &Ty, constraints: &Constraints) -> Stream {
        let kind = if self.fault { 0 } else { self.choices.below(10) };
        if (5..7).contains(&kind)
            && self.options.files
            && constraints.alone
            && is_storable(input, &self.globals.structs)
        {
            let name = format!("out{}", self.outputs.len());
            self.outputs.push(name.clone());
            return Stream::Writer(input.clone(), name);
        }
        if constraints.depth > 0 {
            match kind {
                7 => return self.parallel_ends(Some(input), None, constraints),
                8 => {
                    let (ty, outside) = (self.ty(), self.rate());
                    return self.feedback_loop((input, outside), (&ty, 0), constraints, (Some(input), None));
                }
                _ => {}
            }
        }
        let pop = self.rate();
        self.filter((Some(input), None), Rates::Static { pop, push: 0 }, constraints, constraints.alone)
    }

    /// Several parallel sources, or several parallel sinks.
    fn parallel_ends(
        &mut self,
        input: Option<&Ty>,
        output: Option<&Ty>,
        constraints: &Constraints,
    ) -> Stream {
        let head = self.head("S", (input, output));
        let inner = self.inner(constraints, &head);
        let count = self.choices.within(1, 3);
        let (mut children, mut weights) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let child = match (input, output) {
                (Some(input), _) => self.sink(input, &inner),
                (_, Some(output)) => self.source(output, &inner),
                _ => break,
            };
            children.push(child);
            weights.push(self.rate());
        }
        let weights = Weights::RoundRobin(weights, self.choices.chance(30));
        let composite = Composite { head, children };
        if input.is_none() {
            return Stream::SplitJoin(composite, Weights::Null, weights);
        }
        let split = if self.choices.chance(50) { Weights::Duplicate } else { weights };
        Stream::SplitJoin(composite, split, Weights::Null)
    }
}
