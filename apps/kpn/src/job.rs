//! A network with the result it must have.

use thalweg::{Error, Finished, Network, Options, Output, Report};

/// A network ready to run.
pub struct Job {
    result: Output<'static, u64>,
    expected: Box<dyn FnOnce() -> u64 + Send>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("graph", &self.result.graph()).finish_non_exhaustive()
    }
}

impl Job {
    /// The network is the graph that the result comes from.
    pub(crate) fn new(result: Output<'static, u64>, expected: impl FnOnce() -> u64 + Send + 'static) -> Job {
        Job { result, expected: Box::new(expected) }
    }

    /// The result that the parameters ask for, by a plain loop: it takes the time of one core.
    pub fn expected(self) -> u64 {
        (self.expected)()
    }

    /// Runs it, and gives its result, to be compared with [`Job::expected`] of the same parameters, and the report.
    ///
    /// # Errors
    /// What ended the run before its time.
    pub fn run(self, options: &Options) -> Result<(u64, Report), Error> {
        self.result.run(options)
    }

    /// The same, run by the caller: under a policy of its own, for example.
    ///
    /// # Errors
    /// As [`Job::run`].
    pub fn run_by(
        self,
        run: impl FnOnce(Network<'static>) -> Result<Finished, Error>,
    ) -> Result<(u64, Report), Error> {
        let run = run(self.result.graph().build()?)?;
        Ok((run.take(self.result)?, run.into_report()))
    }

    /// The network by itself, to be looked at.
    ///
    /// # Errors
    /// The graph is refused.
    pub fn build(self) -> Result<Network<'static>, Error> {
        Ok(self.result.graph().build()?)
    }
}

/// Adds a value to a checksum that depends on the order.
pub(crate) fn fold(sum: u64, value: u64) -> u64 {
    sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(value)
}
