//! Reports: their text form.

mod report;
