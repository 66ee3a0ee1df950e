//! Reports: their text form, their file format, and comparisons; timelines.

mod bad_documents;
mod common;
mod compare;
mod json;
mod report;
mod timeline;
