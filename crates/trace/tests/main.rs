//! Reports: their text form, their file format.

mod bad_documents;
mod common;
mod json;
mod report;
