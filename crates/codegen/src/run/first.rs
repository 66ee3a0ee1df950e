//! Which of several failures is told.
//!
//! In batches a region comes further than another one before whose failure the interpreter would have met. Which
//! firings fail does not depend on the order; which of them is the first does. So where batches have failed in a
//! program in which several filters may, it is run again from its beginning, up to the steady state after which all
//! had gone well in batches and from there on in the interpreter's order, until something fails. Its input is read
//! again, or from what has been kept of it; nothing is written, and nobody prints (who does while others may fail
//! keeps to that order anyway).

use super::Run;
use crate::Native;
use crate::threads::Threads;
use thalweg_lang::files::Disk;
use thalweg_lang::interpret::{Options, Stop, Surroundings};

impl Native {
    /// Whether several filters may fail whose order is not kept.
    pub(crate) fn may_fail_first(&self) -> bool {
        let fail = self.codes.iter().flatten().filter(|code| code.all().any(|code| !code.sites.is_empty()));
        self.flows() && !self.exact && !self.has_messages() && fail.count() > 1
    }

    /// What the interpreter would tell of a run that has failed in this way.
    pub(super) fn first_failure(&self, run: &mut Run<'_>, stop: Stop) -> Stop {
        let (Some((sure, most)), true) = (run.failed, self.may_fail_first()) else { return stop };
        let (interrupted, asked) = (run.around.interrupted.clone(), run.around.interrupted.clone());
        let Some(ends) = std::mem::take(&mut run.ends).again() else { return stop };
        let mut again = Run::new(self, ends, (Box::new(std::io::sink()), interrupted));
        again.begin_regions();
        // Regions that would be ahead at the end of the batches must not be.
        let ahead = again.exact(Options { iterations: Some(sure), ..Options::default() });
        let mut around = Surroundings {
            files: &mut Disk::default(),
            out: Box::new(std::io::sink()),
            interrupted: Box::new(move || asked()),
            progress: &mut |_| {},
        };
        let done = again.rounds(if ahead { 0 } else { sure }, most, &Threads::new(1), &mut around);
        done.err().unwrap_or(stop)
    }
}
