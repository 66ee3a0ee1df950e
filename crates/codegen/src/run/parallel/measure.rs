//! What steps cost.

use crate::run::Run;
use std::time::Instant;
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// Calls that are timed.
const CALLS: u64 = 8;

/// Does some steady states on this thread and takes the time of each step: the shortest of several, since
/// all that disturbs makes it longer. How many were done.
pub(super) fn costs(
    run: &mut Run<'_>,
    options: Options,
    around: &mut Surroundings<'_>,
    costs: &mut [f64],
) -> Result<u64, Stop> {
    costs.fill(f64::INFINITY);
    let (mut done, most) = (0, options.iterations.unwrap_or(u64::MAX));
    for _ in 0..CALLS {
        let want = run.native.parts[0].scale.min(most - done);
        let n = run.ends.available(&run.stages[0].facts, want)?;
        if n < want || n == 0 || (around.interrupted)() {
            break;
        }
        run.take_input(0, n);
        run.state.seek(done);
        for (step, cost) in costs.iter_mut().enumerate() {
            let start = Instant::now();
            if !run.state.steps(step..step + 1, n, &mut run.printer) {
                return Err(run.failed_steady(0, done, n)?);
            }
            *cost = cost.min(start.elapsed().as_secs_f64() / n as f64);
        }
        run.steady_done(0, n)?;
        done += n;
        (around.progress)(done);
    }
    if done == 0 {
        costs.fill(1.0);
    }
    Ok(done)
}
