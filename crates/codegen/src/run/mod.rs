//! Runs of native programs.
//!
//! **Actors.** A [`Run`] belongs to one thread. It calls the loaded program, which calls back through
//! [`Host`], implemented by [`Around`]: to print, to grow a queue, to exchange messages, and to ask whether
//! to stop. Several threads run one program with one `Run` each ([`groups`], [`filters`]), or with a part of
//! the state for each batch ([`parallel`]); files and standard output always belong to the caller's thread.
//!
//! **Phases** of a program of one region:
//!
//! | phase | how nodes run | where items are |
//! |---|---|---|
//! | initialisation | node by node ([`single`]) | queues |
//! | steady states | calls of the [`plan`](crate::plan), as many at a time as there is input for | buffers |
//! | end of the input | node by node, as far as they can | queues |
//!
//! [`moves`] copies items between queues and buffers where one phase follows another. The content of files
//! that lie in memory is used as a buffer without copying ([`lend`]). A program of several regions goes by
//! [`parts`].
//!
//! **Order** is the interpreter's: phases in their order, and at the end of the input each node in turn as
//! long as it can fire. What has been printed before a failure equals what the interpreter has printed.

mod batches;
mod borders;
mod by_schedule;
mod demand;
mod ends;
mod engine;
mod failing;
mod filters;
mod first;
mod groups;
mod input;
mod lend;
mod messages;
mod moves;
mod parallel;
mod parts;
mod queues;
mod reader;
mod single;

use crate::Native;
use crate::build::{Env, Fibers, Host, Inbox, Memory, Queue, Sent, State};
use crate::emit::expr::cell_bytes;
use crate::emit::program::NodeCode;
use crate::ir::{Code, Piece};
use crate::parts::{Part, entries};
use crate::plan::{Facts, item};
use crate::threads::Threads;
use ends::Ends;
use input::{SHORT, There};
use lend::Gates;
use messages::RunMessages;
use queues::{Budget, Queues};
use std::io::Write;
use std::rc::Rc;
use thalweg_lang::Diagnostic;
use thalweg_lang::flat::ChannelId;
use thalweg_lang::hir::Type;
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, counted, counted_were, over_budget};
use thalweg_lang::value::Value;

/// A run.
pub(crate) struct Run<'a> {
    native: &'a Native,
    stages: Vec<Stage<'a>>,
    fibers: Fibers<'a>,
    state: State<'a>,
    ends: Ends,
    /// By node: its firings.
    fired: Vec<u64>,
    /// By node: the items that a firing waits for in the middle.
    awaited: Vec<Option<u64>>,
    /// By node: the firings that the schedule of its region has passed.
    passed: Vec<u64>,
    regions: Vec<parts::Region<'a>>,
    /// Whether anything has fired.
    moved: bool,
    /// If batches of several regions have failed: the steady states of the sources that were complete before,
    /// with all that follows from them; and the steady states that were to be done.
    failed: Option<(u64, u64)>,
    around: Around<'a>,
}

/// The host side of callbacks.
struct Around<'a> {
    printer: Printer<'a>,
    queues: Queues,
    /// Present where there are messages.
    messages: Option<RunMessages>,
    interrupted: Rc<dyn Fn() -> bool>,
}

impl Around<'_> {
    /// Whether another failure may precede one. (Where there are messages, nodes that may fail are kept in
    /// order.)
    fn may_settle(&self) -> bool {
        self.printer.error.is_none() && self.messages.is_none()
    }
}

/// A part of the program in a run.
struct Stage<'a> {
    part: &'a Part,
    facts: Facts<'a>,
    /// By root: the memory of its buffers.
    buffers: Vec<Memory>,
    /// The channels it takes from: the items of a steady state, and those that must be there besides.
    inputs: Vec<(ChannelId, u64, u64)>,
    gates: Gates,
}

/// Whether phases can continue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// The input has ended.
    Over,
}

impl Native {
    /// Runs the program to its end, like [`interpret`](thalweg_lang::interpret::interpret).
    ///
    /// # Errors
    /// A failure, or an interruption.
    pub fn run(&self, options: Options, around: Surroundings<'_>) -> Result<Outcome, Stop> {
        self.run_on(&Threads::default(), options, around)
    }

    /// Like [`Native::run`], on several threads.
    ///
    /// # Errors
    /// A failure, or an interruption.
    pub fn run_on(
        &self,
        threads: &Threads,
        options: Options,
        mut around: Surroundings<'_>,
    ) -> Result<Outcome, Stop> {
        let mut ends = Ends::open(&self.compiled, options, around.files)?;
        if self.may_fail_first() {
            ends.remember();
        }
        let out = std::mem::replace(&mut around.out, Box::new(std::io::sink()));
        let interrupted = shared(&mut around);
        let mut run = Run::new(self, ends, (out, interrupted));
        run.around.printer.write(&self.compiled.tree.printed).map_err(Stop::Output)?;
        let iterations = match self.parts.len() {
            _ if self.on_demand() => run.drive_on_demand(options, &mut around),
            1 if !self.flows() => run.drive(threads, options, &mut around),
            _ => run.drive_parts(threads, options, &mut around),
        };
        let iterations = match iterations {
            Err(stop @ Stop::Fault(_)) if !(around.interrupted)() => Err(self.first_failure(&mut run, stop)),
            other => other,
        };
        // A run stopped in the middle of a firing ends like one stopped between two firings.
        let iterations = match iterations {
            Err(Stop::Interrupted) => 0,
            // A failure after an interruption may follow from missing items.
            Err(_) if (around.interrupted)() => 0,
            done => done?,
        };
        run.around.printer.flush().map_err(Stop::Output)?;
        run.ends.finish(&self.compiled)?;
        if (around.interrupted)() {
            return Err(Stop::Interrupted);
        }
        Ok(Outcome { iterations, firings: run.fired.iter().sum() })
    }
}

impl<'a> Run<'a> {
    fn new(
        native: &'a Native,
        ends: Ends,
        (out, interrupted): (Box<dyn Write>, Rc<dyn Fn() -> bool>),
    ) -> Run<'a> {
        let channels = native.compiled.flat.channels().len();
        let stage = |part: &'a Part| {
            let facts = Facts::new(&native.compiled, &part.region);
            let inputs = entries(&facts);
            Stage { part, inputs, facts, buffers: Vec::new(), gates: Gates::default() }
        };
        // Channels of unsupported types have been refused before a run begins.
        let item = |at: usize| item(&native.compiled, ChannelId(at as u32));
        let bytes = (0..channels).map(|at| item(at).map_or(0, |(cell, cells)| cell_bytes(cell) * cells));
        let nodes = native.compiled.flat.nodes().len();
        let state = State::new(&native.library, channels);
        let state = if native.has_messages() { state.with_mail(nodes) } else { state };
        let mut run = Run {
            native,
            fibers: Fibers::default(),
            stages: native.parts.iter().map(stage).collect(),
            state,
            ends,
            fired: vec![0; native.compiled.flat.nodes().len()],
            awaited: vec![None; native.compiled.flat.nodes().len()],
            passed: vec![0; native.compiled.flat.nodes().len()],
            regions: Vec::new(),
            moved: false,
            failed: None,
            around: Around {
                printer: Printer { codes: &native.codes, out, error: None },
                queues: Queues::new(bytes.collect(), native.rings(), Budget::new(native.budget)),
                messages: native.has_messages().then(|| RunMessages::new(&native.compiled)),
                interrupted,
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
        let mut iterations = 0;
        loop {
            let (first, again) = parallel::drive(self, threads, (iterations, options), around)?;
            let (done, over) = self.steady_states(first, (most, again), around)?;
            self.count(0, done - first);
            iterations = done;
            if over {
                self.empty_buffers(0, iterations);
                return self.last(&region.steady, iterations, most, around);
            }
            if iterations == most || (around.interrupted)() {
                return Ok(iterations);
            }
        }
    }

    /// Runs steady states of a program of one part, after `iterations`. Returns their number, and whether the
    /// input has ended. Returns to start threads as soon as there is input for `threads` steady states. Does
    /// not count firings.
    fn steady_states(
        &mut self,
        mut iterations: u64,
        (most, threads): (u64, Option<u64>),
        around: &mut Surroundings<'_>,
    ) -> Result<(u64, bool), Stop> {
        while iterations < most && !(around.interrupted)() {
            let want = self.native.parts[0].scale.min(most - iterations);
            let There { n: there, over } = self.input(0, want)?;
            let n = self.in_place(0, there);
            if n > 0 {
                self.steady(0, iterations, n)?;
                iterations += n;
                (around.progress)(iterations);
            }
            if n == there && over {
                return Ok((iterations, true));
            }
            if let Some(least) = threads.filter(|least| *least <= most - iterations)
                && self.ends.there(&self.stages[0].facts, least, SHORT).n == least
            {
                return Ok((iterations, false));
            }
        }
        Ok((iterations, false))
    }

    /// The end of the input is near: runs steady states node by node, then everything that can still fire.
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

    /// Runs `n` steady states of a part in one call, after `done`. The caller counts firings.
    fn steady(&mut self, stage: usize, done: u64, n: u64) -> Result<(), Stop> {
        self.take_input(stage, n);
        if let Err((n, stop)) = self.call(stage, done, n) {
            self.give_output(stage, n)?;
            return Err(stop);
        }
        self.steady_done(stage, n)
    }

    /// Writes the output of `n` steady states, and moves what is left to the front of buffers.
    fn steady_done(&mut self, stage: usize, n: u64) -> Result<(), Stop> {
        self.give_output(stage, n)?;
        self.move_on(stage, n);
        Ok(())
    }

    /// Counts the firings of `n` steady states.
    fn count(&mut self, stage: usize, n: u64) {
        for (fired, more) in self.fired.iter_mut().zip(&self.stages[stage].facts.firings) {
            *fired += n * more;
        }
    }
}

/// Makes the interruption check shareable.
fn shared(around: &mut Surroundings<'_>) -> Rc<dyn Fn() -> bool> {
    let interrupted = std::mem::replace(&mut around.interrupted, Box::new(|| false));
    let interrupted: Rc<dyn Fn() -> bool> = interrupted.into();
    let other = interrupted.clone();
    around.interrupted = Box::new(move || other());
    interrupted
}

/// Why the last call failed.
fn failed(native: &Native, state: &mut State<'_>, around: &mut Around<'_>) -> Stop {
    if let Some(stop) = around.over(native) {
        return stop;
    }
    match around.printer.error.take() {
        Some(error) => Stop::Output(error),
        None => fault(native, state.failure(), around.messages.as_mut().and_then(RunMessages::refused)),
    }
}

/// Why a call failed; `refused` is the reason if a message could not be sent.
fn fault(native: &Native, failure: &Env, refused: Option<String>) -> Stop {
    if failure.is_stopped() {
        return Stop::Interrupted;
    }
    let (compiled, args) = (&native.compiled, failure.args);
    let node = &compiled.flat.nodes()[failure.node as usize];
    let code = code(&native.codes, failure.node, failure.which);
    let Some(site) = code.and_then(|code| code.sites.get(failure.site as usize)) else {
        return Stop::Output(format!(
            "`{}` moves more than half a billion items in one firing: pop and push fewer items in each firing",
            node.name
        ));
    };
    let why = refused.unwrap_or_else(|| {
        let why = site.why.0.replace("{0} items", &counted(args[0]));
        let why = why.replace("{1} items were", &counted_were(args[1]));
        why.replace("{0}", &args[0].to_string()).replace("{1}", &args[1].to_string())
    });
    let message = format!("`{}`, in firing {}: {why}", node.name, failure.firing);
    Stop::Fault(Box::new(Diagnostic::new(site.span, message)))
}

/// A node's code by number; see [`NodeCode::which`].
fn code(codes: &[Option<NodeCode>], node: u32, which: u32) -> Option<&Code> {
    codes[node as usize].as_ref()?.which(which)
}

/// The text that a node prints by a format.
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
        self.out.write_all(text).map_err(unwritten)
    }

    fn flush(&mut self) -> Result<(), String> {
        self.out.flush().map_err(unwritten)
    }
}

#[expect(clippy::needless_pass_by_value)]
fn unwritten(error: std::io::Error) -> String {
    format!("the output cannot be written: {error}")
}

impl Around<'_> {
    /// The failure of queues that exceed the budget, if they do.
    fn over(&self, native: &Native) -> Option<Stop> {
        let (channel, held, most) = self.queues.over()?;
        let channel = ChannelId(channel as u32);
        Some(Stop::Fault(Box::new(over_budget(&native.compiled.flat, channel, held, most as u64))))
    }
}

impl Host for Around<'_> {
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool {
        self.printer.print(node, which, format, args)
    }

    fn more(&mut self, channel: usize, queue: &mut Queue, items: u64) -> bool {
        self.queues.make_room_within(channel, queue, items)
    }

    fn send(&mut self, sent: Sent, args: &dyn Fn(usize) -> Vec<i32>, inboxes: &mut [Inbox]) -> bool {
        let message = code(self.printer.codes, sent.node, sent.which)
            .and_then(|code| code.messages.get(sent.message as usize));
        match (&mut self.messages, message) {
            (Some(messages), Some(message)) => messages.send(sent, message, args, inboxes),
            _ => false,
        }
    }

    fn take(&mut self, node: u32, firing: u64, inboxes: &mut [Inbox]) -> Option<(u32, &[i32])> {
        self.messages.as_mut()?.take(node, firing, inboxes)
    }

    fn stops(&mut self) -> bool {
        (self.interrupted)()
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
