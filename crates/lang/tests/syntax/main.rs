//! The parser.

mod any;
mod bounds;
mod constructs;
mod mistakes;
mod places;
mod precedence;
mod support;
