//! The sizes of inputs: a program is tried on a small input, in dilated time, and the result is scaled.
//!
//! Dilated runs last [`SECONDS`] or [`CURVE_SECONDS`] at any number of workers. So with few workers inputs are small, and a graph has
//! few firings: then a run lasts up to [`LONGER`] times as long, for [`FIRINGS`] of each node.

use thalweg::Report;
use thalweg_danbi::{Problem, Program};

use super::{JUDGED, MAX_WORKERS, Measured, options};
use crate::session::Session;

/// The time of a dilated run: of one with which `auto` is judged, and of another point of the curve.
const SECONDS: f64 = 3.0;
const CURVE_SECONDS: f64 = 1.25;

/// By how much longer a dilated run lasts at most, and the firings of each node for which it does.
const LONGER: f64 = 2.0;
const FIRINGS: f64 = 200.0;

/// The time of a computing run.
const COMPUTED_SECONDS: f64 = 0.6;

/// Times of a quick look, as a part of all others.
const QUICK: f64 = 0.05;

/// The speed-up of few workers, as a part of their number: more lose more, which the trial shows.
const EFFICIENCY: f64 = 0.9;

/// Bytes of images from which on RG and SRAD have a few large images in place of many small ones: two of 1024 by 1024 pixels with
/// four bytes each. A little less, for rounding.
const LARGE_IMAGES: f64 = 1.99 * 4.0 * (1 << 20) as f64;

/// What a trial says of a program.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// The share of the paper's input whose claims sum to a second.
    share_of_second: f64,
    /// Firings of the node with the fewest, for all of the paper's input.
    fewest: f64,
    /// The speed-up of [`MAX_WORKERS`] under `prs`.
    speed_up: f64,
    /// The largest share of a dilated run.
    largest: f64,
    /// The program's dilation.
    dilation: f64,
    /// The part of all times.
    part: f64,
}

impl Size {
    /// Tries a program.
    pub fn of(session: &mut Session, measured: &Measured) -> Result<Size, String> {
        let &Measured { program, dilation, trial } = measured;
        let (part, share) = if session.options.quick { (QUICK, trial / 5.0) } else { (1.0, trial) };
        let problem = program.problem(share, 1);
        let options = options("prs", MAX_WORKERS).dilate(dilation);
        let (_, report) = problem.run(&options).map_err(|error| format!("{}: {error}", program.name()))?;
        let claims = claims(&report);
        session.note(&format!(
            "{}: {share:.3e} of the paper's input in {:.2} s, claims of {claims:.1} s, {} firings of the node with the fewest",
            program.name(),
            report.wall().as_secs_f64(),
            fewest(&report)
        ));
        Ok(Size {
            share_of_second: share / claims,
            fewest: fewest(&report) as f64 / share,
            speed_up: claims / report.wall().as_secs_f64(),
            largest: largest(program),
            dilation: f64::from(dilation),
            part,
        })
    }

    /// The share of the paper's input for a run of dilated workers.
    pub fn share(&self, workers: usize) -> f64 {
        let seconds = if JUDGED.contains(&workers) { SECONDS } else { CURVE_SECONDS };
        let speed_up = (EFFICIENCY * workers as f64).min(self.speed_up);
        let usual = self.part * seconds * speed_up * self.share_of_second;
        let enough = self.part * FIRINGS / self.fewest;
        usual.max(enough.min(usual * LONGER)).min(self.largest)
    }

    /// The share of the paper's input for a run of computing workers, which need the time of the claims over the dilation.
    pub fn computed_share(&self, workers: usize) -> f64 {
        self.part * COMPUTED_SECONDS * workers as f64 * self.dilation * self.share_of_second
    }
}

/// The program on a share of the paper's input.
pub fn problem(measured: &Measured, share: f64) -> Problem {
    measured.program.problem(share, 1)
}

/// The sum of the times of all claims, in seconds.
pub fn claims(report: &Report) -> f64 {
    report.workers().iter().map(|worker| worker.application().as_secs_f64()).sum()
}

/// The firings of the node with the fewest of those that fired.
pub fn fewest(report: &Report) -> u64 {
    report.nodes().iter().map(|node| node.firings()).filter(|firings| *firings > 0).min().unwrap_or(1)
}

/// The largest share of a dilated run.
fn largest(program: Program) -> f64 {
    match program {
        Program::Rg | Program::Srad => LARGE_IMAGES / (f64::from(program.megabytes()) * 1e6),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with claims of 1000 s in all, a speed-up of 20, and this many firings of a node.
    fn size(fewest: f64) -> Size {
        Size { share_of_second: 1e-3, fewest, speed_up: 20.0, largest: 0.07, dilation: 100.0, part: 1.0 }
    }

    #[test]
    fn runs_last_as_long_with_any_number_of_workers() {
        let size = size(1e9);
        // 40 workers do the work of 20 s in a second.
        assert!((size.share(40) - SECONDS * 20.0 / 1000.0).abs() < 1e-12);
        assert!((size.share(8) - SECONDS * EFFICIENCY * 8.0 / 1000.0).abs() < 1e-12);
        assert!((size.share(10) - CURVE_SECONDS * EFFICIENCY * 10.0 / 1000.0).abs() < 1e-12);
        assert!((size.computed_share(2) - 2.0 * COMPUTED_SECONDS * 100.0 / 1000.0).abs() < 1e-12);
    }

    #[test]
    fn few_firings_make_a_run_longer_up_to_a_limit() {
        let usual = size(1e9).share(1);
        assert!((size(FIRINGS / (1.5 * usual)).share(1) / usual - 1.5).abs() < 1e-9, "enough firings");
        assert!((size(1.0).share(1) / usual - LONGER).abs() < 1e-9, "the limit");
        assert!((size(1.0).share(40) - 0.07).abs() < 1e-12, "the largest input");
    }

    #[test]
    fn dilated_images_are_small() {
        for program in [Program::Rg, Program::Srad] {
            let bytes = program.problem(largest(program), 1).bytes();
            let small = 64 * 48 * 4;
            assert!(bytes % small == 0 && bytes / small > 600, "{program:?}: {bytes} bytes");
        }
    }
}
