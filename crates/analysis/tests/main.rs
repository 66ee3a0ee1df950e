//! What is found out of a graph before it runs.

mod common;

mod components;
mod cycles;
mod gains;
mod rates;
mod regions;
mod schedule;
