//! Stream processing on multicore machines: the same answer at any thread count, bounded memory,
//! and never a hang without a cause.
//!
//! Work flows through stages. Say what the stages are; how many threads run them, which thread
//! runs which, and when idle threads sleep is found while it runs.
//!
//! **A chain of operators**, where the graph is linear:
//!
//! ```
//! use thalweg::prelude::*;
//!
//! let (squares, report) = thalweg::from_iter(1..=5u64)
//!     .par_map(|x| x * x)                    // any number at a time, results in order
//!     .filter(|x| x % 2 == 1)                // one at a time, with state if you like
//!     .collect()
//!     .run(&Options::new().threads(2))?;
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
//! **A graph**, where it branches, joins or loops, and nodes return values: see [`Graph`].

mod iter;
pub mod prelude;
mod scope;
mod sources;

pub use iter::{Ordered, ParallelExt, TryOrdered};
pub use scope::{Scope, scope};
pub use sources::{from_iter, from_try_iter};
pub use thalweg_runtime::{
    BlockedNode, BlockingRx, BlockingTx, BuildError, Deadlock, Error, Feedback, Finished, Fork, Glance,
    Graph, Handle, In, InputSpec, InputSpecs, IntoEnding, IntoFlow, IntoResult, Kernel, Many, Message,
    Network, NotYet, Options, Out, Outlet, Output, OutputSpec, OutputSpecs, PeekSpec, PopSpec, Prepared,
    PushSpec, Receiver, Recv, RecvRef, Report, Rx, Sender, Sending, Stream, Streams, ThreadPool, Tx, Value,
    View, channel, input, output, window,
};

/// Graphs as data: nodes, ports, rates and channels.
pub mod graph {
    pub use thalweg_graph::{
        Channel, ChannelId, Fault, GraphData, InPort, InShape, Item, Kind, Link, Node, NodeId, OutPort,
        OutShape, Port, Rate,
    };
}

/// Scheduling policies, and what a policy of your own implements.
pub mod policy {
    pub use thalweg_policy::{
        Auto, Decision, Event, Host, Occupancy, Partition, Policy, Prs, Pss, Qes, RandomStealing, Recorded,
        WorkStealing, WorkerId, auto, dealt, partition, record, registry, virtual_host, work_stealing,
    };
}

/// What a run reports.
pub mod trace {
    pub use thalweg_trace::{ChannelReport, Growth, Limit, NodeReport, Report, WorkerReport};
}

/// The README's programs, compiled and run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
