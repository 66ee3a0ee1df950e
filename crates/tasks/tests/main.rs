//! Tests of task graphs: one program for all.

mod colours;
mod cycles;
mod failures;
mod growing;
mod keys;
mod random;
mod shapes;
