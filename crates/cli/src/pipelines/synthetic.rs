//! `thalweg demo pipelines synthetic`.

use std::fmt::Write;

use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use thalweg_pipelines::synthetic::{
    self, Distribution, Fixed, Loads, Pace, Parameters, Pipeline, SMALLEST_CACHE, Times,
};

use super::{Run, time};
use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::{size, standard};

/// The maximum size of a cache, in bytes: a firing may take as many items as its sixteenth.
const LARGEST_CACHE: u64 = 1 << 28;

/// Run a pipeline that is drawn from a seed: 140 modules with gains, state and times of given distributions.
///
/// An edge carries 1 to M/16 items in a period, where M is the size of a private cache, and the rates of a module follow from the gains
/// of its two edges, exactly. In each firing a module reads and writes all of its state, from M/256 to M/8, and then computes for its time,
/// from 0.5 to 50 microseconds, by arithmetic whose pace is measured first. The same seed gives the same pipeline in every version.
///
/// Zipf's distribution (p = 1.5) makes most values small and a few large. With it there are edges that are cheap to cut; without it
/// there are hardly any. `--items` is what the source sends: an item may become thousands on a later edge, so begin with few.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo pipelines synthetic --modules 20 --items 1000 --check
  thalweg demo pipelines synthetic --seed 7 --describe | head
  thalweg demo pipelines synthetic --gains uniform --times off --items 10000
  thalweg demo pipelines synthetic --fixed small --modules 20 --items 100")]
pub(super) struct Synthetic {
    /// The modules, besides source and sink
    #[arg(long, value_name = "N", default_value_t = 140, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    modules: u32,
    /// M, the size of a private cache, to which gains and state are in proportion
    #[arg(long, value_name = "SIZE", default_value = "256KiB", value_parser = cache)]
    cache: u32,
    /// How gains are distributed
    #[arg(long, value_name = "HOW", value_enum, default_value_t = How::Zipf)]
    gains: How,
    /// How state is distributed
    #[arg(long, value_name = "HOW", value_enum, default_value_t = How::Uniform)]
    states: How,
    /// How the times of modules are distributed
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Computing::Zipf)]
    times: Computing,
    /// Give all modules the same state and time
    #[arg(long, value_name = "SIZE", value_enum, conflicts_with_all = ["states", "times"])]
    fixed: Option<Load>,
    /// The items that the source sends, in whole periods; the thesis has 16777216
    #[arg(long, value_name = "N", default_value_t = 1000)]
    items: u64,
    /// The seed of the pipeline and its items
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the modules and do not run them
    #[arg(long)]
    describe: bool,
    #[command(flatten)]
    run: Run,
}

/// A distribution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum How {
    /// All values are equally probable
    Uniform,
    /// Small values are more probable
    Zipf,
}

impl How {
    fn distribution(self) -> Distribution {
        match self {
            How::Uniform => Distribution::Uniform,
            How::Zipf => Distribution::Zipf,
        }
    }
}

/// The times of modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Computing {
    /// All times are equally probable
    Uniform,
    /// Short times are more probable
    Zipf,
    /// In proportion to the module's state
    Correlated,
    /// Modules only touch their state and items
    Off,
}

/// The state and the time of all modules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Load {
    /// M/1024, and 1 microsecond
    Small,
    /// M/16, and 10 microseconds
    Medium,
    /// M/2, and 50 microseconds
    Large,
}

/// Parses the size of a cache.
fn cache(text: &str) -> Result<u32, String> {
    let bytes = size::parse(text)?;
    let range = u64::from(SMALLEST_CACHE)..=LARGEST_CACHE;
    let fits = u32::try_from(bytes).ok().filter(|_| range.contains(&bytes));
    fits.ok_or_else(|| format!("expected {} to {}", size::show(*range.start()), size::show(*range.end())))
}

impl Synthetic {
    fn pipeline(&self) -> Pipeline {
        let times = match self.times {
            Computing::Uniform => Times::Drawn(Distribution::Uniform),
            Computing::Zipf => Times::Drawn(Distribution::Zipf),
            Computing::Correlated => Times::Correlated,
            Computing::Off => Times::Off,
        };
        let loads = match self.fixed {
            None => Loads::Drawn(self.states.distribution(), times),
            Some(Load::Small) => Loads::Fixed(Fixed::Small),
            Some(Load::Medium) => Loads::Fixed(Fixed::Medium),
            Some(Load::Large) => Loads::Fixed(Fixed::Large),
        };
        let Synthetic { modules, cache, seed, .. } = *self;
        Parameters { modules, cache, gains: self.gains.distribution(), loads, seed }.pipeline()
    }

    pub(super) fn run(self, interrupt: &Interrupt) -> Result<()> {
        if self.describe {
            let mut given = self.run.engine.given();
            given.extend(self.run.check.then_some("--check"));
            ensure!(
                given.is_empty(),
                Misuse::new(format!("--describe runs nothing, so {} has no use", given.join(" ")))
            );
            return standard::print(&describe(&self.pipeline()));
        }
        let options = self.run.engine.options(Graphs::One, interrupt)?;
        self.run.engine.check(&[], [])?;
        let pipeline = self.pipeline();
        // Channels hold a period at least once for each end.
        let memory = pipeline.state_bytes().saturating_add(2 * pipeline.bytes());
        self.run.check_memory(memory, "choose a smaller --cache, or fewer --modules")?;
        let periods = pipeline.periods(self.items);
        let items = periods.saturating_mul(pipeline.gains()[0].into());
        let counts = format!("{} modules, {items} items", self.modules);
        standard::print(&format!(
            "problem   synthetic, {counts}, state of {}, {:.3} s of computation\n",
            size::show(pipeline.state_bytes()),
            pipeline.nanoseconds() as f64 * periods as f64 / 1e9
        ))?;
        let pace = Pace::measured();
        let progress = self.run.engine.steps(None);
        let ran = synthetic::graph(&pipeline, periods, self.seed, pace).run_with(&options);
        progress.end(&ran);
        let (sum, report) = ran.map_err(thalweg::Error::from)?.into_parts();
        standard::print(&format!("{}checksum  {sum:016x}\n", time(&report)))?;
        let sequential = || Ok(synthetic::sequential(&pipeline, periods, self.seed, pace));
        standard::print(self.run.compare(sum, sequential)?)?;
        self.run.engine.results.finish(&report, || counts, interrupt)
    }
}

/// A line for each module.
fn describe(pipeline: &Pipeline) -> String {
    let mut lines =
        String::from("module      gain      pops    pushes    state bytes   nanoseconds   firings\n");
    for (at, module) in pipeline.modules().iter().enumerate() {
        _ = writeln!(
            lines,
            "{:>6} {:>9} {:>9} {:>9} {:>14} {:>13} {:>9}",
            at + 1,
            pipeline.gains()[at],
            module.pops,
            module.pushes,
            module.state_bytes,
            module.nanoseconds,
            pipeline.firings(at)
        );
    }
    lines
}
