//! Every workload gives its result, however it is run.

mod delays;
mod workloads;
