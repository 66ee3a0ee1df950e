//! The options of all verbs that run on the engine.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use clap::{Args, ValueEnum};
use thalweg::Options;
use thalweg::embed::runtime::EmbedOptions;
use thalweg::graph::GraphData;
use thalweg::machine::Machine;
use thalweg_dedup::Run;

use crate::interrupt::Interrupt;
use crate::machine;
use crate::misuse::Misuse;
use crate::plan::PlanOptions;
use crate::progress::Progress;
use crate::results::Results;
use crate::threads::Threads;
use crate::watch::{Runs, Watch};

/// The policy of a run for which the user has chosen none.
const DEFAULT_POLICY: &str = "auto";

/// What a firing does that may not publish its results yet, since an earlier one of its kernel has not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Tickets {
    /// It waits, with its worker
    Wait,
}

/// Threads, policy, plan and report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Engine options")]
pub(crate) struct Engine {
    #[command(flatten)]
    threads: Threads,
    /// Plan the run for the machine that FILE describes (`thalweg machine` writes such files), and not for this one: as many
    /// worker threads as it has cores, and claims and messages that fit into its first-level caches; `-` is standard input
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    machine: Option<PathBuf>,
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = DEFAULT_POLICY, help = policies())]
    policy: String,
    /// Give each parallel node C worker threads of its own and each other node one, none of which runs another node (the
    /// policy `pools`): the number of threads follows from the graph
    #[arg(long, hide_short_help = true, value_name = "C", conflicts_with_all = ["threads", "machine"])]
    pools: Option<usize>,
    /// Let at most N items be in flight between the source and the sink of a graph that has one of each: two nodes that count
    /// them are added. Bounds the memory that items take, and changes no result (default: as many as the channels hold)
    #[arg(long, hide_short_help = true, value_name = "N")]
    tokens: Option<usize>,
    /// Give each channel room for FACTOR firings of each thread, by the rates of its ends, in place of the plan's capacities
    /// (the rule of the DANBI paper, which tries factors from 1/3 to 3). Changes no result
    #[arg(long, hide_short_help = true, value_name = "FACTOR")]
    firings_per_thread: Option<f64>,
    /// Let the firings of ordered parallel kernels wait for their tickets, as the runtime of the DANBI paper does: a worker whose
    /// firing may not publish yet begins no other one. For experiments with `--policy`. Changes no result, and is no limit as
    /// --tokens is (default: no worker waits)
    #[arg(long, hide_short_help = true, value_name = "HOW", value_enum)]
    tickets: Option<Tickets>,
    /// Dilate time SCALE times: kernels compute, and each claim of one lasts SCALE times its processor time, for the rest of
    /// which its thread sleeps. So few cores run the schedule of many worker threads: SCALE is at least 4 times the threads of
    /// each core. Times are dilated too; results are not changed
    #[arg(long, hide_short_help = true, value_name = "SCALE", visible_alias = "sleep")]
    dilate: Option<u32>,
    #[command(flatten)]
    plan: PlanOptions,
    /// Pin each worker thread to a core
    #[arg(long, hide_short_help = true)]
    pin: bool,
    /// While the run goes on, show on standard error what each node does or waits for, instead of a progress bar
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    pub results: Results,
    /// The runs that `--watch` shows.
    #[arg(skip)]
    runs: Runs,
    /// The description in the file `machine`, once it is read: several runs take it.
    #[arg(skip)]
    described: OnceLock<Arc<Machine>>,
}

/// The help text of `--policy`, with the names of all policies.
fn policies() -> String {
    let names: Vec<&str> = thalweg::embed::policy::registry::names().collect();
    format!("How a worker thread chooses what it runs next, which changes no result: {}", names.join(", "))
}

/// How many graphs with results a command runs. Of several, not all need a plan where plans are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Graphs {
    One,
    Several,
}

impl Engine {
    /// The settings of a run with these options, which a signal stops.
    pub fn run(&self, graphs: Graphs, interrupt: &Interrupt) -> Result<Run> {
        Ok(Run::new(&self.options(graphs, interrupt)?).stop(interrupt.stop()))
    }

    /// The engine's options.
    pub fn options(&self, graphs: Graphs, interrupt: &Interrupt) -> Result<Options> {
        self.plan.add_to(
            self.results.options(self.plain(interrupt)?),
            graphs,
            self.machine.as_deref(),
            interrupt,
        )
    }

    /// The engine's options for a program whose plans are for `graph`. A given plan must fit it.
    pub fn options_for(&self, graph: &GraphData, interrupt: &Interrupt) -> Result<Options> {
        self.plan.add_for(
            self.results.options(self.plain(interrupt)?),
            graph,
            self.machine.as_deref(),
            interrupt,
        )
    }

    /// The engine's options for a run without results, which follows no given plan.
    pub fn plain(&self, interrupt: &Interrupt) -> Result<Options> {
        let options = Options::new();
        // A plan decides the policy.
        let options = if self.policy == DEFAULT_POLICY { options } else { options.policy(&self.policy) };
        let options = self.pools.into_iter().fold(options, Options::pools);
        let options = if self.pin { options.pinned() } else { options };
        let options = match self.threads.given() {
            Some(threads) => options.threads(threads),
            None => options,
        };
        let options = self.tokens.iter().fold(options, |options, items| options.tokens(*items));
        let options = self.firings_per_thread.into_iter().fold(options, Options::firings_per_thread);
        let options =
            self.tickets.into_iter().fold(options, |options, Tickets::Wait| options.wait_for_tickets());
        let options = self.dilate.into_iter().fold(options, Options::dilate);
        let options = match self.machine(interrupt)? {
            Some(machine) => options.machine(machine),
            None => options,
        };
        options.check().map_err(|error| Misuse::new(format!("{error:?}")))?;
        Ok(if self.watch { self.runs.follow(options) } else { options })
    }

    /// The machine that the user has described.
    fn machine(&self, interrupt: &Interrupt) -> Result<Option<Arc<Machine>>> {
        let (Some(path), None) = (&self.machine, self.described.get()) else {
            return Ok(self.described.get().cloned());
        };
        let machine = machine::read(path, interrupt)?;
        Ok(Some(self.described.get_or_init(|| Arc::new(machine)).clone()))
    }

    /// Checks the names of the files that the runs named `parts` write, or the only run if there are none, before the
    /// first one, which may read and write the files in `others`.
    pub fn check<'p>(&'p self, parts: &[&str], others: impl IntoIterator<Item = &'p Path>) -> Result<()> {
        self.results.check(parts, others.into_iter().chain(self.files()))
    }

    /// The files that these options read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.plan.files().chain(self.machine.as_deref())
    }

    /// The number of threads, if the user has chosen it.
    pub fn threads(&self) -> Option<usize> {
        self.threads.given()
    }

    /// The options that the user has given, except the number of threads: for a run that uses no engine.
    pub fn given(&self) -> Vec<&'static str> {
        let own = [
            ("--machine", self.machine.is_some()),
            ("--tokens", self.tokens.is_some()),
            ("--firings-per-thread", self.firings_per_thread.is_some()),
            ("--tickets", self.tickets.is_some()),
            ("--dilate", self.dilate.is_some()),
            ("--pin", self.pin),
            ("--watch", self.watch),
            ("--policy", self.policy != DEFAULT_POLICY),
            ("--pools", self.pools.is_some()),
        ];
        let own = own.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        own.chain(self.plan.given()).chain(self.results.given()).collect()
    }

    /// The display of a run of `total` iterations, if their number is known: a progress bar, or the live view.
    pub fn steps(&self, total: Option<u64>) -> Progress {
        if self.watch { Progress::watching(Watch::start(self.runs.clone())) } else { Progress::steps(total) }
    }

    /// The display of a run that reads `total` bytes, if their number is known: a progress bar, or the live view.
    pub fn progress(&self, total: Option<u64>) -> Progress {
        if self.watch { Progress::watching(Watch::start(self.runs.clone())) } else { Progress::new(total) }
    }
}
