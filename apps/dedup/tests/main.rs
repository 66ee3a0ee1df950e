//! The archiver by its library.

mod common;

mod changing;
mod damage;
mod parallel;
mod streams;
mod trees;
