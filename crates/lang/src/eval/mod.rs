//! Executing resolved code: the meaning of every expression and statement.
//!
//! A [`Machine`] walks the code's tree, with a [`Host`] for all that is not computing. It is written to
//! be believed, and so has no second way to do a thing: operands from left to right, places' indices
//! before the value that is stored, every value a copy.
//!
//! What cannot go on is a [`Failure`] with its place: an index outside an array, division by zero, what
//! the host refuses, and more than a [`Budget`] allows. Code that is not well typed, which
//! [`resolve`](crate::hir) never gives, fails as well; nothing here panics.
//!
//! What section 4 of the language leaves open:
//! - a function that ends without `return` gives zero;
//! - arrays that are assigned, passed, returned or pushed must have the lengths that are declared;
//! - of a latency with one bound left out, the other bound is both.

mod budget;
mod call;
mod compose;
mod declare;
mod expr;
mod files;
mod host;
mod machine;
mod place;
mod random;
mod stmt;
#[cfg(test)]
mod tests;

pub use budget::{Budget, MAX_CALLS, MAX_WORDS, STACK};
pub use compose::{Dealing, Piece, PieceKind, Request};
pub use host::{Fault, Host};
pub use machine::{Code, Failure, Globals, Machine, Outcome, Scratch};
pub use random::Random;
