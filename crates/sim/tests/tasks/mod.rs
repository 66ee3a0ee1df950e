//! Task graphs and loops in virtual time: the order of nodes, the bounds on attempts to steal, and what colours change.

mod bounds;
mod colours;
mod loops;
mod order;
