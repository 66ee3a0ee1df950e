//! Reports: their text form, their file format, and comparisons.

mod bad_documents;
mod common;
mod compare;
mod findings;
mod json;
mod page;
mod report;
