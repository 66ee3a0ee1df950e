//! Table 4.2: misses of DNN, mapped by work and by work and misses.
//!
//! In caches that evict the oldest of all blocks no sizes give the thesis' ratios: a segment that does not fit misses all of its
//! blocks. So the caches have sets, as the thesis' L2 has. With 2 and 4 caches the ratio depends on where pages fall among the sets, so
//! the values are means over several seeds of these places.

use std::time::Duration;

use thalweg::plan::mappers::Target;
use thalweg_pipelines::{chain_profile, dnn};
use thalweg_sim::caches::CacheModel;

use super::Known;
use crate::line::Measure;
use crate::session::Session;

/// An L2 of 8 ways, and what a miss costs that no prefetch hides.
const CACHE: CacheModel = CacheModel { bytes: 448 << 10, block: 64, ways: 8, pages: 0, record: 0, miss: 30 };
/// A network that is bound by memory: 64 layers of 640 bytes of weights, and firings of 32 inputs, so that 8 KiB cross a thick edge
/// and 1408 bytes a thin one.
const NETWORK: dnn::Parameters = dnn::Parameters {
    layers: 64,
    perceptrons: 64,
    thin: 11,
    connections: 1,
    thin_connections: 1,
    batch: BATCH as u32,
    seed: 1,
};
const BATCH: u64 = 32;
/// The time of a layer besides its misses: all have the same number of connections.
const LAYER: Duration = Duration::from_nanos(400);
/// The firings, of which the first fill the caches.
const FIRINGS: u64 = 60;
const FIRST: u64 = 20;
/// The places of pages, by seed.
const PAGES: std::ops::Range<u64> = 0..12;
/// The caches of the table.
const CACHES: [usize; 4] = [1, 2, 4, 8];

pub(super) fn run(session: &mut Session) {
    for workers in CACHES {
        let name = format!("map.model.misses.p{workers}");
        if !session.selects(&name) {
            continue;
        }
        match ["seg-both", "seg-runtime"].map(|mapper| misses(mapper, workers, PAGES)) {
            [Ok(both), Ok(runtime)] => {
                let values = [("seg-both", both), ("seg-runtime", runtime)];
                session.counted(&name, Measure::Counted("misses"), &values);
            }
            [Err(error), _] | [_, Err(error)] => session.errors.push(format!("{name}: {error}")),
        }
    }
}

/// The misses for an input: the mean over these places of pages.
fn misses(mapper: &str, workers: usize, pages: std::ops::Range<u64>) -> Result<f64, String> {
    let target = Target::default().with_cache(CACHE.bytes).with_miss(CACHE.miss as f64);
    let until = |firings, pages| {
        let report = network(firings).play(mapper, workers, &target, CacheModel { pages, ..CACHE })?;
        Ok::<u64, String>(report.misses.iter().map(|misses| misses.all()).sum())
    };
    let (mut all, inputs) = (0, (FIRINGS - FIRST) * BATCH * (pages.end - pages.start));
    for pages in pages {
        all += until(FIRINGS, pages)? - until(FIRST, pages)?;
    }
    Ok(all as f64 / inputs as f64)
}

/// The network with layers of equal time; reading and writing take none.
fn network(firings: u64) -> Known {
    let network = NETWORK.network();
    let graph = network.graph(firings * BATCH, 1).graph().data();
    let last = graph.nodes().len() - 1;
    let time = |node| if node == 0 || node == last { Duration::ZERO } else { LAYER };
    let profile = chain_profile(&graph, firings, time);
    Known { graph, profile }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one cache both mappers have one segment, and with each doubling cuts at thin edges miss less of what others miss. The
    /// recorded figure has more places of pages.
    #[test]
    fn cuts_at_thin_edges_miss_less() {
        let ratios = [0..1, 0..3, 0..3, 0..1].into_iter().zip(CACHES).map(|(pages, workers)| {
            let [both, runtime] =
                ["seg-both", "seg-runtime"].map(|mapper| misses(mapper, workers, pages.clone()).unwrap());
            both / runtime
        });
        let ratios: Vec<f64> = ratios.collect();
        assert_eq!(ratios[0], 1.0);
        assert!(ratios.is_sorted_by(|a, b| a > b) && ratios[3] < 0.3, "{ratios:?}");
    }
}
