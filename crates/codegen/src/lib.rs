//! The native back end: a StreamIt program as C, compiled by the system's compiler for this machine, and
//! run; bit for bit what the interpreter does.
//!
//! ```text
//!  hir ──lower──▶ ir, one firing of each filter ──plan──▶ a region's buffers and order
//!                                    ──emit──▶ C ──build──▶ a loaded library ──run──▶ files and prints
//! ```
//!
//! What cannot be native is refused ([`Refusal`]) with a reason, and the interpreter runs it: arrays whose lengths
//! depend on data, say.
//!
//! Generated code owns nothing: its state, queues and buffers are memory that `run` gives it, and it
//! looks at indices that are not proven to be inside.

mod blocks;
mod build;
mod compose;
mod emit;
mod ir;
mod key;
mod lower;
mod messages;
mod object;
mod parts;
mod plan;
mod prepared;
mod proven;
mod run;
mod scalars;
mod siblings;
mod threads;
mod ties;

pub use build::{Cache, Compiler};
pub use object::{Object, object};
pub use threads::{Split, Threads};

use emit::alike::Alike;
use emit::program::NodeCode;
use key::Key;
use parts::Part;
use prepared::{Prepared, is_static, lanes, rings};
use std::sync::Arc;
use thalweg_lang::Compiled;
use thalweg_lang::interpret::BUDGET;
use thalweg_lang::messages::has_messages;

/// How much is made of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub enum Level {
    /// A function for each filter and queues between them, nothing else: what a straightforward compiler
    /// makes.
    Plain,
    /// Regions are fused: splitters and joiners are index arithmetic, and nodes fire many times in a row.
    Fused,
    /// Besides, filters without state fire several times at once.
    #[default]
    Vectors,
}

/// How programs are made native.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Config {
    /// How much is made of them.
    pub level: Level,
    /// Where what was compiled is kept.
    pub cache: Cache,
    /// The compiler, if it is not the one that [`Compiler::find`] finds.
    pub compiler: Option<Compiler>,
}

/// How the regions of a program of dynamic rates take turns (Soulé and others, "Dynamic expressivity with static
/// optimization for streaming languages", 2013, sections 3 and 5). Only the first is for several threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Mode {
    /// In data-flow order, in batches, with direct hand-over.
    #[default]
    Hybrid,
    /// Filter by filter, in data-flow order, one steady state of the sources after the other.
    Sequential,
    /// The ends ask for items, and whoever has none goes on when it is asked for them; in batches.
    Demand,
    /// All regions in each turn, for one steady state of the sources: those without input do nothing.
    NoOp,
    /// A thread of the operating system for each filter, with locks between them, however many threads are asked
    /// for.
    OsThread,
}

/// Why a program is not made native.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It does what native code cannot do yet.
    Unable(String),
    /// There is no C compiler.
    NoCompiler,
    /// The compiler, or the loader, has failed.
    Failed(String),
    /// Somebody wants it no more.
    Interrupted,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unable(why) => write!(f, "this program cannot be made native: {why}"),
            Refusal::NoCompiler => match std::env::var_os("CC").filter(|name| !name.is_empty()) {
                Some(named) => write!(f, "there is no C compiler `{}`, which `$CC` names", named.display()),
                None => f.write_str("there is no C compiler: neither `cc` nor `gcc` nor `clang`"),
            },
            Refusal::Failed(why) => write!(f, "native code could not be made: {why}"),
            Refusal::Interrupted => f.write_str("interrupted before native code was made"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A native program.
pub struct Native {
    compiled: Arc<Compiled>,
    codes: Vec<Option<NodeCode>>,
    /// By node: whether a firing leaves something for later ones.
    keeps: Vec<bool>,
    parts: Vec<Part>,
    /// By node: of filters that are run by themselves, bytes of the stack they need, 0 where they never wait
    /// in their middle.
    waits: Vec<Option<usize>>,
    /// By region: whether it is one filter that takes its turns in generated code.
    direct: Vec<bool>,
    /// Whether nodes fire in the interpreter's order, one by one.
    exact: bool,
    mode: Mode,
    /// Steady states in a batch, where that is said.
    batch: Option<u64>,
    /// Bytes that queues may take.
    budget: usize,
    level: Level,
    library: build::Library,
}

impl Native {
    /// With so many steady states in a call at most, so that output comes sooner.
    pub fn at_most(mut self, steady_states: u64) -> Native {
        for part in &mut self.parts {
            part.scale = part.scale.min(steady_states.max(1));
        }
        self
    }

    /// With regions that take turns in this way. A program of one region has no turns to take.
    pub fn in_mode(mut self, mode: Mode) -> Native {
        self.mode = mode;
        self
    }

    /// Whether it has regions that take turns, as [`Mode`] says: some rates are dynamic.
    pub fn takes_turns(&self) -> bool {
        !is_static(&self.compiled)
    }

    /// With so many steady states of the sources in a batch, in a program of several regions.
    pub fn in_batches_of(mut self, steady_states: u64) -> Native {
        self.batch = Some(steady_states.max(1));
        self
    }

    /// With queues between regions that take so many bytes together at the most, in place of a gigabyte. A
    /// program whose queues must grow beyond that fails.
    pub fn within(mut self, bytes: usize) -> Native {
        self.budget = bytes;
        self
    }

    /// Whether some filters are run by themselves.
    fn flows(&self) -> bool {
        self.waits.iter().any(Option::is_some)
    }

    /// Whether a region may wait for items that are worth a call, since nobody has said how soon things are to be done, or
    /// in how much room, and a failure comes in the batch that it belongs to where that matters.
    fn is_patient(&self) -> bool {
        let as_planned = |part: &Part| part.plan.as_ref().is_none_or(|plan| plan.scale == part.scale);
        let free = self.batch.is_none() && self.budget >= BUDGET as usize && !self.may_fail_first();
        free && self.parts.iter().all(as_planned)
    }

    /// Whether filters send messages to each other.
    fn has_messages(&self) -> bool {
        has_messages(&self.compiled.tree)
    }

    /// Whether nodes fire as they are needed by the ends.
    fn on_demand(&self) -> bool {
        self.has_messages() && self.compiled.schedule.regions.len() == 1
    }

    /// Why one thread runs it, however many there are; none where several do.
    pub fn one_thread(&self) -> Option<&'static str> {
        if self.has_messages() {
            Some("its filters send messages to each other")
        } else if self.exact {
            Some(
                "the order of its firings can be seen: several filters print, or one does and another may fail",
            )
        } else {
            None
        }
    }

    /// Whether queues are rings.
    fn rings(&self) -> bool {
        rings(&self.compiled, self.level, &self.parts, &self.waits)
    }
}

/// The C that a program becomes.
///
/// # Errors
/// It cannot be made native.
pub fn source(compiled: &Compiled, level: Level) -> Result<String, Refusal> {
    let prepared = Prepared::new(compiled, level, lanes(level)).map_err(Refusal::Unable)?;
    prepared.text(compiled, Alike::default()).map_err(Refusal::Unable)
}

/// Makes a program native.
///
/// # Errors
/// It cannot be done; the interpreter can run it all the same.
pub fn build(compiled: &Arc<Compiled>, config: &Config) -> Result<Native, Refusal> {
    build_until(compiled, config, &|| false)
}

/// The same, as long as it is wanted: the compiler ends, and all that it has started, when `interrupted` says so.
///
/// # Errors
/// As [`build`], and [`Refusal::Interrupted`].
pub fn build_until(
    compiled: &Arc<Compiled>,
    config: &Config,
    interrupted: &dyn Fn() -> bool,
) -> Result<Native, Refusal> {
    build_with(compiled, config, Alike::default(), interrupted)
}

/// The same as if the program were long: functions that differ in nothing but numbers are one. For tests.
///
/// # Errors
/// As [`build`].
pub fn build_as_long(compiled: &Arc<Compiled>, config: &Config) -> Result<Native, Refusal> {
    build_with(compiled, config, Alike { long: 0, apart: 0, many: 2 }, &|| false)
}

fn build_with(
    compiled: &Arc<Compiled>,
    config: &Config,
    alike: Alike,
    interrupted: &dyn Fn() -> bool,
) -> Result<Native, Refusal> {
    let (level, lanes) = (config.level, lanes(config.level));
    let compiler = config.compiler.clone().or_else(Compiler::find);
    let key = Key::of(compiled, level, lanes, alike);
    if let Some(compiler) = &compiler
        && let Some((library, outlines)) = build::find(&key, compiler, &config.cache)
        && let Ok(prepared) = Prepared::known(compiled, (level, lanes), &outlines)
    {
        return Ok(prepared.with(compiled, library));
    }
    let prepared = Prepared::new(compiled, level, lanes).map_err(Refusal::Unable)?;
    let text = prepared.text(compiled, alike).map_err(Refusal::Unable)?;
    let compiler = compiler.ok_or(Refusal::NoCompiler)?;
    let made = (text.as_str(), &prepared.outlines);
    let library = build::build(&key, made, &compiler, &config.cache, interrupted)?;
    Ok(prepared.with(compiled, library))
}
