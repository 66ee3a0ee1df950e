//! From text to the syntax tree.

mod any;
mod bounds;
mod constructs;
mod mistakes;
mod places;
mod precedence;
mod support;
