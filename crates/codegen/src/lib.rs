//! The native back end: it translates a StreamIt program to C, compiles the C with the system's compiler for
//! this machine, and runs it. Results equal the interpreter's bit for bit.
//!
//! ```text
//!  hir ──lower──▶ ir, one firing of each filter ──plan──▶ a region's buffers and order
//!                                    ──emit──▶ C ──build──▶ a loaded library ──run──▶ files and prints
//! ```
//!
//! A program that native code does not support (one with array lengths that depend on data, say) is refused
//! with a reason ([`Refusal`]), and the interpreter runs it.
//!
//! Generated code owns no memory: `run` allocates its state, queues and buffers. It checks every index that
//! is not proven to be in range.

mod bounds_checks;
mod build;
mod emit;
mod files;
mod fusion;
mod ir;
mod isomorphic;
mod key;
mod lower;
mod message_order;
mod object;
mod parts;
mod plan;
mod prepared;
mod run;
mod scalar_replacement;
mod threads;
mod uniformity;
mod unrolled;

pub use build::{Cache, Compiler};
pub use object::{Object, object};
pub use threads::{Split, Threads};

use emit::merging::Merging;
use key::Key;
use lower::NodeCode;
use parts::Part;
use prepared::{Prepared, lanes, rings};
use std::sync::{Arc, OnceLock};
use thalweg::embed::graph::shown;
use thalweg::graph::GraphData;
use thalweg_lang::Compiled;
use thalweg_lang::interpret::{BUDGET, Options};
use thalweg_lang::messages::has_messages;
use thalweg_lang::tree::Code;

/// The optimisation level of native code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Level {
    /// A function for each filter and queues between them, nothing else: what a straightforward compiler
    /// generates.
    Plain,
    /// Regions are fused: splitters and joiners become index arithmetic, and a node fires many times in a
    /// row.
    Fused,
    /// In addition, stateless filters run several firings at once in vector lanes.
    #[default]
    Vectors,
}

/// How programs are compiled.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Config {
    /// The optimisation level.
    pub level: Level,
    /// Where compiled libraries are stored.
    pub cache: Cache,
    /// The compiler; by default the one that [`Compiler::find`] returns.
    pub compiler: Option<Compiler>,
}

/// How the regions of a program with dynamic rates are scheduled: the schemes of Soulé and others, "Dynamic expressivity
/// with static optimization for streaming languages", 2013, section 3. Filters of one region are fused in every mode but
/// [`Mode::Sequential`]. Hardware pipelining and static data parallelism are partitions: see [`Split`].
///
/// The paper's *no-op* scheme is no mode. It is a way to write programs with static rates: each firing pushes the same
/// number of items, of which some are nonces. `bargain_finder_no_op.str` and `predicate_filter_no_op.str` of `apps/str`
/// are written so.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Mode {
    /// In data-flow order, in batches, on any number of threads; a region whose only state is the content of its queues
    /// has copies.
    #[default]
    Hybrid,
    /// Filter by filter, in data-flow order, one steady state of the sources after the other, on one thread. A program
    /// without dynamic rates still runs as one fused region.
    Sequential,
    /// On demand, as in Aurora: a region runs when a packet of batches has come to it, on any thread of the pool.
    /// One thread at a time runs a region, so a program of one region uses one thread. A region has no copies, and no
    /// thread of its own.
    Demand,
    /// An operating-system thread for each region, whatever the requested number of threads: the engine runs its nodes
    /// one to one. What a steady state of the sources sets off is handed over by itself, unless the caller chooses a
    /// larger batch. For a program without dynamic rates, [`Split::Filters`] gives a thread to each filter.
    OsThread,
}

/// Why a program has no native code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The program uses something that native code does not support.
    Unable(String),
    /// No C compiler was found.
    NoCompiler,
    /// The compiler or the loader failed.
    Failed(String),
    /// The caller interrupted the build.
    Interrupted,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unable(why) => write!(f, "cannot compile this program to native code: {why}"),
            Refusal::NoCompiler => match std::env::var_os("CC").filter(|name| !name.is_empty()) {
                Some(named) => write!(f, "no C compiler `{}`, which `$CC` names", shown(named)),
                None => f.write_str("no C compiler found: tried `cc`, `gcc` and `clang`"),
            },
            Refusal::Failed(why) => write!(f, "cannot use native code: {why}"),
            Refusal::Interrupted => f.write_str("interrupted while native code was built"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A native program.
pub struct Native {
    compiled: Arc<Compiled>,
    codes: Vec<Option<NodeCode>>,
    /// By node: whether a firing keeps state for later firings.
    keeps: Vec<bool>,
    parts: Vec<Part>,
    /// By node, for filters that run on their own: the bytes of stack they need, 0 where they never wait in
    /// the middle of a firing.
    waits: Vec<Option<usize>>,
    /// By region: whether it is one filter that generated code schedules.
    direct: Vec<bool>,
    /// Whether nodes fire one by one in the interpreter's order.
    exact: bool,
    mode: Mode,
    /// Steady states in a batch, where the caller has set it.
    batch: Option<u64>,
    /// The byte budget of the items in all queues between regions.
    budget: usize,
    level: Level,
    library: build::Library,
    /// The graph that plans are for, once it is asked for.
    graph: OnceLock<GraphData>,
    /// See [`Native::distrusted`].
    distrusted: Option<String>,
}

impl Native {
    /// Limits a call to this many steady states, so that output appears sooner.
    pub fn at_most(mut self, steady_states: u64) -> Native {
        for part in &mut self.parts {
            part.scale = part.scale.min(steady_states.max(1));
        }
        self
    }

    /// Sets how regions are scheduled. A program of one region is the same in every mode, but for the number of threads:
    /// [`Mode::Sequential`] and [`Mode::Demand`] use one.
    pub fn in_mode(mut self, mode: Mode) -> Native {
        self.mode = mode;
        self
    }

    /// Sets the steady states of the sources in a batch, for a program of several regions.
    pub fn in_batches_of(mut self, steady_states: u64) -> Native {
        self.batch = Some(steady_states.max(1));
        self
    }

    /// Sets the byte budget of the items in all queues between regions together; the default is a gigabyte. Twice what
    /// [`interpret_measured`](thalweg_lang::interpret::interpret_measured) measures suffices at any number of threads and any
    /// batch. In the interpreter's order ([`Native::in_order`]) a program fails if its queues hold more than the budget.
    /// Elsewhere it may succeed, since another order may hold less.
    pub fn within(mut self, bytes: usize) -> Native {
        self.budget = bytes;
        self
    }

    /// Whether some filters run on their own, from queue to queue.
    fn flows(&self) -> bool {
        self.waits.iter().any(Option::is_some)
    }

    /// Whether a region may wait until its input is enough for a long call. It may if the caller has limited
    /// neither the batch, nor the steady states in a call, nor the budget, and if the batch of a failure does
    /// not matter.
    fn is_patient(&self) -> bool {
        let as_planned = |part: &Part| part.plan.as_ref().is_none_or(|plan| plan.scale == part.scale);
        let free = self.batch.is_none() && self.budget >= BUDGET as usize && !self.may_fail_first();
        free && self.parts.iter().all(as_planned)
    }

    /// Whether filters send messages.
    fn has_messages(&self) -> bool {
        has_messages(&self.compiled.tree)
    }

    /// Whether nodes fire when the sinks need their items.
    fn on_demand(&self) -> bool {
        self.has_messages() && self.compiled.schedule.regions.len() == 1
    }

    /// Whether the program is one region without dynamic rates, which no demand drives.
    pub fn is_static(&self) -> bool {
        self.parts.len() == 1 && !self.flows() && !self.on_demand()
    }

    /// The reason why one thread runs the program at any requested number, for a run of this length; `None` where several
    /// may.
    pub fn one_thread(&self, options: Options) -> Option<&'static str> {
        let regions = self.compiled.schedule.regions.len();
        if let Some(why) = self.in_order(options) {
            return Some(why);
        }
        match self.mode {
            Mode::Demand if regions == 1 => {
                Some("it is one region, and on demand one thread at a time runs a region")
            }
            _ if self.is_static() && self.parts.iter().all(|part| part.plan.is_none()) => {
                Some("at optimisation level 0 its code is not divided into segments")
            }
            _ if !self.is_static() && regions == 1 => Some("its filters with dynamic rates are one region"),
            _ if !self.is_static() && !self.has_readers_at_sources() => {
                Some("a filter behind others with dynamic rates reads a file")
            }
            _ => None,
        }
    }

    /// The reason why nodes fire one by one in the interpreter's order, without batches, in a run of this length.
    pub fn in_order(&self, options: Options) -> Option<&'static str> {
        if self.has_messages() {
            Some("its filters send messages to each other")
        } else if self.exact {
            Some(
                "the order of its firings is visible: several filters print, or one prints and another may fail",
            )
        } else if self.mode == Mode::Sequential {
            Some("sequential scheduling uses one thread")
        } else if self.has_loops_of_regions() {
            Some("a feedback loop has dynamic rates")
        } else if options.iterations.is_some() && self.may_run_ahead() {
            Some(
                "the number of iterations is limited, and a filter with a dynamic pop rate is one of two inputs of a region",
            )
        } else {
            None
        }
    }

    /// Whether regions wait for each other around a loop.
    fn has_loops_of_regions(&self) -> bool {
        let flat = &self.compiled.flat;
        self.compiled.between_regions().any(|channel| flat.channel(channel).link().feedback())
    }

    /// Whether a region with a filter that decides how much it takes from another region takes from elsewhere too. It must
    /// not be ahead when the iterations end.
    fn may_run_ahead(&self) -> bool {
        let (flat, region_of) = (&self.compiled.flat, self.compiled.schedule.region_of());
        let mut inputs = vec![(0, false); self.compiled.schedule.regions.len()];
        for channel in self.compiled.between_regions() {
            let to = flat.channel(channel).to().0.index();
            let (count, decides) = &mut inputs[region_of[to]];
            (*count, *decides) = (*count + 1, *decides || self.waits[to].is_some());
        }
        inputs.into_iter().any(|(count, decides)| decides && count > 1)
    }

    /// Whether only regions that take from no other read files, so that it is known when they do.
    fn has_readers_at_sources(&self) -> bool {
        let (compiled, region_of) = (&self.compiled, self.compiled.schedule.region_of());
        let mut reads = vec![false; compiled.schedule.regions.len()];
        for node in compiled.flat.graph.node_ids() {
            let code = compiled.flat.filter(node).map(|id| &compiled.tree.filters[id.0 as usize].code);
            reads[region_of[node.index()]] |= matches!(code, Some(Code::FileReader(_)));
        }
        !compiled
            .between_regions()
            .any(|channel| reads[region_of[compiled.flat.channel(channel).to().0.index()]])
    }

    /// Which folder or file of the cache was not used since another user may have written it, and why; the program was
    /// compiled again.
    pub fn distrusted(&self) -> Option<&str> {
        self.distrusted.as_deref()
    }

    /// Whether queues are rings.
    fn rings(&self) -> bool {
        rings(&self.compiled, self.level, &self.parts, &self.waits)
    }
}

/// The C text of a program.
///
/// # Errors
/// Native code does not support the program.
pub fn source(compiled: &Compiled, level: Level) -> Result<String, Refusal> {
    let prepared = Prepared::new(compiled, level, lanes(level)).map_err(Refusal::Unable)?;
    prepared.text(compiled, Merging::default()).map_err(Refusal::Unable)
}

/// Compiles a program to native code.
///
/// # Errors
/// The program has no native code; the interpreter can still run it.
pub fn build(compiled: &Arc<Compiled>, config: &Config) -> Result<Native, Refusal> {
    build_until(compiled, config, &|| false)
}

/// Like [`build()`], until `interrupted` returns true: then the compiler is killed with all processes it has
/// started.
///
/// # Errors
/// As [`build()`], and [`Refusal::Interrupted`].
pub fn build_until(
    compiled: &Arc<Compiled>,
    config: &Config,
    interrupted: &dyn Fn() -> bool,
) -> Result<Native, Refusal> {
    build_with(compiled, config, Merging::default(), interrupted)
}

/// Like [`build()`], but merges functions that differ only in numbers, as is done for long programs. For
/// tests.
///
/// # Errors
/// As [`build()`].
pub fn build_as_long(compiled: &Arc<Compiled>, config: &Config) -> Result<Native, Refusal> {
    build_with(compiled, config, Merging { long: 0, apart: 0, many: 2 }, &|| false)
}

fn build_with(
    compiled: &Arc<Compiled>,
    config: &Config,
    merging: Merging,
    interrupted: &dyn Fn() -> bool,
) -> Result<Native, Refusal> {
    let (level, lanes) = (config.level, lanes(config.level));
    let compiler = config.compiler.clone().or_else(Compiler::find);
    let key = Key::of(compiled, level, lanes, merging);
    let kept = compiler.as_ref().and_then(|compiler| build::kept(&key, compiler, &config.cache));
    if let Some((library, outlines)) = kept.as_ref().and_then(build::Kept::known)
        && let Ok(prepared) = Prepared::known(compiled, (level, lanes), &outlines)
    {
        return Ok(prepared.with(compiled, library));
    }
    let prepared = Prepared::new(compiled, level, lanes).map_err(Refusal::Unable)?;
    let text = prepared.text(compiled, merging).map_err(Refusal::Unable)?;
    let compiler = compiler.ok_or(Refusal::NoCompiler)?;
    let library = build::build(kept.as_ref(), (text.as_str(), &prepared.outlines), &compiler, interrupted)?;
    let mut native = prepared.with(compiled, library);
    native.distrusted = kept.and_then(build::Kept::distrusted);
    Ok(native)
}
