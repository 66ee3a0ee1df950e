//! Runs a plan on real threads: workers, channels, activations, sleep, accounting.
//!
//! [`Builder`] takes typed kernels and gives a [`Network`]; [`Network::run`] plans it, runs it and
//! gives a [`Report`]. The rules that make it right are written beside the code they are about:
//! items and slots in `channel`, tickets in `window`, sleep and wake in `sleep`, who looks again in
//! `node`, growth and deadlock in `quiesce`.
//!
//! ```
//! use thalweg_runtime::{Builder, Options, output};
//!
//! let mut seen = Vec::new();
//! let mut graph = Builder::new();
//! let numbers = graph.source("numbers", 0..10u64);
//! let (even, odd) =
//!     graph.kernel("split", numbers, (output("even"), output("odd"))).sequential(|number, (even, odd)| {
//!         let number = number.pop();
//!         if number % 2 == 0 { even.push(number) } else { odd.push(number) }
//!     });
//! let sums = graph
//!     .kernel("add", (even, odd), output("sum").push(1))
//!     .parallel(|(even, odd), sum| sum.push(even.pop() + odd.pop()));
//! graph.sink("collect", sums, |sum| seen.push(sum));
//! graph.build()?.run(&Options::default().threads(2))?;
//! assert_eq!(seen, [1, 5, 9, 13, 17]);
//! # Ok::<(), thalweg_runtime::Error>(())
//! ```

mod account;
mod affinity;
mod builder;
mod channel;
mod claim;
mod clock;
mod coroutine;
mod dedicated;
mod error;
mod growth;
mod homes;
mod net;
mod node;
mod one;
mod outlet;
mod port;
mod ports;
mod process;
mod quiesce;
mod ready;
mod relay;
mod round;
mod run;
mod seal;
mod search;
mod sleep;
mod spec;
mod starve;
mod suspects;
mod sync;
mod team;
mod tell;
mod useful;
mod waits;
mod window;
mod words;
mod worker;

pub use builder::{Builder, Feedback, Kernel, Network, Stream};
pub use channel::{Glance, In, NotYet, Out, Receiver, Sender, View, channel};
pub use coroutine::{BlockingRx, BlockingTx};
pub use error::{BlockedNode, BuildError, Deadlock, Error, panic_message};
pub use node::{Flow, IntoFlow, IntoResult};
pub use outlet::Outlet;
pub use ports::{Many, Takes};
pub use process::{Message, Recv, RecvRef, Rx, Send as Sending, Tx};
pub use run::{Handle, Options, Prepared};
pub use spec::{
    GiveSpec, InputSpec, InputSpecs, LookSpec, OutputSpec, OutputSpecs, TakeSpec, input, output, window,
};
pub use team::Team;
pub use thalweg_trace::Report;

#[cfg(all(test, loom))]
mod models;
