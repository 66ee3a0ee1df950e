//! The command, by its arguments, its output and its exit codes: a module for each command or promise.

mod align;
mod build;
mod built;
#[cfg(unix)]
mod child;
mod completions;
mod danbi;
mod dedup;
mod demo;
mod endless;
mod exit_codes;
mod help;
mod interrupt;
mod kills;
mod kpn;
mod life;
mod machine;
mod manual;
mod marks;
mod mutations;
mod pagerank;
mod picture;
mod pipes;
mod plan;
mod results;
mod rules;
mod show;
mod stencil;
mod streamit;
mod streams;
mod terminal;
mod thread_limit;
mod trust;
mod watch;
mod wav;
mod wordcount;
