//! Finds the failure that the interpreter would report.
//!
//! In a batch a region may run ahead of another one with a failure that the interpreter would meet first.
//! Which firings fail does not depend on the order; which of them is first does. So where batches fail in a
//! program in which several filters may fail, the program runs again from its beginning: in batches up to the
//! last steady state before which all batches were complete, and from there in the interpreter's order until
//! something fails. Input is read again, or from a recording. Output and prints are discarded. (A program
//! that prints while another filter may fail runs in the interpreter's order anyway.)

use super::Run;
use crate::Native;
use thalweg_lang::files::Disk;
use thalweg_lang::interpret::{Options, Stop, Surroundings};

impl Native {
    /// Whether several filters may fail, and their order is not kept.
    pub(crate) fn may_fail_first(&self) -> bool {
        let fail = self.codes.iter().flatten().filter(|code| code.all().any(|code| !code.sites.is_empty()));
        self.flows() && !self.exact && !self.has_messages() && fail.count() > 1
    }

    /// The failure that the interpreter would report for a run that has failed with `stop`.
    pub(super) fn first_failure(&self, run: &mut Run<'_>, stop: Stop) -> Stop {
        let (Some((sure, most)), true) = (run.failed, self.may_fail_first()) else { return stop };
        let (interrupted, asked) = (run.around.interrupted.clone(), run.around.interrupted.clone());
        let Some(ends) = std::mem::take(&mut run.ends).again() else { return stop };
        let mut again = Run::new(self, ends, (Box::new(std::io::sink()), interrupted));
        again.begin_regions();
        // Regions that would be ahead at the end of the batches must not be.
        let ahead = self.in_order(Options { iterations: Some(sure), ..Options::default() }).is_some();
        let mut around = Surroundings {
            files: &mut Disk::default(),
            out: Box::new(std::io::sink()),
            interrupted: Box::new(move || asked()),
            progress: &mut |_| {},
        };
        let done = again.rounds(if ahead { 0 } else { sure }, most, None, &mut around);
        done.err().unwrap_or(stop)
    }
}
