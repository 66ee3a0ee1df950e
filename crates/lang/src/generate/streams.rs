//! Streams: what takes items, what gives them, and what does both, with rates that balance.

use super::Options;
use super::branches::{Branches, Join};
use super::choices::Choices;
use super::code::{Coder, World};
use super::filter::{Rates, Wanted, filter};
use super::kernel::kernel;
use super::model::{Composite, Deal, Head, Loop, Recursive, Stream};
use super::ratio::Ratio;
use super::types::{Ty, any, can_be_filed, content};

/// A stream, and the items it gives for one that it takes; none where that is not fixed, or where it
/// takes or gives nothing.
pub(super) type Made = (Stream, Option<Ratio>);

/// What a stream's place allows.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Composites in each other that there may still be.
    pub depth: u32,
    /// It gives one item for one.
    pub unit: bool,
    /// No dynamic rates.
    pub fixed: bool,
    /// There is one such stream only.
    pub alone: bool,
    /// Filters may look ahead, and begin in another way.
    pub windows: bool,
    /// A variable that can be used.
    pub around: Option<String>,
}

/// What streams are made with.
pub(super) struct Maker<'a> {
    pub choices: &'a mut Choices,
    pub world: &'a World,
    pub options: &'a Options,
    pub names: u32,
    pub inputs: Vec<(String, Vec<u8>)>,
    pub outputs: Vec<String>,
    pub dynamic: bool,
    /// A fault is still to be planted.
    pub fault: bool,
}

/// The largest weight, and the largest number in a ratio of rates.
pub(super) const MOST: u32 = 12;

impl Maker<'_> {
    pub fn number(&mut self) -> u32 {
        self.names += 1;
        self.names
    }

    pub fn ty(&mut self) -> Ty {
        if self.options.kernels && self.choices.chance(60) {
            return if self.choices.chance(60) { Ty::Float } else { Ty::Int };
        }
        any(self.choices, self.world.structs.len())
    }

    fn rate(&mut self) -> u32 {
        1 + self.choices.weighted(&[5, 3, 2]) as u32
    }

    /// How many alike there are.
    fn several(&mut self) -> u32 {
        let most = if self.options.kernels { 5 } else { 3 };
        self.choices.within(1, most)
    }

    /// A filter as programs have them.
    fn kernel(&mut self, ends: (&Ty, &Ty), place: &Place) -> Made {
        let wanted = Wanted {
            name: format!("F{}", self.number()),
            input: Some(ends.0),
            output: Some(ends.1),
            rates: Rates::Static { pop: 1, push: 1 },
            alone: place.alone,
            shows: false,
            around: place.around.as_deref(),
            windows: place.windows,
            first: place.windows,
            fault: false,
        };
        let made = kernel(self.choices, self.world, &wanted, place.unit);
        let gain = made.gain;
        (Stream::Filter(Box::new(made)), gain)
    }

    pub fn filter(
        &mut self,
        ends: (Option<&Ty>, Option<&Ty>),
        rates: Rates,
        place: &Place,
        shows: bool,
    ) -> Stream {
        let fault = shows && std::mem::take(&mut self.fault);
        let wanted = Wanted {
            name: format!("F{}", self.number()),
            input: ends.0,
            output: ends.1,
            rates,
            alone: place.alone,
            shows,
            around: place.around.as_deref(),
            windows: place.windows,
            first: place.windows && !fault,
            fault,
        };
        Stream::Filter(Box::new(filter(self.choices, self.world, &wanted)))
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

    /// The place of a composite's children.
    fn inner(&self, place: &Place, head: &Head) -> Place {
        let seen = place.around.clone().filter(|_| !head.named);
        let around = head.variable.as_ref().map(|(name, _)| name.clone()).or(seen);
        Place { depth: place.depth.saturating_sub(1), around, ..place.clone() }
    }

    /// Something that takes items of one type and gives items of another.
    pub fn through(&mut self, input: &Ty, output: &Ty, place: &Place) -> Made {
        if place.depth > 0 {
            match self.choices.below(12) {
                6 | 7 => return self.pipeline(input, output, place),
                8 | 9 => return self.splitjoin(input, output, place),
                10 => return self.feedback(input, output, place),
                11 if input == output => return self.recursive(input, place),
                _ => {}
            }
        }
        if input == output && self.choices.chance(15) {
            return (Stream::Identity(input.clone()), Some(Ratio::ONE));
        }
        self.simple(input, output, place)
    }

    fn simple(&mut self, input: &Ty, output: &Ty, place: &Place) -> Made {
        let numbers = input.is_number() && output.is_number();
        if self.options.kernels && numbers && self.choices.chance(65) {
            return self.kernel((input, output), place);
        }
        let ends = (Some(input), Some(output));
        if self.options.dynamic && !place.fixed && !place.unit && self.choices.chance(30) {
            self.dynamic = true;
            let rates = Rates::Dynamic { pop: self.choices.within(1, 3), push: self.choices.within(1, 3) };
            return (self.filter(ends, rates, place, false), None);
        }
        let pop = self.rate();
        let push = if place.unit { pop } else { self.rate() };
        (self.filter(ends, Rates::Static { pop, push }, place, false), Some(Ratio::new(push, pop)))
    }

    /// Several one after the other, perhaps some of them in a loop.
    fn pipeline(&mut self, input: &Ty, output: &Ty, place: &Place) -> Made {
        let head = self.head("P", (Some(input), Some(output)));
        let mut inner = self.inner(place, &head);
        let (mut children, mut gain, mut from) = (Vec::new(), Some(Ratio::ONE), input.clone());
        let count = self.choices.within(1, 3);
        for at in 0..count {
            let to = if at + 1 == count { output.clone() } else { self.ty() };
            if self.choices.chance(15) {
                children.push(self.repeat(&from, &inner));
            }
            inner.unit = place.unit || gain.is_some_and(|gain| !gain.is_small(MOST / 3));
            let (child, by) = self.through(&from, &to, &inner);
            children.push(child);
            gain = gain.zip(by).map(|(gain, by)| gain.times(by));
            from = to;
        }
        (Stream::Pipeline(Composite { head, children }), gain)
    }

    /// One of gain 1, a few times.
    fn repeat(&mut self, ty: &Ty, place: &Place) -> Stream {
        let (variable, count) = (format!("r{}", self.number()), self.several());
        let around = Some(variable.clone());
        let place = Place {
            depth: place.depth.min(1),
            unit: true,
            fixed: true,
            alone: false,
            around,
            ..place.clone()
        };
        let (child, _) = self.through(ty, ty, &place);
        Stream::Repeat(variable, count, Box::new(child))
    }

    fn splitjoin(&mut self, input: &Ty, output: &Ty, place: &Place) -> Made {
        let head = self.head("S", (Some(input), Some(output)));
        let inner = self.inner(place, &head);
        let duplicate = !place.unit && self.choices.chance(40);
        let count = self.several();
        for unit in [place.unit, true] {
            let mut branches = Branches::default();
            for _ in 0..count {
                self.branch((input, output), &Place { unit, ..inner.clone() }, duplicate, &mut branches);
            }
            if !place.unit && self.choices.chance(20) {
                self.end_branch((input, output), &inner, duplicate, &mut branches);
            }
            if let Some(made) = branches.join(duplicate, &head, self.choices.chance(30)) {
                return made;
            }
        }
        self.simple(input, output, place)
    }

    /// A branch from the splitter to the joiner.
    fn branch(&mut self, (input, output): (&Ty, &Ty), place: &Place, duplicate: bool, to: &mut Branches) {
        let weight = if duplicate { 1 } else { self.rate() };
        if self.choices.chance(if self.options.kernels { 30 } else { 15 }) {
            return self.equal_branches((input, output), place, weight, to);
        }
        let (child, gain) = self.through(input, output, place);
        let out = gain.map(|gain| gain.times(Ratio(weight, 1)));
        to.add(child, weight, out);
    }

    /// Branches that are all alike, made in a loop.
    fn equal_branches(&mut self, (input, output): (&Ty, &Ty), place: &Place, weight: u32, to: &mut Branches) {
        let (variable, count) = (format!("r{}", self.number()), self.several());
        let around = Some(variable.clone());
        let place = Place { depth: place.depth.min(1), fixed: true, alone: false, around, ..place.clone() };
        let (child, gain) = self.through(input, output, &place);
        let out = gain.map(|gain| gain.times(Ratio(weight, 1)));
        let child = Stream::Repeat(variable, count, Box::new(child));
        (0..count).for_each(|_| to.add(child.clone(), weight, out));
        to.children.truncate(to.children.len() + 1 - count as usize);
    }

    /// A branch that only takes, or only gives.
    fn end_branch(&mut self, (input, output): (&Ty, &Ty), place: &Place, duplicate: bool, to: &mut Branches) {
        let place = Place { depth: 0, ..place.clone() };
        if duplicate || self.choices.chance(50) {
            let child = self.sink(input, &place);
            let weight = if duplicate { 1 } else { self.rate() };
            to.children.push(child);
            to.split.push(weight);
            to.join.push(Join::Nothing);
        } else {
            let child = self.source(output, &place);
            to.children.push(child);
            to.split.push(0);
            let rate = self.rate();
            to.join.push(Join::Any(rate));
        }
    }

    /// A feedback loop of which one firing of each part makes a turn.
    fn feedback(&mut self, input: &Ty, output: &Ty, place: &Place) -> Made {
        let outside = self.rate();
        let given = if place.unit { outside } else { self.rate() };
        let made = self.turning((input, outside), (output, given), place, (Some(input), Some(output)));
        (made, Some(Ratio::new(given, outside)))
    }

    /// The same with an outside that may be missing, of which the count is 0 then.
    pub fn turning(
        &mut self,
        (input, outside): (&Ty, u32),
        (output, given): (&Ty, u32),
        place: &Place,
        ends: (Option<&Ty>, Option<&Ty>),
    ) -> Stream {
        let mut head = self.head("L", ends);
        if ends == (None, None) {
            // It is the program.
            (head.named, head.variable) = (true, None);
        }
        let place = self.inner(place, &head);
        let place = Place { fixed: true, depth: 0, unit: false, ..place };
        let (turns, back) = (self.rate(), self.rate());
        let duplicate = given > 0 && self.choices.chance(25);
        let (push, split) = if duplicate { (given, None) } else { (given + back, Some((given, back))) };
        let back = if duplicate { given } else { back };
        let rates = Rates::Static { pop: outside + turns, push };
        let shows = ends.1.is_none();
        let body = self.loop_filter((input, output), rates, &place, shows);
        let window = if let Stream::Filter(filter) = &body { filter.window } else { 0 };
        let plain = input == output && back == 1 && turns == 1;
        let back = if plain && self.choices.chance(50) {
            Stream::Identity(input.clone())
        } else {
            let place = Place { windows: false, ..place };
            self.loop_filter((output, input), Rates::Static { pop: back, push: turns }, &place, false)
        };
        let more =
            if self.options.kernels && self.choices.chance(30) { self.choices.within(3, 40) } else { 0 };
        let enqueued = turns * (1 + window) + self.choices.below(3) + more;
        let first = self.first_item(input);
        Stream::Loop(Box::new(Loop { head, join: (outside, turns), split, body, back, enqueued, first }))
    }

    fn loop_filter(&mut self, ends: (&Ty, &Ty), rates: Rates, place: &Place, shows: bool) -> Stream {
        let fault = shows && std::mem::take(&mut self.fault);
        let wanted = Wanted {
            name: format!("F{}", self.number()),
            input: Some(ends.0),
            output: Some(ends.1),
            rates,
            alone: place.alone,
            shows,
            around: place.around.as_deref(),
            windows: place.windows,
            first: false,
            fault,
        };
        Stream::Filter(Box::new(filter(self.choices, self.world, &wanted)))
    }

    /// Statements that make an item, of which the last one enqueues it.
    fn first_item(&mut self, ty: &Ty) -> Vec<String> {
        let number = self.number();
        let world = World { random: false, ..self.world.clone() };
        let mut coder = Coder::new(self.choices, &world);
        coder.names = number * 1000;
        let name = coder.declare(ty);
        coder.line(format!("enqueue {name};"));
        coder.lines
    }

    fn recursive(&mut self, ty: &Ty, place: &Place) -> Made {
        let name = format!("R{}", self.number());
        let weight = self.choices.chance(50).then(|| self.rate());
        let depth = self.choices.within(1, if weight.is_some() { 3 } else { 4 });
        let place = Place {
            depth: 0,
            unit: true,
            fixed: true,
            alone: false,
            around: Some("n".to_owned()),
            ..place.clone()
        };
        let (leaf, _) = self.simple(ty, ty, &place);
        let recursive = Recursive { name, ty: ty.clone(), depth, weight, leaf };
        (Stream::Recursive(Box::new(recursive)), Some(Ratio::ONE))
    }

    /// Something that gives items.
    pub fn source(&mut self, output: &Ty, place: &Place) -> Stream {
        let kind = self.choices.below(10);
        if (5..7).contains(&kind)
            && self.options.files
            && place.alone
            && can_be_filed(output, &self.world.structs)
        {
            return self.reader(output);
        }
        if place.depth > 0 {
            match kind {
                7 => return self.parallel_ends(None, Some(output), place),
                8 => {
                    let (ty, given) = (self.ty(), self.rate());
                    return self.turning((&ty, 0), (output, given), place, (None, Some(output)));
                }
                9 => {
                    let head = self.head("P", (None, Some(output)));
                    let (inner, ty) = (self.inner(place, &head), self.ty());
                    let children = vec![self.source(&ty, &inner), self.through(&ty, output, &inner).0];
                    return Stream::Pipeline(Composite { head, children });
                }
                _ => {}
            }
        }
        let push = self.rate();
        self.filter((None, Some(output)), Rates::Static { pop: 0, push }, place, false)
    }

    fn reader(&mut self, ty: &Ty) -> Stream {
        let name = format!("in{}", self.inputs.len());
        let items = self.choices.within(5, 60);
        let bytes = content(self.choices, ty, &self.world.structs, items);
        self.inputs.push((name.clone(), bytes));
        Stream::Reader(ty.clone(), name)
    }

    /// Something that takes items, and prints or writes.
    pub fn sink(&mut self, input: &Ty, place: &Place) -> Stream {
        let kind = if self.fault { 0 } else { self.choices.below(10) };
        if (5..7).contains(&kind)
            && self.options.files
            && place.alone
            && can_be_filed(input, &self.world.structs)
        {
            let name = format!("out{}", self.outputs.len());
            self.outputs.push(name.clone());
            return Stream::Writer(input.clone(), name);
        }
        if place.depth > 0 {
            match kind {
                7 => return self.parallel_ends(Some(input), None, place),
                8 => {
                    let (ty, outside) = (self.ty(), self.rate());
                    return self.turning((input, outside), (&ty, 0), place, (Some(input), None));
                }
                _ => {}
            }
        }
        let pop = self.rate();
        self.filter((Some(input), None), Rates::Static { pop, push: 0 }, place, place.alone)
    }

    /// Several sources, or several sinks, side by side.
    fn parallel_ends(&mut self, input: Option<&Ty>, output: Option<&Ty>, place: &Place) -> Stream {
        let head = self.head("S", (input, output));
        let inner = self.inner(place, &head);
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
        let deal = Deal::RoundRobin(weights, self.choices.chance(30));
        let composite = Composite { head, children };
        if input.is_none() {
            return Stream::SplitJoin(composite, Deal::Null, deal);
        }
        let split = if self.choices.chance(50) { Deal::Duplicate } else { deal };
        Stream::SplitJoin(composite, split, Deal::Null)
    }
}
