//! Graphs as data.

mod check;
mod details;
mod print;
