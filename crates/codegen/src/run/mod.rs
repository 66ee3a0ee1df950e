//! Runs of native programs.
//!
//! **Actors.** A program runs as a graph of the engine ([`engine`]): a driver, which has the [`Run`], and bodies, where
//! several threads pay. One thread at a time uses a `Run`. It calls the loaded program, which calls back through
//! [`Host`], implemented by [`Around`]: to print, to grow a queue, to exchange messages, and to ask whether
//! to stop. A body has a `Run` of its own ([`groups`]), or a part of the state for each batch ([`parallel`]); files and
//! standard output always belong to the driver.
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
mod engine;
mod failing;
mod feeder;
mod first;
mod groups;
mod input;
mod lend;
mod messages;
mod moves;
mod parallel;
mod parts;
mod print;
mod queues;
mod relief;
mod single;
mod trial;
mod units;

use crate::build::{Env, Fibers, Host, Inbox, Memory, Queue, Room, Sent, State};
use crate::files::{Ends, SHORT, There};
use crate::ir::Code;
use crate::lower::NodeCode;
use crate::parts::{Part, entries};
use crate::plan::{Facts, item};
use crate::threads::{Split, Threads};
use crate::{Mode, Native};
use engine::{Driver, Link, alone, with_chain};
use groups::Groups;
use lend::Gates;
use messages::RunMessages;
use parallel::Segments;
use print::{Printer, print};
use queues::Queues;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thalweg::embed::runtime::EmbedOptions;
use thalweg::{Error, Report};
use thalweg_lang::Diagnostic;
use thalweg_lang::flat::{ChannelId, NodeId};
use thalweg_lang::interpret::{Options, Outcome, Stop, Surroundings, counted, counted_were, over_budget};
use units::Planned;

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
    /// Of a program of one region: whether its initialisation is complete.
    begun: Begun,
    /// Of a program of one region: the steady states done.
    iterations: u64,
    /// Of a program of several regions: the progress of the sources, between the first batches and the others.
    sources: Option<parts::Sources>,
    /// Whether anything has fired.
    moved: bool,
    /// Whether a batch has come to the limit of queues.
    relieved: bool,
    /// If batches of several regions have failed: the steady states of the sources that were complete before,
    /// with all that follows from them; and the steady states that were to be done.
    failed: Option<(u64, u64)>,
    /// Remarks for the report.
    notes: Vec<String>,
    around: Around<'a>,
}

/// Whether a run must end at once.
type Interrupted = Arc<dyn Fn() -> bool + Send + Sync>;

/// How far a program of one region has begun.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begun {
    No,
    /// Its initialisation is complete.
    Yes,
    /// It ended within its initialisation, or had nothing to do.
    Ended,
}

/// A program cut for several threads.
enum Cut<'a> {
    /// One thread runs it.
    Whole,
    Segments(Box<parallel::Cut<'a>>),
    Groups(Groups<'a>),
}

impl Cut<'_> {
    /// By body: the node of the engine that executes it, where the driver is the first node. None where the driver executes
    /// everything.
    fn nodes(&self) -> Vec<NodeId> {
        match self {
            Cut::Whole => Vec::new(),
            Cut::Segments(cut) => cut.nodes(),
            Cut::Groups(groups) => groups.nodes(),
        }
    }
}

/// The host side of callbacks.
struct Around<'a> {
    printer: Printer<'a>,
    queues: Queues,
    /// Present where there are messages.
    messages: Option<RunMessages>,
    interrupted: Interrupted,
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
    /// The memory of each buffer of the plan.
    memories: Vec<Memory>,
    /// The channels it takes from: the items of a steady state, and those that must be there besides.
    inputs: Vec<(ChannelId, u64, u64)>,
    /// The bytes of a steady state that other regions take.
    output: usize,
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
        around: Surroundings<'_>,
    ) -> Result<Outcome, Stop> {
        self.execute(threads, options, around, None)
    }

    /// Like [`Native::run_on`]; also returns the engine's report, unless the run ended before the engine began. The
    /// report covers what follows the first steady states, by which the program is cut for several threads unless the
    /// engine's options have a plan. Its nodes are the bodies into which the plan ([`Report::program`]) divides
    /// [the program's graph](Native::graph), and a driver.
    pub fn run_reported(
        &self,
        threads: &Threads,
        options: Options,
        around: Surroundings<'_>,
    ) -> (Result<Outcome, Stop>, Option<Report>) {
        let mut report = None;
        (self.execute(threads, options, around, Some(&mut report)), report)
    }

    fn execute(
        &self,
        threads: &Threads,
        options: Options,
        mut around: Surroundings<'_>,
        report: Option<&mut Option<Report>>,
    ) -> Result<Outcome, Stop> {
        let given = self.given(&threads.engine)?;
        let mut ends = Ends::open(&self.compiled, options, around.files)?;
        if self.may_fail_first() {
            ends.remember();
        }
        let out = std::mem::replace(&mut around.out, Box::new(std::io::sink()));
        let interrupted = shared(&mut around);
        let mut run = Run::new(self, ends, (out, interrupted));
        run.around.printer.write(&self.compiled.tree.printed).map_err(Stop::Output)?;
        let iterations = run.on_engine((threads, given), options, &mut around, report);
        // A run stopped in the middle of a firing ends like one stopped between two firings.
        let iterations = match iterations {
            Err(Stop::Interrupted) => 0,
            // A failure after an interruption may follow from missing items.
            Err(_) if (around.interrupted)() => 0,
            done => done?,
        };
        let interrupted = (around.interrupted)();
        // A reader that waits takes no more.
        run.around
            .printer
            .flush()
            .or_else(|error| if interrupted { Ok(()) } else { Err(Stop::Output(error)) })?;
        run.ends.finish(&self.compiled, interrupted)?;
        if interrupted {
            return Err(Stop::Interrupted);
        }
        Ok(Outcome { iterations, firings: run.fired.iter().sum() })
    }

    /// The name of a part of the program: those of its first and last node, without that of the whole.
    fn name_of(&self, nodes: &[NodeId]) -> String {
        let whole = format!("{}.", self.compiled.tree.root.name);
        let name = |node: &NodeId| {
            let name = &self.compiled.flat.node(*node).name();
            name.strip_prefix(&whole).unwrap_or(name).to_owned()
        };
        match (nodes.iter().min(), nodes.iter().max()) {
            (Some(first), Some(last)) if first != last => format!("{} .. {}", name(first), name(last)),
            (Some(one), _) => name(one),
            _ => String::new(),
        }
    }
}

/// Bytes of the driver's stack: as for a process's first thread. Large local variables are not on it.
const STACK: usize = 8 << 20;

impl<'a> Run<'a> {
    fn new(
        native: &'a Native,
        ends: Ends,
        (out, interrupted): (Box<dyn Write + Send>, Interrupted),
    ) -> Run<'a> {
        let channels = native.compiled.flat.channels().len();
        let stage = |part: &'a Part| {
            let facts = Facts::new(&native.compiled, &part.region);
            let inputs = entries(&facts);
            Stage { part, inputs, output: 0, facts, memories: Vec::new(), gates: Gates::default() }
        };
        // Channels of unsupported types have been refused before a run begins.
        let item = |at: usize| item(&native.compiled, ChannelId(at as u32));
        let bytes = (0..channels).map(|at| item(at).map_or(0, |(cell, cells)| cell.bytes() * cells));
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
            begun: Begun::No,
            iterations: 0,
            sources: None,
            moved: false,
            relieved: false,
            failed: None,
            notes: Vec::new(),
            around: Around {
                printer: Printer { codes: &native.codes, out, error: None, interrupted: interrupted.clone() },
                queues: Queues::new(native, bytes.collect()),
                messages: native.has_messages().then(|| RunMessages::new(&native.compiled)),
                interrupted,
            },
        };
        for stage in 0..run.stages.len() {
            run.stages[stage].output = run.bytes_between(stage);
        }
        run.fill_queues();
        run
    }

    /// Runs the program as a graph of the engine; returns the iterations.
    fn on_engine(
        &mut self,
        (threads, given): (&Threads, Option<Planned>),
        options: Options,
        around: &mut Surroundings<'_>,
        report: Option<&mut Option<Report>>,
    ) -> Result<u64, Stop> {
        let cut = self.cut((threads, given), options, around);
        let (planned, cut) = cut.map_err(|stop| self.settled(stop))?;
        let native = self.native;
        let planned = match planned {
            None if report.is_some() || threads.engine.chooses_plan() => Some(native.whole(&threads.engine)?),
            planned => planned,
        };
        let first = self.iterations.max(self.sources.as_ref().map_or(0, |sources| sources.done));
        if first > 0 {
            let why = if threads.engine.planned().is_some() { "" } else { ", and timed their parts," };
            self.notes.push(format!(
                "one thread ran the first {first} steady states{why} before the run that this reports"
            ));
        }
        let driver = Driver { name: &native.compiled.tree.root.name, stack: STACK, waits: true };
        let engine = self.options(threads, planned.as_ref());
        // Bodies report progress too.
        let progress = Mutex::new(&mut *around.progress);
        let of_bodies = |done: &dyn Fn() -> u64| {
            if let Ok(mut progress) = progress.try_lock() {
                progress(done());
            }
        };
        let interrupted = self.around.interrupted.clone();
        let around = &mut Surroundings {
            files: &mut *around.files,
            out: Box::new(std::io::sink()),
            interrupted: Box::new(move || interrupted()),
            progress: &mut |done| locked(&progress)(done),
        };
        let nodes = cut.nodes();
        let ran = match &cut {
            Cut::Whole => alone(&driver, &engine, || self.drive(options, around)),
            Cut::Segments(cut) => {
                let flags = parallel::Flags::new(self.around.interrupted.clone(), &of_bodies);
                let segments = Segments::new(cut, threads, &flags);
                let driver = Driver { waits: !segments.are_shared(), ..driver };
                let drive = |mut link| self.drive_one(Some((&segments, &mut link)), options, around);
                with_chain(&driver, &engine, segments.most(), |stream| segments.chain(stream), drive)
            }
            Cut::Groups(groups) => {
                let drive = |mut link| {
                    let done = self.drive_parts(Some((groups, &mut link)), options, around);
                    done.map_err(|stop| self.settled(stop))
                };
                with_chain(&driver, &engine, groups.most(), |stream| groups.chain(stream), drive)
            }
        };
        let (done, mut made) = ran.map_err(|error: Error| Stop::Output(format!("{error:?}")))?;
        if let Some(report) = report {
            // The engine has a plan of its own, for the bodies.
            made.notes_mut().extend(planned.iter().flat_map(|planned| planned.plan.notes()).cloned());
            *made.program_mut() = planned.map(|planned| Arc::new(planned.program(native, &nodes)));
            made.notes_mut().append(&mut self.notes);
            *report = Some(made);
        }
        done
    }

    /// The engine's options for the graph of driver and bodies.
    fn options(&self, threads: &Threads, planned: Option<&Planned>) -> thalweg::Options {
        let by_thread = threads.split == Split::Filters || self.native.mode == Mode::OsThread;
        let engine = match planned {
            Some(planned) => planned.engine(&threads.engine),
            None => threads.engine.clone(),
        };
        let engine = engine.claim_length(1);
        if by_thread { engine.thread_per_node() } else { engine }
    }

    /// Cuts the program for several threads, after what one thread has to do before. The whole if they do not pay.
    fn cut(
        &mut self,
        (threads, given): (&Threads, Option<Planned>),
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<(Option<Planned>, Cut<'a>), Stop> {
        let most = options.iterations.unwrap_or(u64::MAX);
        if given.as_ref().is_some_and(|planned| self.follows_on_one_thread(planned)) {
            return Ok((given, Cut::Whole));
        }
        if let Some(why) = self.native.one_thread(options) {
            if threads.count() > 1 {
                self.notes.push(format!("one thread ran the program: {why}"));
            }
        } else if self.is_static() {
            if threads.count() > 1 && self.begin_one(options, around)? == Begun::Yes {
                let (planned, cut) = parallel::cut(self, given, threads, options, around)?;
                return Ok((Some(planned), cut.map_or(Cut::Whole, |cut| Cut::Segments(Box::new(cut)))));
            }
        } else {
            self.begin_regions();
            if most > 0 && (threads.count() > 1 || self.native.mode == Mode::OsThread) {
                let mut sources = self.begin_sources(most, around)?;
                if sources.over {
                    self.sources = Some(sources);
                    return Ok((given, Cut::Whole));
                }
                let cut = groups::cut(self, &mut sources, given, threads, around);
                self.note_failure(&cut, &sources);
                self.sources = Some(sources);
                let (planned, cut) = cut?;
                return Ok((Some(planned), cut.map_or(Cut::Whole, Cut::Groups)));
            }
        }
        Ok((given, Cut::Whole))
    }

    /// Whether one thread runs the program because a given plan says so. Notes it where the plan has segments.
    fn follows_on_one_thread(&mut self, planned: &Planned) -> bool {
        let by_thread = self.native.mode == Mode::OsThread;
        let one = planned.is_whole() || planned.plan.threads() == 1 && !by_thread;
        if one && !planned.is_whole() {
            self.notes.push("one thread ran the program: its plan has segments, but `threads 1`".to_owned());
        }
        one
    }

    /// Whether the program is one region without dynamic rates, which no demand drives.
    fn is_static(&self) -> bool {
        self.native.is_static()
    }

    /// Runs the program on this thread.
    fn drive(&mut self, options: Options, around: &mut Surroundings<'_>) -> Result<u64, Stop> {
        if self.is_static() {
            return self.drive_one(None, options, around);
        }
        let done = if self.native.on_demand() {
            self.drive_on_demand(options, around)
        } else {
            if self.regions.is_empty() {
                self.begin_regions();
            }
            self.drive_parts(None, options, around)
        };
        done.map_err(|stop| self.settled(stop))
    }

    /// The failure to report for a run that has stopped.
    fn settled(&mut self, stop: Stop) -> Stop {
        match stop {
            Stop::Fault(_) if !(self.around.interrupted)() => self.native.first_failure(self, stop),
            stop => stop,
        }
    }

    /// Remarks that threads were given up after this many steady states.
    fn note_slow(&mut self, states: u64) {
        self.notes.push(format!(
            "several threads were slower than one, so one thread ran the program after {states} steady states"
        ));
    }

    /// Forgets a failure, before the run begins somewhere else.
    fn forget_failure(&mut self) {
        self.around.queues.forget_excess();
        self.around.printer.error = None;
    }

    fn is_interrupted(&self) -> bool {
        (self.around.interrupted)()
    }

    /// Runs the initialisation of a program of one region.
    fn begin_one(&mut self, options: Options, around: &mut Surroundings<'_>) -> Result<Begun, Stop> {
        if self.begun != Begun::No {
            return Ok(self.begun);
        }
        self.begun = Begun::Ended;
        if options.iterations == Some(0) || (around.interrupted)() {
            return Ok(self.begun);
        }
        if self.phases(&self.native.parts[0].region.init)? == Flow::Over {
            self.flush(&*around.interrupted)?;
            return Ok(self.begun);
        }
        self.fill_buffers(0, 0);
        self.begun = Begun::Yes;
        Ok(self.begun)
    }

    /// Runs a program of one region; the segments do steady states where there are segments, and input for them.
    fn drive_one(
        &mut self,
        mut segments: Option<(&Segments<'_, 'a>, &mut Link<parallel::Batch>)>,
        options: Options,
        around: &mut Surroundings<'_>,
    ) -> Result<u64, Stop> {
        if self.begin_one(options, around)? == Begun::Ended {
            return Ok(0);
        }
        let most = options.iterations.unwrap_or(u64::MAX);
        loop {
            let again = match &mut segments {
                Some((segments, link)) => segments.drive(self, link, options, around)?,
                None => None,
            };
            let first = self.iterations;
            let (done, over) = self.steady_states(first, (most, again), around)?;
            self.count(0, done - first);
            self.iterations = done;
            if over {
                self.empty_buffers(0, done);
                return self.last(&self.native.parts[0].region.steady, done, most, around);
            }
            if done == most || (around.interrupted)() {
                return Ok(done);
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
fn shared(around: &mut Surroundings<'_>) -> Interrupted {
    let interrupted = std::mem::replace(&mut around.interrupted, Box::new(|| false));
    let interrupted: Interrupted = interrupted.into();
    let other = interrupted.clone();
    around.interrupted = Box::new(move || other());
    interrupted
}

/// Locks a mutex, poisoned or not: no holder leaves a value half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
            node.name()
        ));
    };
    let why = refused.unwrap_or_else(|| {
        let why = site.why.0.replace("{0} items", &counted(args[0]));
        let why = why.replace("{1} items were", &counted_were(args[1]));
        why.replace("{0}", &args[0].to_string()).replace("{1}", &args[1].to_string())
    });
    let message = format!("`{}`, in firing {}: {why}", node.name(), failure.firing);
    Stop::Fault(Box::new(Diagnostic::new(site.span, message)))
}

/// A node's code by number; see [`NodeCode::which`].
fn code(codes: &[Option<NodeCode>], node: u32, which: u32) -> Option<&Code> {
    codes[node as usize].as_ref()?.which(which)
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

    fn queues(&self) -> usize {
        self.queues.channels()
    }

    fn more(&mut self, channel: usize, queues: &mut [Queue], items: u64) -> Room {
        self.queues.more(channel, queues, items)
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
