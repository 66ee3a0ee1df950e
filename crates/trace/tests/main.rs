//! Reports: their text form, their file format, and comparisons; timelines.

mod bad_documents;
mod browser;
mod common;
mod compare;
mod details;
mod findings;
mod json;
mod page;
mod report;
mod timeline;
