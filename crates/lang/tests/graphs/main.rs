//! Flat graphs, schedules and pictures of stream trees.

mod facts;
mod flatten;
mod pictures;
mod schedule;
mod streams;
