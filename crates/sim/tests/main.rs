//! The tests of the virtual host: a module for each subject, in one program, so that a policy's run is compiled once.

mod cached;
mod caches;
mod carrying;
mod conformance;
mod partition;
mod pipelines;
mod planned;
mod record;
mod static_plan;
mod support;
mod tasks;
