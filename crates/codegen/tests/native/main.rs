//! Native code against the interpreter: a module for each part of the language and of the back end. One test
//! binary, since linking twenty takes longer than running them.

#[path = "../common/mod.rs"]
mod common;

mod alike;
mod blocks;
mod budget;
mod bundles;
mod cache;
mod complex;
mod constructs;
mod deal;
mod demand;
mod differential;
mod dynamic;
mod large;
mod lend;
mod loops;
mod merge;
mod messages;
mod notes;
mod object;
mod recursion;
mod siblings;
mod stopped;
mod suite;
mod threads;
mod threads_around;
