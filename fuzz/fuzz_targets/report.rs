//! Arbitrary text as a report: reading it terminates without a panic, and a report that is read can be printed and
//! compared, and reads back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_report::{Comparison, ReportExt};
use thalweg_trace::Report;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Report::from_json(&text) {
        Ok(report) => {
            assert_eq!(Report::from_json(&report.to_json()).as_ref(), Ok(&report));
            assert!(!report.to_string().is_empty());
            assert!(!Comparison::new(&report, &report).to_string().is_empty());
        }
        // The place is one of the text.
        Err(error) => assert!(text.split('\n').nth(error.line() - 1).is_some(), "{error}"),
    }
});
