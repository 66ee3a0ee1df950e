//! From trees to flat graphs, schedules and pictures.

mod flatten;
mod pictures;
mod schedule;
mod streams;
