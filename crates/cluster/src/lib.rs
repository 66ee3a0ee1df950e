//! Chains on several machines: the same answer as on one, bounded memory, and one cause for a failure.
//!
//! The same program runs as several processes. Each builds the same chain, and runs its share of it:
//!
//! ```
//! use thalweg_cluster::Cluster;
//!
//! let cluster = Cluster::from_env()?; // what `thalweg launch` has said; else this process alone
//! let longest = cluster
//!     .from_parts(3, |part| vec![part; part])              // any process reads any part
//!     .par_map(|n| "x".repeat(n))                          // in every process, on all its threads
//!     .key_by(|text| text.len())                           // each key lives in one process
//!     .fold(|| 0, |count, _| *count += 1)                  // with its items in order
//!     .collect()                                           // in process 0
//!     .run()?;                                             // `None` in the others
//! assert_eq!(longest, Some(vec![(1, 1), (2, 2)]));
//! # Ok::<(), thalweg_cluster::Error>(())
//! ```
//!
//! **Same answer.** The items have the order of the source, and each stage gets them in it: a batch has a
//! [ticket](Cluster::from_parts), and a stage that needs the order waits for the next ticket. So the answer does not depend on the number of
//! processes and threads, also for sums of floating-point numbers, as long as all processes run the same program on the same kind of
//! processor.
//!
//! **Bounded.** A process has room for a number of [batches](Cluster::window) between its source and the sink. The states of keys
//! count against a [budget](Cluster::budget), if there is one.
//!
//! **Failures.** If a function returns an error or panics, or a process is killed, stops or vanishes, then all others
//! end, with one [`Error`] that names the process, the stage and the batch. A run succeeds in all processes or in none.
//!
//! **Security.** Nothing is encrypted. A [secret](Cluster::secret_file) keeps strangers out: addresses of other machines need one, and on
//! one machine it keeps out other users.
//!
//! The `guide` says which stage runs where, what holds and what does not.
//!
//! # How it works
//!
//! ```text
//!  process 0:  source ─▶ stages ─▶ divide by key ═╗ ╔═▶ in order: states ═╗
//!  process 1:  source ─▶ stages ─▶ divide by key ═╬═╬═▶ in order: states ═╬═▶ in order: sink (process 0)
//!                 ▲                               ╚═╝                     ║
//!                 └────────── window: the time that the sink has passed ◀─╝
//! ```
//!
//! Stages, states and the sink are a graph of Thalweg in each process, and use the threads of its options. A source has a thread of its own,
//! since its iterator may wait; where pieces arrive, none waits. `═` is a dataflow of timely, which moves bytes and
//! tracks how far the stages have come; it knows nothing of items. Order, window, sockets, failures and the end of the run are
//! of this crate.

#[cfg(any(doc, doctest))]
#[doc = include_str!("../guide.md")]
pub mod guide {}
mod chain;
mod cluster;
mod dataflow;
mod ending;
mod engine;
mod error;
mod group;
mod hosts;
mod inbox;
mod launch;
mod mesh;
mod order;
mod outbox;
mod output;
mod piece;
mod remote;
mod report;
mod running;
mod secret;
mod ticket;
mod watch;
mod window;

pub use chain::{Chain, Keyed, Local, LocalOutput, Shared, SizeOf, Weigh};
pub use cluster::{Cluster, RESUME};
pub use error::Error;
pub use hosts::Hosts;
pub use launch::{REPORT, launch};
pub use remote::{RemoteShell, launch_on};
pub use report::{Link, Report};
pub use running::Ended;
