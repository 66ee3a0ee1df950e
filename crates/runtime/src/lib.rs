//! Runs a plan on real threads: workers, channels, activations, sleep, accounting.
//!
//! [`Graph`] takes typed kernels and gives a [`Network`]; [`Network::run`] plans it, runs it and
//! gives a [`Report`]. The rules that make it right are written beside the code they are about:
//! items and slots in `channel`, tickets in `window`, sleep and wake in `sleep`, who looks again in
//! `node`, growth and deadlock in `quiesce`.
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
//! let run = graph.run(&Options::new().threads(2))?;
//! assert_eq!(run.take(sums)?, [1, 5, 9, 13, 17]);
//! # Ok::<(), thalweg_runtime::Error>(())
//! ```

mod build;
mod channel;
mod coroutine;
mod error;
mod liveness;
mod measure;
mod net;
mod node;
mod port;
mod process;
mod run;
mod sched;
mod seal;
mod sync;
mod threads;

pub use build::{
    Feedback, Finished, Fork, GiveSpec, Graph, InputSpec, InputSpecs, IntoEnding, Kernel, LookSpec, Network,
    Output, OutputSpec, OutputSpecs, Stream, Streams, TakeSpec, Value, input, output, window,
};
pub use channel::{Glance, In, NotYet, Out, Receiver, Sender, View, channel};
pub use coroutine::{BlockingRx, BlockingTx};
pub use error::{BlockedNode, BuildError, Deadlock, Error, panic_message};
pub use node::{Flow, IntoFlow, IntoResult};
pub use port::tuple::{Many, Takes};
pub use process::{Message, Recv, RecvRef, Rx, Send as Sending, Tx};
pub use run::outlet::Outlet;
pub use run::{Handle, Options, Prepared};
pub use thalweg_trace::Report;
pub use threads::Team;

#[cfg(all(test, loom))]
mod models;
