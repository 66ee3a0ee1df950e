//! Runs of native programs.
//!
//! The initialisation, and what can still fire at the end of the input, go node by node through queues
//! ([`single`]); the steady states between go through the buffers of the [`plan`](crate::plan), as many at a
//! time as the input has items for. At the change from one to the other items are moved ([`moves`]). Files that
//! are memory are buffers themselves ([`lend`]).
//!
//! **Order** is the interpreter's: phases as they stand, and at the end of the input each node in turn as
//! long as it can. What has been printed before a failure is what the interpreter has printed.

mod borders;
mod ends;
mod failing;
mod lend;
mod moves;
mod parallel;
mod parts;
mod queues;
mod reader;
mod single;
mod turn;

use crate::Native;
use crate::build::{Env, Fibers, Host, Memory, Queue, State};
use crate::emit::expr::cell_bytes;
use crate::emit::program::NodeCode;
use crate::ir::{Code, Piece};
use crate::parts::Part;
use crate::plan::{Facts, item};
use crate::threads::Threads;
use ends::Ends;
use lend::Gates;
use queues::Queues;
use std::io::Write;
use thalweg_lang::Diagnostic;
use thalweg_lang::flat::ChannelId;
use thalweg_lang::hir::Type;
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings};
use thalweg_lang::value::Value;

/// A run.
pub(crate) struct Run<'a> {
    native: &'a Native,
    stages: Vec<Stage<'a>>,
    fibers: Fibers,
    state: State<'a>,
    ends: Ends,
    /// By node.
    fired: Vec<u64>,
    /// By node: items that a firing waits for in its middle.
    awaited: Vec<Option<u64>>,
    /// By node: firings that the schedules of their regions have passed.
    passed: Vec<u64>,
    regions: Vec<parts::Region<'a>>,
    /// Whether anything has been done.
    moved: bool,
    around: Around<'a>,
}

/// What the program calls while it runs.
struct Around<'a> {
    printer: Printer<'a>,
    queues: Queues,
}

/// A part of the program in a run.
struct Stage<'a> {
    part: &'a Part,
    facts: Facts<'a>,
    /// Items of its buffers, by root.
    buffers: Vec<Memory>,
    /// Where it takes items from others: how many in a steady state, and how many must be there besides.
    inputs: Vec<(ChannelId, u64, u64)>,
    gates: Gates,
}

/// What a call came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// The input is over.
    Over,
}

impl Native {
    /// Runs the program to its end, as [`interpret`](thalweg_lang::interpret::interpret) does.
    ///
    /// # Errors
    /// It ends before its time.
    pub fn run(&self, options: Options, around: Surroundings<'_>) -> Result<Outcome, Stop> {
        self.run_on(&Threads::default(), options, around)
    }

    /// The same on several threads.
    ///
    /// # Errors
    /// It ends before its time.
    pub fn run_on(
        &self,
        threads: &Threads,
        options: Options,
        mut around: Surroundings<'_>,
    ) -> Result<Outcome, Stop> {
        let ends = Ends::open(&self.compiled, options, around.files)?;
        let out = std::mem::replace(&mut around.out, Box::new(std::io::sink()));
        let mut run = Run::new(self, ends, out);
        run.around.printer.write(&self.compiled.tree.printed).map_err(Stop::Output)?;
        let iterations = match self.parts.len() {
            1 if !self.flows() => run.drive(threads, options, &mut around)?,
            _ => run.drive_parts(options, &mut around)?,
        };
        run.around.printer.out.flush().map_err(|error| Stop::Output(error.to_string()))?;
        run.ends.finish(&self.compiled)?;
        if (around.interrupted)() {
            return Err(Stop::Interrupted);
        }
        Ok(Outcome { iterations, firings: run.fired.iter().sum() })
    }
}

impl<'a> Run<'a> {
    fn new(native: &'a Native, ends: Ends, out: Box<dyn Write>) -> Run<'a> {
        let channels = native.compiled.flat.channels.len();
        let stage = |part: &'a Part| {
            let facts = Facts::new(&native.compiled, &part.region);
            let inputs = Stage::inputs(&facts);
            Stage { part, inputs, facts, buffers: Vec::new(), gates: Gates::default() }
        };
        // What cannot be native is refused before a run begins.
        let item = |at: usize| item(&native.compiled, ChannelId(at as u32));
        let bytes = (0..channels).map(|at| item(at).map_or(0, |(cell, cells)| cell_bytes(cell) * cells));
        let state = State::new(&native.library, channels);
        let mut run = Run {
            native,
            fibers: state.fibers(),
            stages: native.parts.iter().map(stage).collect(),
            state,
            ends,
            fired: vec![0; native.compiled.flat.nodes.len()],
            awaited: vec![None; native.compiled.flat.nodes.len()],
            passed: vec![0; native.compiled.flat.nodes.len()],
            regions: Vec::new(),
            moved: false,
            around: Around {
                printer: Printer { codes: &native.codes, out, error: None },
                queues: Queues::new(bytes.collect(), native.rings()),
            },
        };
        run.fill_queues();
        run
    }

    fn drive(
        &mut self,
        threads: &Threads,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        let most = options.iterations.unwrap_or(u64::MAX);
        if most == 0 || (around.interrupted)() {
            return Ok(0);
        }
        let region = &self.native.parts[0].region;
        if self.phases(&region.init)? == Flow::Over {
            self.flush(&*around.interrupted)?;
            return Ok(0);
        }
        self.fill_buffers(0, 0);
        let mut iterations = parallel::drive(self, threads, options, around)?;
        while iterations < most && !(around.interrupted)() {
            let want = self.native.parts[0].scale.min(most - iterations);
            let n = self.ends.available(&self.stages[0].facts, want)?;
            if n > 0 {
                self.steady(0, iterations, n)?;
                iterations += n;
                (around.progress)(iterations);
            }
            if n < want {
                self.empty_buffers(0, iterations);
                return self.last(&region.steady, iterations, most, around);
            }
        }
        Ok(iterations)
    }

    /// The end of the input is near: steady states node by node, and then all that can still fire.
    fn last(
        &mut self,
        steady: &[thalweg_lang::schedule::Phase],
        mut iterations: u64,
        most: u64,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        while iterations < most && !(around.interrupted)() {
            if self.phases(steady)? == Flow::Over {
                self.flush(&*around.interrupted)?;
                break;
            }
            iterations += 1;
            (around.progress)(iterations);
        }
        Ok(iterations)
    }

    /// Steady states of a part, in one call, after so many.
    fn steady(&mut self, stage: usize, done: u64, n: u64) -> Result<(), Stop> {
        self.take_input(stage, n);
        if let Err((n, stop)) = self.call(stage, done, n) {
            self.give_output(stage, n)?;
            return Err(stop);
        }
        self.steady_done(stage, n)
    }

    /// What comes after so many steady states.
    fn steady_done(&mut self, stage: usize, n: u64) -> Result<(), Stop> {
        self.give_output(stage, n)?;
        self.move_on(stage, n);
        for (fired, more) in self.fired.iter_mut().zip(&self.stages[stage].facts.firings) {
            *fired += n * more;
        }
        Ok(())
    }
}

/// Why the last call failed.
fn failed(native: &Native, state: &mut State<'_>, around: &mut Around<'_>) -> Stop {
    match around.printer.error.take() {
        Some(error) => Stop::Output(error),
        None => fault(native, state.failure()),
    }
}

/// Why a call failed.
fn fault(native: &Native, failure: &Env) -> Stop {
    let (compiled, args) = (&native.compiled, failure.args);
    let node = &compiled.flat.nodes[failure.node as usize];
    let code = code(&native.codes, failure.node, failure.which);
    let Some(site) = code.and_then(|code| code.sites.get(failure.site as usize)) else {
        return Stop::Output(format!("`{}` failed", node.name));
    };
    let why = site.why.0.replace("{0}", &args[0].to_string()).replace("{1}", &args[1].to_string());
    let (span, message) = if site.whole {
        (node.span, format!("`{}`: {why}", node.name))
    } else {
        (site.span, format!("`{}`, in firing {}: {why}", node.name, failure.firing))
    };
    Stop::Fault(Box::new(Diagnostic::new(span, message)))
}

/// A node's code: of `prework`, or of `work`.
fn code(codes: &[Option<NodeCode>], node: u32, which: u32) -> Option<&Code> {
    let codes = codes[node as usize].as_ref()?;
    if which == 1 { codes.prework.as_ref() } else { Some(&codes.work) }
}

/// What a node prints by a format.
fn print(
    codes: &[Option<NodeCode>],
    node: u32,
    which: u32,
    format: u32,
    args: &dyn Fn(usize) -> Vec<i32>,
) -> Option<String> {
    let pieces = code(codes, node, which)?.formats.get(format as usize)?;
    let count = pieces.iter().map(|piece| if let Piece::Value(ty) = piece { scalars(ty) } else { 0 }).sum();
    Some(text(pieces, &args(count)))
}

/// Prints for the program.
struct Printer<'a> {
    codes: &'a [Option<NodeCode>],
    out: Box<dyn Write>,
    error: Option<String>,
}

impl Printer<'_> {
    fn write(&mut self, text: &str) -> Result<(), String> {
        self.write_bytes(text.as_bytes())
    }

    fn write_bytes(&mut self, text: &[u8]) -> Result<(), String> {
        let written = self.out.write_all(text);
        written.map_err(|error| format!("the output cannot be written: {error}"))
    }
}

impl Host for Around<'_> {
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool {
        self.printer.print(node, which, format, args)
    }

    fn more(&mut self, channel: usize, queue: &mut Queue, items: u64) {
        self.queues.make_room(channel, queue, items);
    }
}

impl Printer<'_> {
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool {
        let Some(text) = print(self.codes, node, which, format, args) else { return false };
        match self.write(&text) {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }
}

fn scalars(ty: &Type) -> usize {
    match ty {
        Type::Complex => 2,
        Type::Vector(count) => usize::from(*count),
        _ => 1,
    }
}

fn text(pieces: &[Piece], mut args: &[i32]) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(part) => text.push_str(part),
            Piece::Value(ty) => {
                let (own, rest) = args.split_at(scalars(ty));
                args = rest;
                text.push_str(&value(ty, own).to_text(ty));
            }
        }
    }
    text
}

fn value(ty: &Type, own: &[i32]) -> Value {
    let float = |at: usize| f32::from_bits(own[at] as u32);
    match ty {
        Type::Bit | Type::Boolean => Value::Bool(own[0] != 0),
        Type::Float => Value::Float(float(0)),
        Type::Complex => Value::Complex(float(0), float(1)),
        Type::Vector(count) => {
            let mut parts = [0.0; 4];
            (0..usize::from(*count)).for_each(|at| parts[at] = float(at));
            Value::Vector(parts)
        }
        _ => Value::Int(own[0]),
    }
}
