//! Random programs: they compile, run deterministically and keep their meaning under rewrites; mutated programs
//! are rejected without a panic.
//!
//! `THALWEG_CASES` is the number of cases, `THALWEG_SEED` the first seed.

mod cases;
mod facts;
mod found;
mod meaning;
mod mutated;
mod rewritten;
mod run;
