//! Graphs under construction: streams and their operators, kernels, processes, and what they give.
//!
//! ```text
//!   Graph ──source──▶ Stream ──operators──▶ Stream ──fold, collect, for_each──▶ Output
//!     └──kernel, process, coroutine──▶ Stream, Output        build ▼
//!                                                            Network ──run──▶ Finished
//! ```
//!
//! [`Graph`], [`Stream`], [`Feedback`] and [`Output`] of one graph share one [`Draft`] behind a lock, which
//! none of them holds while it calls a user's code. A method that adds nodes cannot fail: what is wrong
//! with its arguments is kept in the draft as a *mistake*, and [`Graph::build`] reports all of them with
//! the faults that it finds itself.

mod coroutine;
mod draft;
mod graph;
mod in_flight;
mod kernel;
mod mistake;
mod network;
mod operators;
mod output;
mod round;
mod socket;
mod spec;
mod stream;

pub(crate) use draft::{MakeBody, MakeNode, TallySpec};
pub use graph::Graph;
pub use kernel::Kernel;
pub use network::Network;
pub use output::{Finished, IntoEnding, Output, Streams, Value};
pub use round::Fork;
pub(crate) use socket::{MadeRing, MakeRing};
pub use spec::{
    GiveSpec, InputSpec, InputSpecs, LookSpec, OutputSpec, OutputSpecs, TakeSpec, input, output, window,
};
pub use stream::{Feedback, Stream};
