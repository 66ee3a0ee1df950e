//! Flat graphs, schedules and pictures of stream trees.

mod flatten;
mod pictures;
mod schedule;
mod streams;
