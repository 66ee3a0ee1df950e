//! The result of a run that has ended well.

use thalweg_trace::Report;

/// A run that has ended well: its report, and what its nodes returned.
#[derive(Debug)]
pub struct Finished {
    /// The number of its graph.
    pub(crate) number: usize,
    pub(crate) report: Report,
}

impl Finished {
    /// The counters and times of the run.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The report by value, without the values that were not taken.
    pub fn into_report(self) -> Report {
        self.report
    }
}
