//! Generates random valid StreamIt programs: well typed, with balanced rates and terminating work. Tests of the front
//! end and of native code use them to compare ways of running a program.
//!
//! ```
//! use thalweg_lang_testgen::{Choices, Options, generate};
//!
//! let program = generate(&mut Choices::seeded(7), &Options { files: false, ..Options::default() });
//! let sources = thalweg_lang::Sources::of("random.str", program.to_string());
//! assert!(thalweg_lang::compile(&sources).is_ok());
//! ```
//!
//! A program is a function of a seed or of bytes ([`Choices`]). It may use the whole language except natives and
//! messages: all types as variables, items and parameters; operators, functions, loops, `init`, `prework`, windows;
//! pipelines, splitjoins with weights of 0 and with null splitters or joiners, feedback loops, recursion, anonymous
//! streams with captures; dynamic rates; files; prints in several filters, each line prefixed with the filter's name;
//! and kernels (`kernel`): windows with weights, tables, delays and blocks, which arbitrary code seldom contains.
//!
//! Indices are in range, integers are not divided by zero, and every loop is bounded; the only exception is the fault
//! that [`Options::fault`] requests. Values are arbitrary: integers wrap, shifts are by any number, floats become
//! infinite and NaN.
//!
//! [`rewrite`] changes a program without changing its output; [`mutate`] breaks program texts; [`shrink`] finds a small
//! program that still has a property.

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

use code::{Coder, Globals, Var};
use filter::{Rates, plain_function};
use model::{Composite, Stream};
use streams::{Constraints, Generator};
use types::any;

/// Features that a program may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Nesting of composites.
    pub depth: u32,
    /// Dynamic rates.
    pub dynamic: bool,
    /// Input and output files.
    pub files: bool,
    /// `random()`, which depends on the number of preceding filters.
    pub random: bool,
    /// Whether one filter fails in its third firing.
    pub fault: bool,
    /// Whether kernels occur among filters of arbitrary code, with more repetition of similar filters.
    pub kernels: bool,
}

/// Everything except faults, and except kernels, with which a steady state can be too large for the interpreter.
impl Default for Options {
    fn default() -> Options {
        Options { depth: 3, dynamic: true, files: true, random: true, fault: false, kernels: false }
    }
}

/// Generates a program from choices.
pub fn generate(choices: &mut Choices, options: &Options) -> Program {
    let (globals, preamble) = globals(choices, options);
    let mut generator = Generator {
        choices,
        globals: &globals,
        options,
        names: 0,
        inputs: Vec::new(),
        outputs: Vec::new(),
        dynamic: false,
        fault: false,
    };
    let top = top(&mut generator);
    let (inputs, dynamic) = (generator.inputs, generator.dynamic);
    let mut program =
        Program { structs: globals.structs.clone(), preamble, top, inputs, outputs: Vec::new(), dynamic };
    program.drop_unused_files();
    program
}

/// Generates a program from a seed, with the default options.
pub fn from_seed(seed: u64) -> Program {
    generate(&mut Choices::seeded(seed), &Options::default())
}

/// The items before the streams.
fn globals(choices: &mut Choices, options: &Options) -> (Globals, Vec<String>) {
    let mut globals = Globals { structs: types::structs(choices), ..Globals::default() };
    let mut lines = Vec::new();
    if choices.chance(35) {
        statics(choices, &mut globals, &mut lines);
    }
    if choices.chance(35) {
        helpers(choices, &mut globals, &mut lines);
    }
    globals.random = options.random;
    (globals, lines)
}

fn statics(choices: &mut Choices, globals: &mut Globals, lines: &mut Vec<String>) {
    let before = globals.clone();
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
    globals.statics = vars.into_iter().map(|var| Var { changes: false, ..var }).collect();
}

fn helpers(choices: &mut Choices, globals: &mut Globals, lines: &mut Vec<String>) {
    let before = globals.clone();
    let mut coder = Coder::new(choices, &before);
    coder.block("helper Help", |coder| {
        for at in 0..coder.choices.within(1, 2) {
            let name = format!("h{at}");
            plain_function(coder, &name, "Help.", &name);
        }
    });
    lines.append(&mut coder.lines);
    globals.helpers = coder.functions;
}

/// The entry point: a pipeline, or seldom a feedback loop.
fn top(generator: &mut Generator<'_>) -> Stream {
    let depth = generator.options.depth;
    let constraints =
        Constraints { depth, unit: false, fixed: false, alone: true, windows: true, around: None };
    if generator.choices.chance(4) {
        let (ty, other) = (generator.ty(), generator.ty());
        generator.fault = generator.options.fault;
        return generator.feedback_loop((&ty, 0), (&other, 0), &constraints, (None, None));
    }
    let mut head = generator.head("Main", (None, None));
    (head.named, head.variable) = (true, None);
    let mut from = generator.ty();
    let mut children = vec![generator.source(&from, &constraints)];
    for _ in 0..generator.choices.below(4) {
        let to = generator.ty();
        children.push(generator.through(&from, &to, &constraints).0);
        from = to;
    }
    // The fault is enabled only now: parts generated above may be discarded, and the last filter fires in every
    // steady state.
    generator.fault = generator.options.fault;
    let sink = if generator.fault || generator.choices.chance(60) {
        let pop = generator.choices.within(1, 3);
        generator.filter((Some(&from), None), Rates::Static { pop, push: 0 }, &constraints, true)
    } else {
        generator.sink(&from, &constraints)
    };
    children.push(sink);
    Stream::Pipeline(Composite { head, children })
}

impl Program {
    /// Drops files that no stream reads or writes.
    fn drop_unused_files(&mut self) {
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
