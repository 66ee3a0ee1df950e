//! Graphs under construction: streams and their operators, kernels, processes, and outputs.
//!
//! ```text
//!   Graph ──source──▶ Stream ──operators──▶ Stream ──fold, collect, for_each──▶ Output
//!     └──kernel, process, coroutine──▶ Stream, Output        build ▼
//!                                                            Network ──run──▶ Run, or Failed
//! ```
//!
//! [`Graph`], [`Stream`], [`Feedback`] and [`Output`] of one graph share one [`Draft`](draft::Draft) behind a lock.
//!
//! Invariant: no user code is called, and no user's value dropped, under that lock (`draft::Locked`).
//!
//! A method that adds nodes cannot fail: wrong arguments are kept in the draft as a *mistake*, and [`Graph::build`]
//! reports all mistakes with the faults that it finds itself.

#[cfg(feature = "coroutines")]
mod coroutine;
mod draft;
mod graph;
mod in_flight;
pub(crate) mod in_team;
mod kernel;
mod mistake;
mod operators;
mod output;
mod round;
mod spec;
mod start;
mod stream;

pub use graph::Graph;
pub(crate) use in_flight::{LimitEnd, Tokens};
pub use in_team::in_team;
pub use kernel::Kernel;
pub(crate) use output::Slot;
pub use output::{IntoEnding, Output, Streams, Value};
pub use round::Fork;
pub use spec::{
    InputSpec, InputSpecs, OutputSpec, OutputSpecs, PeekSpec, PopSpec, PushSpec, input, out, output, window,
};
pub use stream::{Feedback, Stream};
