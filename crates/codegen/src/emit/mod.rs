//! From [`Code`](crate::ir::Code) to C11.
//!
//! [`firings`] writes firings as a function, from the statements of [`code`]; [`simd`] does so for several firings
//! at once in vector lanes, [`pack`] for isomorphic filters; [`text`] is what all programs have in common;
//! [`program`] writes a whole program: its [`state`], nodes one by one ([`single`]), and a function for each fused
//! [`region`].
//!
//! **Same bits.** Integers wrap (`-fwrapv`), products and sums are not contracted, and functions of floats
//! are those of the mathematics library for binary64, rounded once, as in the interpreter.

mod alone;
mod code;
mod components;
mod copies;
mod cross;
mod deinterleave;
mod expr;
mod firings;
mod flow;
mod header;
mod interleave;
mod items;
mod literal;
pub(crate) mod merging;
mod messages;
mod pack;
mod preemption;
mod prefetch;
pub(crate) mod program;
mod region;
mod rounds;
mod rows;
mod scattered;
mod schedule;
mod simd;
mod single;
mod state;
mod steps;
mod straight_line;
mod tables;
mod terms;
mod text;
pub(crate) mod unrolled;
pub(crate) mod vectors;
mod way;
mod window;
