//! Stream processing on multicore machines: the same answer at any thread count, bounded memory,
//! and never a hang without a cause.
//!
//! Work flows through stages. Declare the stages; the engine decides, while they run, how many threads run
//! them, which thread runs which stage, and when idle threads sleep.
//!
//! **A chain of operators**, where the graph is linear:
//!
//! ```
//! use thalweg::prelude::*;
//!
//! let (squares, report) = thalweg::from_iter(1..=5u64)
//!     .par_map(|x| x * x)                    // any number at a time, results in order
//!     .filter(|x| x % 2 == 1)                // one at a time, may keep state
//!     .collect()
//!     .run_with(&Options::new().threads(2))?.into_parts();
//! assert_eq!(squares, [1, 9, 25]);
//! assert_eq!(report.nodes()[1].firings(), 5);
//! # Ok::<(), thalweg::Error>(())
//! ```
//!
//! **An iterator**, to speed up an existing loop:
//!
//! ```
//! use thalweg::prelude::*;
//!
//! let words = ["a", "bb", "ccc"];
//! let lengths: Vec<usize> = words.into_iter().par_map(str::len).collect();
//! assert_eq!(lengths, [1, 2, 3]);
//! ```
//!
//! **A graph**, where streams branch, join or loop, and nodes return values: see [`Graph`].
//!
//! **Features**: `report` (advice, JSON, pages, comparison; graphs, plans and machines as text), `timeline`, `coroutines`, `machine`,
//! `tasks`, `policies` (those of the papers), `tokens`, and `full` for all. None is on by default.
//! `cargo doc --all-features` documents everything.
//!
//! The [guide] answers first questions and has a chapter for each need: order and determinism, rates and loops, processes,
//! memory, failures, services, policies and reports, and patterns for users of rayon, threads and tokio.

#[cfg(feature = "tasks")]
mod costs;
// Documentation alone: a program that uses the library compiles none of it.
#[cfg(any(doc, doctest))]
pub mod guide;
mod iter;
pub mod prelude;
mod scope;
mod sources;

pub use iter::{Ordered, ParallelExt, TryOrdered};
pub use scope::{Scope, scope};
pub use sources::{from_iter, from_try_iter};
pub use thalweg_runtime::{
    Error, Failed, Feedback, Fork, Graph, Handle, In, Kernel, Loop, Network, Options, Out, Outlet, Output,
    Prepared, Receiver, Report, Run, Rx, Sender, Stream, Tx, Value, View, channel, in_team, input, join, out,
    output, par_chunks, par_for, window,
};

/// What an [`Error`] contains.
pub mod error {
    pub use thalweg_runtime::{BlockedNode, BuildError, ChannelRoom, Deadlock, Remains};
}

/// The types of a node's ports, of what its function gets, and of what it returns.
pub mod node {
    #[cfg(feature = "coroutines")]
    pub use thalweg_runtime::{BlockingRx, BlockingTx};
    pub use thalweg_runtime::{
        Glance, InputSpecs, IntoEnding, IntoFlow, IntoResult, Many, Message, NotYet, OutputSpecs, PeekSpec,
        PopSpec, PushSpec, Recv, RecvRef, SendFuture, Streams,
    };
}

/// The settings of loops, and what parallel constructs of your own are made of.
///
/// A *team* is the workers of a run, inside of its firings, or the threads of the process's pool. [`parallel`](loops::parallel)
/// calls a function on the calling thread and on others of its team that have nothing to do.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use thalweg::loops::{Shares, parallel, team_size};
///
/// // A stretch for each member, taken 10 numbers at a time; a member without numbers steals.
/// let (shares, sum) = (Shares::new(0..1000, team_size(), 1, 10), AtomicU64::new(0));
/// parallel(usize::MAX, &|member| {
///     while let Some(numbers) = shares.take(member) {
///         sum.fetch_add(numbers.sum::<u64>(), Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
pub mod loops {
    pub use thalweg_runtime::{
        Assignment, BlockMut, Grid, Placed, Schedule, Shares, StealOrder, count_jobs, parallel, team_size,
    };
}

/// The graph of a network or a report, as data: its nodes and channels.
pub mod graph {
    pub use thalweg_graph::{Channel, GraphData, Node};
}

/// Scheduling policies of your own: what a policy implements, and what it sees. [`Options::policy`] has the names of those
/// that exist.
pub mod policy {
    pub use thalweg_policy::{Decision, Event, Host, Needs, Occupancy, Policy};
}

/// The crates that the engine consists of, for compilers, schedulers and tools that are built on it.
///
/// What stands here may change with any version; all else in this crate changes as semantic versioning says.
pub mod embed {
    #[cfg(feature = "report")]
    pub use thalweg_report as report;
    #[cfg(feature = "tasks")]
    pub use thalweg_tasks as tasks;
    pub use {
        thalweg_graph as graph, thalweg_machine as machine, thalweg_plan as plan, thalweg_policy as policy,
        thalweg_runtime as runtime, thalweg_trace as trace,
    };
}

/// Plans: all decisions of a run, to be printed, edited, read back and run again.
///
/// Prepare a run to see its plan, and give the edited plan to another run by [`Options::plan`]:
///
/// ```
/// use thalweg::plan::Plan;
/// use thalweg::prelude::*;
///
/// let squares = || thalweg::from_iter(0..1000u64).par_map(|n| n * n).named("square").collect();
///
/// let network = squares().graph().build()?;
/// let graph = network.graph().clone();
/// let text = network.prepare(&Options::new().threads(2))?.plan().on(&graph).to_string();
/// assert!(text.contains("node 1 claim 512  # square"));
///
/// // Claims of 8 firings instead of 512.
/// let plan = Plan::read(&text.replace("node 1 claim 512", "node 1 claim 8"), &graph)?;
/// let items = squares().run_with(&Options::new().plan(plan))?.into_value();
/// assert_eq!(items[999], 998_001);
///
/// // A plan that does not fit is refused, with the line.
/// let error = Plan::read(&text.replace("threads 2", "threads 0"), &graph).unwrap_err();
/// assert_eq!(error.line(), 3);
///
/// // What a run has measured makes the next plan better.
/// let report = squares().run_with(&Options::new().threads(2))?.into_report();
/// let plan = Plan::with_profile(report.graph(), &report.profile(), &Default::default());
/// squares().run_with(&Options::new().plan(plan))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod plan {
    #[cfg(feature = "report")]
    pub use thalweg_plan::ReadError;
    #[cfg(feature = "policies")]
    pub use thalweg_plan::mappers;
    pub use thalweg_plan::{
        ChannelProfile, Misfit, NodeProfile, OtherGraph, Plan, PlanError, Profile, Wishes,
    };
}

/// Machines as data: processing units, caches, memory domains, limits, and measured costs.
///
/// ```
/// use thalweg::machine::Machine;
///
/// let here = Machine::here();
/// println!("{here}");                                    // the text that Machine::read takes
/// assert_eq!(Machine::read(&here.to_string())?, here);
///
/// let planned = Machine::read("thalweg-machine 1\ndomains 8\ncores 10\ncache 3 size 30 MiB per domain\n")?;
/// assert_eq!((planned.threads(), planned.levels().len()), (80, 2));
/// # Ok::<(), thalweg::machine::ReadError>(())
/// ```
#[cfg(feature = "machine")]
pub mod machine {
    #[cfg(feature = "tasks")]
    pub use crate::costs::measure;
    #[cfg(feature = "report")]
    pub use thalweg_machine::ReadError;
    pub use thalweg_machine::{Machine, Places};
}

/// Task graphs with locality: on demand from a sink, or explicit.
///
/// ```
/// use thalweg::tasks::{OnDemand, TaskGraph};
///
/// let factorial = OnDemand::new(
///     |&n: &u64, needs: &mut Vec<u64>| needs.extend((n > 1).then(|| n - 1)),
///     |&n, context| n.max(1) * context.inputs().product::<u64>(),
/// );
/// assert_eq!(factorial.run(10)?.sink(), &3_628_800);
/// # Ok::<(), thalweg::tasks::TaskError<u64>>(())
/// ```
#[cfg(feature = "tasks")]
pub mod tasks {
    pub use thalweg_tasks::{
        Colour, Context, OnDemand, SearchSettings, StaticGraph, TaskError, TaskGraph, TaskOptions,
        TaskResults,
    };
}

/// The report of a run, and snapshots of a run that goes on. With the feature `report` also advice, files, pages and the
/// comparison of two reports.
pub mod trace {
    #[cfg(feature = "report")]
    pub use thalweg_report::{Comparison, Finding, FindingKind, ReadError, ReportExt, TimelineExt};
    pub use thalweg_trace::{
        Cause, ChannelReport, Counts, Distribution, Event, NodeReport, NodeStatus, Snapshot, Timeline,
        WorkerReport,
    };
}

/// The programs of the README are tests of the repository: the package has another file in its place.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
