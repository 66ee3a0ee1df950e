//! From [`Code`](crate::ir::Code) to C11.
//!
//! [`code`] writes one firing, or many, as a function; [`simd`] the same for several firings at once,
//! [`family`] for several siblings;
//! [`text`] what is the same in all programs; [`program`] puts a whole program together: its [`state`], nodes
//! one by one ([`single`]), and a function for each fused [`region`].
//!
//! **Same bits.** Integers wrap (`-fwrapv`), products and sums are not contracted, functions of floats are
//! those of the mathematics library for binary64, rounded once, as the interpreter's.

pub(crate) mod across;
mod ahead;
pub(crate) mod alike;
mod alone;
pub(crate) mod blocks;
pub(crate) mod code;
pub(crate) mod copies;
mod cross;
mod deal;
pub(crate) mod expr;
pub(crate) mod family;
pub(crate) mod flow;
pub(crate) mod items;
pub(crate) mod lanes;
mod literal;
mod messages;
mod patience;
mod places;
pub(crate) mod program;
mod region;
mod rounds;
mod rows;
pub(crate) mod simd;
mod single;
mod state;
mod steps;
mod straight;
mod tables;
pub(crate) mod text;
mod turns;
pub(crate) mod vectors;
pub(crate) mod weave;
mod window;
