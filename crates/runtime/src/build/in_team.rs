//! A team of a function's own: a run with one node.

use super::Graph;
use crate::error::Error;
use crate::run::Options;

/// Calls `work` as the only firing of a run with these options. Loops, joins and task graphs in it are executed by the
/// workers of that run, in place of the threads of the process's pool: by as many as
/// [`Options::threads`] says, also more than there are cores, and by pinned ones after [`Options::pinned_at`]. A worker of the
/// run calls `work`; it need not be the calling thread.
///
/// A run takes some microseconds more than the work, so put many loops into one.
///
/// ```
/// use thalweg_runtime::{Loop, Options, in_team, team_size};
///
/// let squares = in_team(&Options::new().threads(3), || {
///     assert_eq!(team_size(), 3);
///     Loop::new().collect(100, |number| number * number)
/// })?;
/// assert_eq!(squares[9], 81);
/// # Ok::<(), thalweg_runtime::Error>(())
/// ```
///
/// # Errors
/// As [`Graph::run`]: a panic of `work` is [`Error::Panic`], and options that do not fit are refused. The
/// result of `work` is dropped if the run fails, as by [`Options::deadline`].
pub fn in_team<R: Send>(options: &Options, work: impl FnOnce() -> R + Send) -> Result<R, Error> {
    let graph = Graph::new();
    let result = graph.source(std::iter::once_with(work)).named("team").collect();
    let result = graph.run_with(options)?.take(result)?.pop();
    // Only a run that is drained before its first firing has none.
    result.ok_or(Error::Cancelled)
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use super::*;
    use crate::{Handle, par_for, team_size};

    /// Calls `test` with the process's pool as its team, and with teams of runs, also of more members than there are cores.
    pub(crate) fn in_teams(test: impl Fn() + Sync) {
        test();
        // Miri takes minutes for more.
        let sizes: &[usize] = if cfg!(miri) { &[3] } else { &[1, 2, 3, 8] };
        sizes.iter().for_each(|size| in_team_of(*size, &test));
    }

    /// Calls `test` with a team of this size.
    pub(crate) fn in_team_of<R: Send>(size: usize, test: impl FnOnce() -> R + Send) -> R {
        let test = || {
            assert_eq!(team_size(), size);
            test()
        };
        in_team(&Options::new().threads(size), test).unwrap_or_else(|error| panic!("{size} members: {error}"))
    }

    #[test]
    fn a_function_in_a_team_returns_its_result_or_the_error_of_its_run() {
        assert_eq!(in_team(&Options::new().threads(5), team_size).unwrap(), 5);
        let error = in_team(&Options::new().threads(2), || par_for(0..9, |at| assert!(at != 5, "planted")));
        assert!(error.unwrap_err().to_string().contains("planted"));
        assert!(matches!(in_team(&Options::new().threads(0), || ()), Err(Error::Options(_))));
        let drained = Options::new().on_start(Handle::drain);
        assert!(matches!(in_team(&drained, || panic!("no source fires")), Err::<(), _>(Error::Cancelled)));
    }
}
