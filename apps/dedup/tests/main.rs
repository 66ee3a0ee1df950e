//! The archiver by its library.

mod common;

mod damage;
mod parallel;
mod streams;
mod trees;
