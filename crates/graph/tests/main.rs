//! Graphs as data.

mod check;
mod print;
