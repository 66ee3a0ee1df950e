//! The command, by its arguments, its output and its exit codes: a module for each command or promise.

mod align;
mod build;
mod dedup;
mod demo;
mod endless;
mod interrupt;
mod kills;
mod life;
mod machine;
mod manual;
mod pagerank;
mod pipes;
mod plan;
mod results;
mod rules;
mod show;
mod stencil;
mod streamit;
mod terminal;
mod thread_limit;
mod watch;
mod wav;
mod wordcount;
