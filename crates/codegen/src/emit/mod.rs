//! From [`Code`](crate::ir::Code) to C11.
//!
//! [`code`] writes one firing, or many, as a function; [`simd`] the same for several firings at once;
//! [`text`] what is the same in all programs; [`program`] puts a whole program together.
//!
//! **Same bits.** Integers wrap (`-fwrapv`), products and sums are not contracted, functions of floats are
//! those of the mathematics library for binary64, rounded once, as the interpreter's.

pub(crate) mod across;
pub(crate) mod blocks;
pub(crate) mod code;
pub(crate) mod expr;
pub(crate) mod items;
pub(crate) mod lanes;
pub(crate) mod program;
pub(crate) mod simd;
pub(crate) mod text;
