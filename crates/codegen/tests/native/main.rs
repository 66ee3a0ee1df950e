//! Native code against the interpreter: a module for each part of the language and of the back end. One test
//! binary, since linking twenty takes longer than running them.

#[path = "../common/mod.rs"]
mod common;

mod bounded;
mod budget;
mod cache;
mod complex;
mod constructs;
mod danbi;
mod deinterleave;
mod demand;
mod differential;
mod dynamic;
mod fused;
mod large;
mod lend;
mod loops;
mod merge;
mod merging;
mod messages;
mod notes;
mod object;
mod packs;
mod recursion;
mod stopped;
mod suite;
mod threads;
mod threads_around;
mod unrolled;
