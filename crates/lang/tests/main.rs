//! What programs of one file or several mean, and what is said of those that are wrong.

mod common;

mod constructs;
mod files;
mod loops;
mod meaning;
mod mended;
mod messages;
