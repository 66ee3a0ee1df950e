//! A network and its expected result.

use thalweg::{Error, Failed, Network, Options, Output, Report, Run};

/// A network that is ready to run, and its expected result.
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
    /// A job for the graph of `result`.
    pub(crate) fn new(result: Output<'static, u64>, expected: impl FnOnce() -> u64 + Send + 'static) -> Job {
        Job { result, expected: Box::new(expected) }
    }

    /// The expected result, computed by a sequential loop that does all the work of the network.
    pub fn expected(self) -> u64 {
        (self.expected)()
    }

    /// Runs the network. Returns its result, which must equal [`Job::expected`] of the same parameters, and the report.
    ///
    /// # Errors
    /// The error that ended the run early.
    pub fn run(self, options: &Options) -> Result<(u64, Report), Error> {
        self.result.run_with(options).map(Run::into_parts).map_err(Error::from)
    }

    /// Runs the network by `run`, which can use its own policy, for example. Returns the result and the report.
    ///
    /// # Errors
    /// The error that ended the run early.
    pub fn run_by(
        self,
        run: impl FnOnce(Network<'static>) -> Result<Run, Failed>,
    ) -> Result<(u64, Report), Error> {
        let run = run(self.result.graph().build()?)?;
        Ok((run.take(self.result)?, run.into_report()))
    }

    /// Builds the network without running it.
    ///
    /// # Errors
    /// The graph is invalid.
    pub fn build(self) -> Result<Network<'static>, Error> {
        Ok(self.result.graph().build()?)
    }
}

/// Adds a value to a checksum. The checksum depends on the order of the values.
pub(crate) fn fold(sum: u64, value: u64) -> u64 {
    sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(value)
}
