//! The tests of the facade and of the engine under it: a module for each subject.
//!
//! They are one program, because linking a program for each module takes longer than running most of them. Tests of
//! one program run at the same time, on as many threads as there are cores. A test that measures the whole process
//! has a program of its own, which `Cargo.toml` names with the reason.

mod support;

mod batches;
mod bounded;
mod budget;
mod cases;
mod conformance;
mod coroutines;
mod deadlocks;
mod dilation;
mod documents;
mod drops;
mod endings;
mod endless;
mod error_types;
mod examples;
mod failures;
mod findings;
mod front_doors;
mod groups;
mod handoffs;
mod jobs;
mod later_room;
mod limits;
mod local_deadlocks;
mod long_firings;
mod measures;
mod merging;
mod mistakes;
mod names;
mod numbers;
mod off_task_drops;
mod operators;
mod outputs;
mod overflow;
mod paper_names;
mod parallel;
mod payloads;
mod pinned;
mod plans;
mod pools;
mod processes;
mod random_graphs;
mod random_loops;
mod random_processes;
mod results;
mod roaming;
mod scratch;
mod small_jobs;
mod snapshots;
mod splits;
mod static_plan;
mod tickets;
mod tokens;
mod work_lists;
