//! `danbi.*`: the seven programs of the DANBI paper under its policies.
//!
//! | figure | the paper's | values |
//! |---|---|---|
//! | `danbi.computing.PROGRAM.nN` | 3: speed-ups | of each policy on N workers that compute |
//! | `danbi.speedup.PROGRAM.nN` | 3: speed-ups | of each policy on N workers in dilated time |
//! | `danbi.parts.PROGRAM.POLICY` | 4: where the time goes | shares of the time of 40 dilated workers |
//! | `danbi.costs.PROGRAM.POLICY` | 4: where the time goes | shares of the time of 2 workers that compute |
//! | `danbi.threads.PROGRAM` | 6: user-level threads, with 40 workers and PRS | mean and maximum of workers and suspended firings |
//! | `danbi.queues.PROGRAM` | 7: queue sizes, with 40 workers and PRS | change of the time in per cent, with a factor in place of 1 |
//! | `danbi.variance.rg.POLICY` | | stall of 40 virtual workers in per cent, by how much firings differ |
//! | `danbi.size.PROGRAM.nN` | | firings of the dilated runs: of the node with the fewest, and of all |
//!
//! The papers' policies run in its mode: firings wait for their tickets, and queues have its sizes. `auto`, which is `ours`, runs as
//! a user has it. All policies run on the same input in every round, so `danbi.computing` and `danbi.speedup` have the paired ratios of
//! `auto` to each ([`crate::ratio`]). The parts of the time, the sizes, and the threads are from the same runs.
//!
//! In dilated time (`Options::dilate`) the speed-up is that of a schedule whose claims are the program's and whose queues and
//! scheduler cost next to nothing: the sum of the times of all claims, which one worker would need, over the time of the run. Of workers
//! that compute it is the time in the kernels of one worker under `auto` in the same round, over the time of the run.
//!
//! Sessions of dilated figures alone ([`are_dilated`]) have a heap that keeps its memory ([`crate::heap`]).
//!
//! [`size`] determines the inputs, [`rounds`] runs them, [`speed_ups`] and [`queues`] make the figures of the runs.

mod barrier;
mod dilation;
mod peers;
mod queues;
mod rounds;
mod size;
mod speed_ups;
mod timeline;
mod variance;

use thalweg::Options;
use thalweg_danbi::Program;

use crate::session::Session;
pub use rounds::PARTS;
use size::Size;

/// A program as it is measured.
struct Measured {
    program: Program,
    /// A dilated firing of the mean lasts about 1 to 10 ms, so that the engine's own time, which is not dilated, does not bound the
    /// run.
    dilation: u32,
    /// The share of the paper's input with which a program is tried: [`MAX_WORKERS`] dilated workers take about a second.
    trial: f64,
}

/// The programs. RG and SRAD have small images in dilated time, so that there are hundreds of them.
const PROGRAMS: [Measured; 7] = [
    Measured { program: Program::FilterBank, dilation: 200, trial: 0.0026 },
    Measured { program: Program::FmRadio, dilation: 1000, trial: 0.0016 },
    Measured { program: Program::Fft2, dilation: 600, trial: 0.0012 },
    Measured { program: Program::Tde, dilation: 500, trial: 0.00011 },
    Measured { program: Program::MergeSort, dilation: 80, trial: 0.002 },
    Measured { program: Program::Rg, dilation: 1000, trial: 0.0003 },
    Measured { program: Program::Srad, dilation: 800, trial: 0.0004 },
];

/// The paper's cores.
const MAX_WORKERS: usize = 40;

/// Workers that compute, and workers in dilated time.
const COMPUTING: [usize; 2] = [1, 2];
const DILATED: [usize; 9] = [1, 2, 5, 8, 10, 20, 25, 30, MAX_WORKERS];

/// The workers for which `auto` has targets, and those of a quick look: their runs are the longest ones.
const JUDGED: [usize; 4] = [1, 2, 8, MAX_WORKERS];

/// The families of figures in dilated time.
const DILATED_FAMILIES: [&str; 7] = ["speedup", "parts", "threads", "size", "queues", "timeline", "dilation"];

/// The workers with which the paper has a maximum of MergeSort, and of no other program.
const PEAK: usize = 25;

/// The paper's policies.
const POLICIES: [&str; 4] = ["random", "qes", "pss", "prs"];

/// Whether these filters select figures in dilated time and no others: of this family, or `map.dilated`.
pub fn are_dilated(filters: &[String]) -> bool {
    let is_dilated = |filter: &String| {
        if filter.starts_with("map.dilated") {
            return true;
        }
        let family = filter.strip_prefix("danbi.").and_then(|rest| rest.split('.').next());
        family.is_some_and(|family| DILATED_FAMILIES.contains(&family))
    };
    !filters.is_empty() && filters.iter().all(is_dilated)
}

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for measured in &PROGRAMS {
        let (computing, dilated) = (measured.computing(session), measured.dilated(session));
        if computing.is_empty() && dilated.is_empty() && !queues::is_selected(session, measured) {
            continue;
        }
        let size = match Size::of(session, measured) {
            Ok(size) => size,
            Err(error) => {
                session.note(&format!("{}: {error}", measured.program.name()));
                session.errors.push(error);
                continue;
            }
        };
        computing.into_iter().for_each(|workers| speed_ups::computing(session, measured, &size, workers));
        dilated.into_iter().for_each(|workers| speed_ups::dilated(session, measured, &size, workers));
        queues::run(session, measured, &size);
    }
    variance::run(session);
    timeline::run(session);
    dilation::run(session);
    peers::run(session);
    barrier::run(session);
}

impl Measured {
    /// The name of a figure of this program.
    fn name(&self, what: &str, of: &str) -> String {
        format!("danbi.{what}.{}.{of}", self.program.name())
    }

    /// The numbers of computing workers that have a selected figure.
    fn computing(&self, session: &Session) -> Vec<usize> {
        let possible = COMPUTING.into_iter().filter(|workers| *workers <= session.options.threads);
        possible.filter(|workers| self.figures("computing", *workers, session)).collect()
    }

    /// The numbers of dilated workers that have a selected figure.
    fn dilated(&self, session: &Session) -> Vec<usize> {
        let measured = DILATED.into_iter().filter(|workers| {
            let is_judged = JUDGED[2..].contains(workers);
            let is_for_all = *workers != PEAK || self.program == Program::MergeSort;
            is_for_all && (is_judged || !session.options.quick)
        });
        measured.filter(|workers| self.figures("speedup", *workers, session)).collect()
    }

    /// Whether one of the figures is selected that the runs of this number of workers have.
    fn figures(&self, what: &str, workers: usize, session: &Session) -> bool {
        let mut names = vec![self.name(what, &format!("n{workers}"))];
        if what == "speedup" {
            names.push(self.name("size", &format!("n{workers}")));
        }
        if let Some(parts) = speed_ups::parts_of(what, workers) {
            names.extend(POLICIES.into_iter().chain(["auto"]).map(|policy| self.name(parts, policy)));
        }
        if what == "speedup" && workers == MAX_WORKERS {
            names.push(format!("danbi.threads.{}", self.program.name()));
        }
        names.iter().any(|name| session.selects(name))
    }
}

/// A policy as the papers have it, or `auto`.
fn options(policy: &str, workers: usize) -> Options {
    let options = Options::new().threads(workers).policy(policy);
    if policy == "auto" { options } else { options.wait_for_tickets().firings_per_thread(1.0) }
}

#[cfg(test)]
mod tests {
    use super::are_dilated;

    #[test]
    fn sessions_of_dilated_figures_have_no_others() {
        let are = |filters: &[&str]| {
            are_dilated(&filters.iter().map(|filter| (*filter).into()).collect::<Vec<_>>())
        };
        assert!(are(&["danbi.speedup"]) && are(&["danbi.speedup.rg.n40", "danbi.parts.rg", "map.dilated"]));
        assert!(
            !are(&[]) && !are(&["danbi."]) && !are(&["danbi.speedup", "danbi.computing"]) && !are(&["n40"])
        );
    }
}
