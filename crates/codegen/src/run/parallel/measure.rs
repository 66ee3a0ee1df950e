//! Measures the cost of steps.

use crate::files::There;
use crate::run::failing::Failing;
use crate::run::lend::Gates;
use crate::run::{Run, failed};
use std::time::Instant;
use thalweg_lang::interpret::{Options, Stop, Surroundings};

/// The number of timed calls.
const CALLS: u64 = 8;

/// Runs some steady states on this thread and times each step. The cost is the minimum over several calls,
/// since disturbances only add time. Returns the steady states done.
pub(super) fn costs(
    run: &mut Run<'_>,
    options: Options,
    around: &mut Surroundings<'_>,
    (first, costs): (u64, &mut [f64]),
) -> Result<u64, Stop> {
    costs.fill(f64::INFINITY);
    run.lend_nothing(0);
    let (mut done, most) = (first, options.iterations.unwrap_or(u64::MAX));
    for _ in 0..CALLS {
        let want = run.native.parts[0].scale.min(most - done);
        if want == 0 || (around.interrupted)() {
            break;
        }
        let There { n, over } = run.input(0, want)?;
        if n == 0 || over {
            break;
        }
        run.take_input(0, n);
        run.state.seek(done);
        if let Err((n, stop)) = timed(run, costs, done, n) {
            run.give_output(0, n)?;
            return Err(stop);
        }
        run.steady_done(0, n)?;
        run.count(0, n);
        done += n;
        (around.progress)(done);
    }
    if done == first {
        costs.fill(1.0);
    }
    // Steps that run singly do not count firings.
    run.state.seek(done);
    if let Some(plan) = &run.native.parts[0].plan {
        run.stages[0].gates = Gates::new(plan, &mut run.ends);
    }
    Ok(done)
}

/// Runs some steady states on this thread; returns the seconds for each, reading and writing included: the mean of the
/// later calls, for which pages and caches are warm. `None` if there is too little input.
pub(super) fn alone(
    run: &mut Run<'_>,
    options: Options,
    around: &mut Surroundings<'_>,
) -> Result<Option<f64>, Stop> {
    let (mut timed, mut states, most) = (0.0, 0, options.iterations.unwrap_or(u64::MAX));
    for call in 0..CALLS {
        let want = run.native.parts[0].scale.min(most - run.iterations);
        if want == 0 || (around.interrupted)() {
            break;
        }
        let start = Instant::now();
        let There { n, over } = run.input(0, want)?;
        let n = if over { 0 } else { run.in_place(0, n) };
        if n == 0 {
            break;
        }
        run.steady(0, run.iterations, n)?;
        if call >= CALLS / 2 {
            timed += start.elapsed().as_secs_f64();
            states += n;
        }
        run.count(0, n);
        run.iterations += n;
        (around.progress)(run.iterations);
    }
    Ok((states > 0).then(|| timed / states as f64))
}

/// A call of `n` steady states after `done`, step by step.
fn timed(run: &mut Run<'_>, costs: &mut [f64], done: u64, n: u64) -> Result<(), (u64, Stop)> {
    let Some(plan) = &run.native.parts[0].plan else { return Ok(()) };
    for (step, cost) in costs.iter_mut().enumerate() {
        let start = Instant::now();
        if !run.state.steps(step..step + 1, n, &mut run.around) {
            if !run.around.may_settle() {
                return Err((0, failed(run.native, &mut run.state, &mut run.around)));
            }
            let failing = Failing { native: run.native, plan, facts: &run.stages[0].facts, first: done };
            return Err(failing.settle(&mut run.state, 0..plan.steps.len(), n, &mut run.around));
        }
        *cost = cost.min(start.elapsed().as_secs_f64() / n as f64);
    }
    Ok(())
}
