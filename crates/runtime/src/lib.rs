//! Runs a plan on threads: workers, channels, activations, sleep, accounting.
//!
//! [`Graph::build`] makes a [`Network`] of typed kernels; [`Network::run`] plans it, runs it and
//! returns a [`Report`]. Each protocol is documented beside its code: slots in `channel`, tickets in `node::window`,
//! readiness in `sched::ready`, sleeping and waking in `sched::sleep`, growth and deadlock in `liveness::search` and
//! `liveness::quiesce`, the thread pool in `threads`.
//!
//! ```
//! use thalweg_runtime::{Graph, Options, output};
//!
//! let graph = Graph::new();
//! let (even, odd) = graph
//!     .source(0..10u64)
//!     .kernel("split", (output("even"), output("odd")))
//!     .sequential(|number, (even, odd)| {
//!         let number = number.pop();
//!         if number % 2 == 0 { even.push(number) } else { odd.push(number) }
//!     });
//! let sums = even.zip(odd).par_map(|(even, odd)| even + odd).collect();
//! let run = graph.run_with(&Options::new().threads(2))?;
//! assert_eq!(run.take(sums)?, [1, 5, 9, 13, 17]);
//! # Ok::<(), thalweg_runtime::Error>(())
//! ```

mod build;
mod built;
mod channel;
mod contain;
#[cfg(feature = "coroutines")]
mod coroutine;
#[cfg(not(feature = "coroutines"))]
#[path = "coroutine/absent.rs"]
mod coroutine;
mod error;
mod liveness;
#[cfg(not(loom))]
mod loops;
mod measure;
mod net;
mod node;
mod pages;
mod port;
mod process;
mod run;
mod sched;
mod seal;
mod set_once;
mod sync;
mod team;
mod threads;

pub use build::{
    Feedback, Fork, Graph, InputSpec, InputSpecs, IntoEnding, Kernel, Output, OutputSpec, OutputSpecs,
    PeekSpec, PopSpec, PushSpec, Stream, Streams, Value, in_team, input, out, output, window,
};
pub use built::Network;
pub use channel::{Glance, In, NotYet, Out, Receiver, Sender, View, channel};
pub use contain::{drop_quietly, into_message};
pub use coroutine::in_coroutine;
#[cfg(feature = "coroutines")]
pub use coroutine::{BlockingRx, BlockingTx};
pub use error::{BlockedNode, BuildError, ChannelRoom, Deadlock, Error, Remains, UnreadInput, panic_message};
#[cfg(not(loom))]
pub use loops::{Assignment, AssignmentError, BlockMut, Grid, Loop, Placed, Schedule, par_chunks, par_for};
pub use node::{Flow, IntoFlow, IntoResult, ScratchPool};
pub use pages::prefer_huge_pages;
pub use port::inputs::PopCounts;
pub use port::shapes::Many;
pub use process::{Message, Recv, RecvRef, Rx, SendFuture, Tx};
pub use run::outlet::Outlet;
pub use run::{EmbedOptions, Failed, Handle, Options, Prepared, Run};
pub use set_once::SetOnce;
pub use team::deque;
pub use team::spin_budget::SpinBudget;
#[cfg(not(loom))]
pub use team::{
    Job, call_members, count_jobs, join, parallel, parallel_counted, parallel_while, team_domains, team_size,
};
pub use thalweg_policy::tasks::StealOrder;
pub use thalweg_trace::{Counts, MemberCounts, Report};
pub use threads::Shares;
pub use threads::cores::Pinned;
pub use threads::per_process::generation;

#[cfg(all(test, loom))]
mod models;
