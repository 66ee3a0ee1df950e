//! Random programs: they compile and run, the same each time, and changes that mean nothing change
//! nothing; what is almost a program is refused in good order.
//!
//! `THALWEG_CASES` says how many cases, `THALWEG_SEED` which come first.

mod almost;
mod cases;
mod found;
mod meaning;
mod rewritten;
mod run;
