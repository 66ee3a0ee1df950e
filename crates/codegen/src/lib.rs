//! The native back end: a StreamIt program as C, compiled by the system's compiler for this machine, and
//! run; bit for bit what the interpreter does.
//!
//! ```text
//!  hir ──lower──▶ ir, one firing of each filter ──plan──▶ a region's buffers and order
//!                                    ──emit──▶ C ──build──▶ a loaded library ──run──▶ files and prints
//! ```
//!
//! What cannot be native is refused ([`Refusal`]) with a reason, and the interpreter runs it: dynamic
//! rates, messages, native functions, arrays whose lengths depend on data.
//!
//! Generated code owns nothing: its state, queues and buffers are memory that `run` gives it, and it
//! looks at indices that are not proven to be inside.

mod blocks;
mod build;
mod emit;
mod ir;
mod lower;
mod plan;
mod run;
mod scalars;

pub use build::{Cache, Compiler};

use emit::program::{NodeCode, lower_all, may_fail, printers, program};
use plan::{Facts, Plan};
use std::sync::Arc;
use thalweg_lang::Compiled;

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

/// Why a program is not made native.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It does what native code cannot do yet.
    Unable(String),
    /// There is no C compiler.
    NoCompiler,
    /// The compiler, or the loader, has failed.
    Failed(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unable(why) => write!(f, "this program cannot be made native: {why}"),
            Refusal::NoCompiler => {
                f.write_str("there is no C compiler: neither `$CC` nor `cc`, `gcc`, `clang`")
            }
            Refusal::Failed(why) => write!(f, "native code could not be made: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A native program.
pub struct Native {
    compiled: Arc<Compiled>,
    codes: Vec<Option<NodeCode>>,
    plan: Option<Plan>,
    level: Level,
    /// The most steady states in a call.
    scale: u64,
    library: build::Library,
}

/// Steady states in a call without fusion.
const PLAIN_SCALE: u64 = 64;

/// A program's C, and what is needed to run it.
struct Text {
    codes: Vec<Option<NodeCode>>,
    plan: Option<Plan>,
    scale: u64,
    text: String,
}

fn text(compiled: &Compiled, level: Level) -> Result<Text, String> {
    let [region] = &compiled.schedule.regions[..] else {
        return Err("it has dynamic rates".into());
    };
    let codes = lower_all(compiled)?;
    for channel in &compiled.flat.channels {
        lower::cell_of(&channel.item, &compiled.tree.structs)?;
    }
    let facts = Facts::new(compiled, region);
    // Prints come in the interpreter's order, and none is missing when something fails.
    let printers = printers(&codes);
    let alone = printers > 1 || (printers == 1 && may_fail(&codes));
    let mut plan = if level == Level::Plain { None } else { Some(plan::plan(&facts, alone)?) };
    let lanes = if level == Level::Vectors { emit::simd::lanes() } else { 1 };
    if let (Some(plan), true) = (&mut plan, lanes > 1 && !alone) {
        blocks::find(&facts, &codes, plan, lanes);
        plan.with_blocks(lanes as u64);
    }
    let text = program(&facts, &codes, plan.as_ref(), level, lanes)?;
    let scale = match &plan {
        Some(plan) => plan.scale,
        None if alone => 1,
        None => PLAIN_SCALE,
    };
    Ok(Text { codes, plan, scale, text })
}

/// The C that a program becomes.
///
/// # Errors
/// It cannot be made native.
pub fn source(compiled: &Compiled, level: Level) -> Result<String, Refusal> {
    text(compiled, level).map(|text| text.text).map_err(Refusal::Unable)
}

/// Makes a program native.
///
/// # Errors
/// It cannot be done; the interpreter can run it all the same.
pub fn build(compiled: &Arc<Compiled>, config: &Config) -> Result<Native, Refusal> {
    let Text { codes, plan, scale, text } = text(compiled, config.level).map_err(Refusal::Unable)?;
    let compiler = config.compiler.clone().or_else(Compiler::find).ok_or(Refusal::NoCompiler)?;
    let library = build::build(&text, &compiler, &config.cache).map_err(Refusal::Failed)?;
    Ok(Native { compiled: compiled.clone(), codes, plan, level: config.level, scale, library })
}
