//! Tests of the crate. Processes are threads of the test where nothing must kill them.

mod bytes;
mod chains;
mod edges;
mod failures;
mod files;
mod processes;
mod resume;
mod support;
