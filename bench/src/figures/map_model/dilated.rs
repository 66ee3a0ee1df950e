//! `map.dilated.PROGRAM.nN`: Table 4.1 by workers in dilated time ([`Options::dilate`]) in place of the virtual host.
//!
//! The programs compute, and their claims last longer by a scale, so two cores run the schedule of up to 40 workers. A speed-up is the sum of
//! the times of all claims, which one worker would need, over the time of the run. What the engine does between claims is not
//! dilated, so the figures show mappings, shares and waits, and neither queues nor contention.

use thalweg::plan::mappers::{self, Target};
use thalweg::plan::{Plan, Wishes};
use thalweg::{Options, Report};

use crate::figures::map::{Program, Sizes, programs};
use crate::line::{Measure, median};
use crate::session::Session;

use super::MAPPERS;

const WORKERS: [usize; 3] = [8, 16, 40];
/// Some hundred claims of each node, and of LZ77 as many blocks.
const SIZES: Sizes = Sizes { blocks: 100_000, text: 8 << 20, inputs: 400 };
/// The seconds that a run takes whose workers are never idle.
const SECONDS: f64 = 1.0;

/// Runs the selected figures.
pub(super) fn run(session: &mut Session) {
    for (program, run) in programs(SIZES) {
        let names = WORKERS.map(|workers| (workers, format!("map.dilated.{program}.n{workers}")));
        let selected: Vec<_> = names.into_iter().filter(|(_, name)| session.selects(name)).collect();
        if selected.is_empty() {
            continue;
        }
        let report = match run(&Options::new().threads(1)) {
            Ok((_, report)) => report,
            Err(error) => return session.errors.push(format!("map.dilated.{program}: {error}")),
        };
        for (workers, name) in selected {
            match speed_ups(&run, &report, workers, (SECONDS, session.options.runs)) {
                Ok(values) => session.counted(&name, Measure::Speed, &values),
                Err(error) => session.errors.push(format!("{name}: {error}")),
            }
        }
    }
}

/// The medians of the speed-ups: of `best`, which is ours, of the thesis' mappers, and of `auto` without a plan.
fn speed_ups(
    run: &Program,
    known: &Report,
    workers: usize,
    (seconds, runs): (f64, usize),
) -> Result<Vec<(&'static str, f64)>, String> {
    // At least the engine's least scale on two cores.
    let scale = (seconds * workers as f64 / known.wall().as_secs_f64()) as u32;
    let scale = scale.max(4 * workers as u32);
    let mapped = MAPPERS.map(|(short, mapper)| (short, Some(mapper)));
    let contestants = [("best", Some("best"))].into_iter().chain(mapped).chain([("auto", None)]);
    let value = |(short, mapper): (&'static str, Option<&str>)| {
        let options = match mapper {
            Some(mapper) => Options::new().plan(plan(known, mapper, workers)?),
            None => Options::new().threads(workers),
        };
        let speed_up = |_| {
            let (_, report) = run(&options.clone().dilate(scale))?;
            let claims: f64 = report.workers().iter().map(|worker| worker.application().as_secs_f64()).sum();
            Ok(claims / report.wall().as_secs_f64())
        };
        let all = (0..runs).map(speed_up).collect::<Result<Vec<f64>, String>>()?;
        Ok((short, median(all).ok_or("no runs")?))
    };
    contestants.map(value).collect()
}

/// The plan of a mapper for these workers, by a run on one. Room is that of a plan for as many workers.
fn plan(known: &Report, mapper: &str, workers: usize) -> Result<Plan, String> {
    let mapper = mappers::named(mapper).map_err(|error| error.to_string())?;
    let graph = known.graph();
    let plan = Plan::new(graph, &Wishes::default().threads(workers));
    let pipeline = plan.pipeline(graph, &known.profile(), &Target::default());
    let mapping = mapper.map(&pipeline);
    let mut plan =
        plan.with_mapping(graph, &pipeline, mapper.name(), &mapping).map_err(|error| error.to_string())?;
    *plan.policy_mut() = mapping.policy().to_owned();
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight workers sleep for most of the time, so two cores suffice. The run is short, so beside other programs it is slow.
    #[test]
    fn mappings_run_in_dilated_time() {
        let [_, _, (_, run)] = programs(Sizes { blocks: 10, text: 100, inputs: 40 });
        let (_, known) = run(&Options::new().threads(1)).unwrap();
        let values = speed_ups(&run, &known, 8, (0.0, 1)).unwrap();
        assert_eq!(values.len(), 6);
        assert!(values.iter().all(|(_, speed_up)| (0.05..8.1).contains(speed_up)), "{values:?}");
    }
}
