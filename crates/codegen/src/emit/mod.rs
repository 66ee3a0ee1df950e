//! From [`Code`](crate::ir::Code) to C11.
//!
//! [`firings`] writes firings as a function, from the statements of [`code`]; [`simd`] does so for several firings
//! at once in vector lanes, [`family`] for isomorphic filters; [`text`] is what all programs have in common;
//! [`program`] writes a whole program: its [`state`], nodes one by one ([`single`]), and a function for each fused
//! [`region`].
//!
//! **Same bits.** Integers wrap (`-fwrapv`), products and sums are not contracted, and functions of floats
//! are those of the mathematics library for binary64, rounded once, as in the interpreter.

mod across;
mod ahead;
pub(crate) mod alike;
mod alone;
pub(crate) mod blocks;
mod code;
mod copies;
mod cross;
mod deal;
mod expr;
mod family;
mod firings;
mod flow;
mod header;
mod items;
mod literal;
mod messages;
mod patience;
mod places;
pub(crate) mod program;
mod region;
mod rounds;
mod rows;
mod simd;
mod single;
mod state;
mod steps;
mod straight;
mod tables;
mod terms;
mod text;
mod turns;
pub(crate) mod vectors;
mod way;
mod weave;
mod window;
