//! Figures 3.1 to 3.5: mappers on random pipelines by the generator of section 3.3.1.
//!
//! The thesis' cache of 256 KiB in blocks of 64 bytes, and its gains and states, which are parts of it, are made smaller by the same
//! factor, 64, with blocks of 16 bytes. A miss costs as much as loads the whole cache in the same time: 16 times 3 ns. Times of
//! firings are the thesis'.

use thalweg::plan::mappers::Target;
use thalweg_pipelines::synthetic::{Distribution, Fixed, Loads, Pace, Parameters, Times, graph, profile};
use thalweg_sim::Settings;
use thalweg_sim::caches::CacheModel;

use super::Known;
use crate::line::Measure;
use crate::session::Session;

const CACHE: CacheModel = CacheModel { bytes: 4 << 10, block: 16, ways: 0, pages: 0, record: 0, miss: 48 };
/// The workers of the thesis' machine.
const WORKERS: usize = 8;
/// The pipelines of a figure.
const PIPELINES: u64 = 10;
/// Items of the source: some buffers of (M/2) gain.
const ITEMS: u64 = 3 << 10;

const BY_CHANCE: &[&str] = &["seg-cache", "seg-random", "random-assign"];
const BY_WORK: &[&str] = &["seg-cache", "seg-runtime-greedy", "seg-random", "bin-fullest", "bin-emptiest"];
const BY_BOTH: &[&str] = &["seg-cache", "seg-runtime-greedy", "seg-both-fit", "bin-fullest", "bin-emptiest"];

const UNIFORM: Distribution = Distribution::Uniform;
const ZIPF: Distribution = Distribution::Zipf;

/// Uniform state, and these times.
const fn drawn(times: Times) -> Loads {
    Loads::Drawn(UNIFORM, times)
}

/// The figures: name, gains, loads, and the mappers that the thesis compares.
const CHARTS: [(&str, Distribution, Loads, &[&str]); 12] = [
    ("3-1a", ZIPF, drawn(Times::Off), BY_CHANCE),
    ("3-1b", UNIFORM, drawn(Times::Off), BY_CHANCE),
    ("3-2a", UNIFORM, drawn(Times::Drawn(UNIFORM)), BY_WORK),
    ("3-2b", UNIFORM, drawn(Times::Drawn(ZIPF)), BY_WORK),
    ("3-2c", ZIPF, drawn(Times::Drawn(UNIFORM)), BY_WORK),
    ("3-2d", ZIPF, drawn(Times::Drawn(ZIPF)), BY_WORK),
    ("3-3", ZIPF, drawn(Times::Correlated), BY_WORK),
    ("3-4a", UNIFORM, drawn(Times::Drawn(UNIFORM)), BY_BOTH),
    ("3-4b", ZIPF, drawn(Times::Drawn(ZIPF)), BY_BOTH),
    ("3-5a", ZIPF, Loads::Fixed(Fixed::Small), BY_WORK),
    ("3-5b", ZIPF, Loads::Fixed(Fixed::Medium), BY_WORK),
    ("3-5c", ZIPF, Loads::Fixed(Fixed::Large), BY_WORK),
];

/// The figures that are computed again with [`HAND_OVER`].
const HANDED: [&str; 4] = ["3-1a", "3-1b", "3-2d", "3-5a"];
/// Nanoseconds of an item that another worker has pushed. The thesis names such a cost as the reason why `random_assignment` is slow, and
/// does not say how large it is.
const HAND_OVER: u64 = 50;

pub(super) fn run(session: &mut Session) {
    for (chart, gains, loads, mappers) in CHARTS {
        let of = |seed| Parameters { cache: CACHE.bytes as u32, gains, loads, seed, ..Parameters::default() };
        for seed in 1..=PIPELINES {
            figure(session, &format!("map.model.{chart}.{seed}"), || times(&of(seed), mappers, 0));
            if HANDED.contains(&chart) {
                let name = format!("map.model.handed-{chart}.{seed}");
                figure(session, &name, || times(&of(seed), mappers, HAND_OVER));
            }
        }
    }
}

fn figure(
    session: &mut Session,
    name: &str,
    times: impl FnOnce() -> Result<Vec<(&'static str, f64)>, String>,
) {
    if !session.selects(name) {
        return;
    }
    match times() {
        Ok(times) => session.counted(name, Measure::Counted("ns"), &times),
        Err(error) => session.errors.push(format!("{name}: {error}")),
    }
}

/// Nanoseconds of each mapper for an item of the source, where one from another worker costs `transfer`.
fn times(
    parameters: &Parameters,
    mappers: &[&'static str],
    transfer: u64,
) -> Result<Vec<(&'static str, f64)>, String> {
    let pipeline = parameters.pipeline();
    let periods = pipeline.periods(ITEMS);
    let graph = graph(&pipeline, periods, 1, Pace::OFF).graph().data();
    let profile = profile(&pipeline, &graph, periods);
    let items = profile.channels()[0].items() as f64;
    let (known, target) = (Known { graph, profile }, target(CACHE));
    let costs = Settings { transfer, ..super::costs(WORKERS, CACHE) };
    let time = |mapper: &&'static str| {
        let report = known.play_with(mapper, &target, &costs)?;
        Ok((*mapper, report.makespan as f64 / items))
    };
    mappers.iter().map(time).collect()
}

/// The machine with such a cache, as a mapper sees it: there a miss brings 64 bytes.
fn target(cache: CacheModel) -> Target {
    Target::default().with_cache(cache.bytes).with_miss(cache.miss as f64 * 64.0 / cache.block as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is measured, so the same pipeline has the same times.
    #[test]
    fn times_are_computed() {
        let (_, gains, loads, mappers) = CHARTS[0];
        let parameters = Parameters { modules: 12, cache: 4096, gains, loads, seed: 1 };
        let first = times(&parameters, mappers, 0).unwrap();
        assert!(first.len() == mappers.len() && first.iter().all(|(_, time)| *time > 0.0), "{first:?}");
        assert_eq!(first, times(&parameters, mappers, 0).unwrap());
        let handed = times(&parameters, mappers, HAND_OVER).unwrap();
        assert!(
            first.iter().zip(&handed).all(|((_, free), (_, handed))| free < handed),
            "{first:?} {handed:?}"
        );
    }
}
