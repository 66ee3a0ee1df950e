//! Every program against a sequential one and against its definition.

mod merge_sort;
mod support;
