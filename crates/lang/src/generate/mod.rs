//! Random programs that are right: well typed, with rates that balance and work that ends.
//!
//! For tests that compare ways of running a program. A program comes from a seed or from bytes
//! ([`Choices`]), and is the same for the same. It uses all of the language but natives and messages: all
//! types as variables, items and parameters; operators, functions, loops, `init`, `prework`, windows;
//! pipelines, split-joins with weights of 0 and without splitter or joiner, feedback loops, recursion,
//! streams that stand where they are used and what they capture; dynamic rates; files; prints in several
//! filters, each line with the filter's name in front; windows with weights, tables, delays and blocks
//! (`kernel`), which arbitrary code seldom is.
//!
//! Indices are in range, integers are not divided by zero, and every loop has a bound, but for the one
//! fault that [`Options::fault`] asks for. Values are arbitrary: integers wrap, shifts are by any number,
//! floats become infinite and NaN. What bits a NaN has is not defined by the language, so NaNs in files
//! that are compared are all the same.
//!
//! [`rewrite`] changes a program in ways that must not change what it prints; [`mutate`] breaks texts;
//! [`shrink`] looks for a small program that still shows something.

mod branches;
mod choices;
mod code;
mod expr;
mod filter;
mod kernel;
mod model;
pub mod mutate;
mod ratio;
mod render;
pub mod rewrite;
pub mod shrink;
mod stmt;
mod streams;
mod types;
mod work;

pub use choices::Choices;
pub use model::Program;

use code::{Coder, Var, World};
use filter::{Rates, plain_function};
use model::{Composite, Stream};
use streams::{Maker, Place};
use types::any;

/// What programs may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Composites in each other.
    pub depth: u32,
    /// Dynamic rates.
    pub dynamic: bool,
    /// Files that are read and written.
    pub files: bool,
    /// `random()`, which depends on how many filters come before.
    pub random: bool,
    /// One filter does something that is an error, in its third firing.
    pub fault: bool,
    /// Filters as programs have them among those of arbitrary code, and more of what is alike.
    pub kernels: bool,
}

/// All but faults, and kernels, with which a steady state can be too large for the interpreter.
impl Default for Options {
    fn default() -> Options {
        Options { depth: 3, dynamic: true, files: true, random: true, fault: false, kernels: false }
    }
}

/// A program of choices.
pub fn generate(choices: &mut Choices, options: &Options) -> Program {
    let (world, preamble) = world(choices, options);
    let mut maker = Maker {
        choices,
        world: &world,
        options,
        names: 0,
        inputs: Vec::new(),
        outputs: Vec::new(),
        dynamic: false,
        fault: false,
    };
    let top = top(&mut maker);
    let (inputs, dynamic) = (maker.inputs, maker.dynamic);
    let mut program =
        Program { structs: world.structs.clone(), preamble, top, inputs, outputs: Vec::new(), dynamic };
    program.keep_files();
    program
}

/// A program of a seed, with the options that hold where nothing else is said.
pub fn from_seed(seed: u64) -> Program {
    generate(&mut Choices::seeded(seed), &Options::default())
}

/// What stands before the streams.
fn world(choices: &mut Choices, options: &Options) -> (World, Vec<String>) {
    let mut world = World { structs: types::structs(choices), ..World::default() };
    let mut lines = Vec::new();
    if choices.chance(35) {
        statics(choices, &mut world, &mut lines);
    }
    if choices.chance(35) {
        helpers(choices, &mut world, &mut lines);
    }
    world.random = options.random;
    (world, lines)
}

fn statics(choices: &mut Choices, world: &mut World, lines: &mut Vec<String>) {
    let before = world.clone();
    let mut coder = Coder::new(choices, &before);
    let mut vars = Vec::new();
    coder.block("static", |coder| {
        for at in 0..coder.choices.within(1, 3) {
            let ty = any(coder.choices, before.structs.len());
            let (name, value) = (format!("Global{at}"), coder.first_value(&ty));
            coder.line(format!("{} {name}{value};", ty.text()));
            vars.push(Var::new(&name, &ty));
        }
        coder.vars = vars.clone();
        if coder.choices.chance(60) {
            coder.block("init", |coder| vars.iter().for_each(|var| coder.fill(&var.name, &var.ty)));
        }
    });
    lines.append(&mut coder.lines);
    world.statics = vars.into_iter().map(|var| Var { changes: false, ..var }).collect();
}

fn helpers(choices: &mut Choices, world: &mut World, lines: &mut Vec<String>) {
    let before = world.clone();
    let mut coder = Coder::new(choices, &before);
    coder.block("helper Help", |coder| {
        for at in 0..coder.choices.within(1, 2) {
            let name = format!("h{at}");
            plain_function(coder, &name, "Help.", &name);
        }
    });
    lines.append(&mut coder.lines);
    world.helpers = coder.functions;
}

/// The stream that is the program: seldom a feedback loop, else a pipeline.
fn top(maker: &mut Maker<'_>) -> Stream {
    let depth = maker.options.depth;
    let place = Place { depth, unit: false, fixed: false, alone: true, windows: true, around: None };
    if maker.choices.chance(4) {
        let (ty, other) = (maker.ty(), maker.ty());
        maker.fault = maker.options.fault;
        return maker.turning((&ty, 0), (&other, 0), &place, (None, None));
    }
    let mut head = maker.head("Main", (None, None));
    (head.named, head.variable) = (true, None);
    let mut from = maker.ty();
    let mut children = vec![maker.source(&from, &place)];
    for _ in 0..maker.choices.below(4) {
        let to = maker.ty();
        children.push(maker.through(&from, &to, &place).0);
        from = to;
    }
    // Here and not before: what is made may be thrown away, and this fires in every steady state.
    maker.fault = maker.options.fault;
    let sink = if maker.fault || maker.choices.chance(60) {
        let pop = maker.choices.within(1, 3);
        maker.filter((Some(&from), None), Rates::Static { pop, push: 0 }, &place, true)
    } else {
        maker.sink(&from, &place)
    };
    children.push(sink);
    Stream::Pipeline(Composite { head, children })
}

impl Program {
    /// Forgets files that no stream reads or writes.
    fn keep_files(&mut self) {
        let (mut read, mut written) = (Vec::new(), Vec::new());
        self.top.each(&mut |stream| match stream {
            Stream::Reader(_, name) => read.push(name.clone()),
            Stream::Writer(_, name) => written.push(name.clone()),
            _ => {}
        });
        self.inputs.retain(|(name, _)| read.contains(name));
        self.outputs = written;
    }
}
