//! The format of files, comparisons, findings and pages; timelines.

mod bad_documents;
mod browser;
mod common;
mod compare;
mod details;
mod findings;
mod json;
mod page;
mod predict;
mod timeline;
