//! The archiver by its library.

mod common;

mod changing;
mod damage;
mod metadata;
mod mutations;
mod parallel;
mod streams;
mod trees;
#[cfg(unix)]
#[path = "../../../crates/thalweg/tests/support/watchdog.rs"]
mod watchdog;
