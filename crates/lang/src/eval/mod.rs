//! The evaluator: executes resolved code and defines the meaning of expressions and statements.
//!
//! A [`Machine`] walks the tree; a [`Host`] provides side effects. The evaluator is the reference, so it favours
//! plainness: one way to do each thing, operands from left to right, indices of a place before the stored value,
//! and every value a copy.
//!
//! Code that cannot continue returns a [`Failure`] with its place: an index out of bounds, division by zero, a
//! refusal of the host, or an exhausted [`Budget`]. Ill-typed code, which [`resolve`](crate::hir) never produces,
//! fails as well; nothing here panics.
//!
//! Cases that the language description leaves open:
//! - a function that ends without `return` returns zero;
//! - arrays that are assigned, passed, returned or pushed must have the declared lengths;
//! - a latency with one bound uses it for both.

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
pub use compose::{Directive, DirectiveKind, RawWeights, Request};
pub use host::{Fault, Host};
pub use machine::{Code, Failure, Globals, Machine, Outcome, Scratch};
pub use random::Random;
