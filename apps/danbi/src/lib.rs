//! The seven programs of *DANBI: Dynamic Scheduling of Irregular Stream Programs for Many-Core Systems* (Min and Eom, 2013,
//! Table II).

pub mod merge_sort;
mod size;
