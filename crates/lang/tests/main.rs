//! The meaning of programs in one file or several, and the diagnostics of incorrect ones.

mod common;

mod constructs;
mod files;
mod loops;
mod meaning;
mod messages;
mod recovery;
