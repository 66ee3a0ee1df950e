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
//! assert_eq!(report.nodes[1].firings, 5);
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
//! **Features**: `report` (advice, JSON, pages, comparison; graphs, plans and machines as text), `timeline`, `coroutines`, `tasks`,
//! `policies` (those of the papers), and `full` for all. None is on by default.
//! `cargo doc --all-features` documents everything.
//!
//! The guide in the repository, `docs/guide`, has a chapter for each need: order and determinism, rates and loops,
//! processes, memory, failures, policies and reports, and patterns for users of rayon, threads and tokio.

#[cfg(feature = "tasks")]
mod costs;
mod iter;
pub mod prelude;
mod scope;
mod sources;

pub use iter::{Ordered, ParallelExt, TryOrdered};
pub use scope::{Scope, scope};
pub use sources::{from_iter, from_try_iter};
pub use thalweg_runtime::{
    Assignment, AssignmentError, BlockMut, BlockedNode, BuildError, ChannelRoom, Deadlock, Error, Failed,
    Feedback, Fork, Glance, Graph, Grid, Handle, In, InputSpec, InputSpecs, IntoEnding, IntoFlow, IntoResult,
    Kernel, Loop, Many, Message, Network, NotYet, Options, Out, Outlet, Output, OutputSpec, OutputSpecs,
    PeekSpec, Placed, PopSpec, Prepared, PushSpec, Receiver, Recv, RecvRef, Remains, Report, Run, Rx,
    Schedule, SendFuture, Sender, StealOrder, Stream, Streams, Tx, Value, View, channel, count_jobs, in_team,
    input, join, output, par_chunks, par_for, team_size, window,
};

#[cfg(feature = "coroutines")]
pub use thalweg_runtime::{BlockingRx, BlockingTx};

/// Graphs as data: nodes, ports, rates and channels.
pub mod graph {
    pub use thalweg_graph::{
        BYTE_ORDER_MARK, Bounds, Channel, ChannelId, Fault, FirstPop, GraphData, InPort, InShape, Item, Kind,
        Link, Messages, Node, NodeId, OutPort, OutShape, Port, Rate, Router, Span, Weights, shown,
        shown_bytes, without_mark,
    };
}

/// Scheduling policies, and the traits that a policy of your own implements or calls.
pub mod policy {
    pub use thalweg_policy::{
        Auto, Decision, End, Event, Host, Measurements, Needs, Occupancy, Policy, Recorded, Shared,
        WorkStealing, WorkerId, auto, dealt, record, registry, work_stealing,
    };
    #[cfg(feature = "policies")]
    pub use thalweg_policy::{Partition, Prs, Pss, Qes, RandomStealing, partition};
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
/// assert_eq!(error.line, 3);
///
/// // What a run has measured makes the next plan better.
/// let report = squares().run_with(&Options::new().threads(2))?.into_report();
/// let plan = Plan::with_profile(&report.graph, &report.profile(), &Default::default());
/// squares().run_with(&Options::new().plan(plan))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub mod plan {
    #[cfg(feature = "report")]
    pub use thalweg_plan::{Annotated, ReadError};
    pub use thalweg_plan::{
        Body, ChannelProfile, Division, Fingerprint, HandOver, MOST_THREADS, Misfit, NodeProfile, OtherGraph,
        Place, Plan, PlanError, Profile, Raised, Unit, Units, Wishes, Workers, threads,
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
pub mod machine {
    #[cfg(feature = "report")]
    pub use thalweg_machine::ReadError;
    pub use thalweg_machine::{
        Cache, CacheId, Core, CoreId, Costs, Domain, DomainId, Level, LevelKind, Limits, MOST_DOMAINS,
        MOST_UNITS, Machine, Places, Processor, Unit, UnitId, address_space_left, available_memory,
    };

    #[cfg(feature = "tasks")]
    pub use {crate::costs::measure, thalweg_machine::time_per_call};
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
        Colour, Context, Counts, During, MemberCounts, OnDemand, Outcome, SearchSettings, StaticGraph,
        TaskError, TaskGraph, TaskOptions, TaskResults,
    };
}

/// For parallel constructs of your own: what loops and task graphs are made of.
///
/// A *team* is the workers of a run, inside of its firings, or the threads of the process's pool. [`parallel`](team::parallel)
/// calls a function on the calling thread and on others of its team that have nothing to do.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use thalweg::team::{Shares, parallel};
///
/// // A stretch for each member, taken 10 numbers at a time; a member without numbers steals.
/// let (shares, sum) = (Shares::new(0..1000, thalweg::team_size(), 1, 10), AtomicU64::new(0));
/// parallel(usize::MAX, &|member| {
///     while let Some(numbers) = shares.take(member) {
///         sum.fetch_add(numbers.sum::<u64>(), Relaxed);
///     }
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
pub mod team {
    pub use thalweg_runtime::{
        Job, Shares, call_members, parallel, parallel_counted, parallel_while, team_domains,
    };
}

/// The report of a run, and snapshots of a run that goes on. With the feature `report` also advice, files, pages and the
/// comparison of two reports.
pub mod trace {
    #[cfg(feature = "report")]
    pub use thalweg_report::{
        Change, ChannelChange, Comparison, Finding, FindingKind, NodeChange, ReadError, ReadErrorKind,
        ReportExt, TimelineExt,
    };
    pub use thalweg_trace::{
        Cause, ChannelReport, ChannelSnapshot, Counts, Distribution, Ended, Event, Growth, Limit,
        MemberCounts, NodeRate, NodeReport, NodeSnapshot, NodeStatus, NodeWaits, Rates, Report, Service,
        Snapshot, Timeline, Track, What, WorkerReport, format_bytes, format_bytes_exactly,
    };
}

#[cfg(doctest)]
mod doctests;
