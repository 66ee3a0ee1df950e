//! `map.model.*`: the figures of the locality thesis, chapters 3 and 4, computed by the virtual host with private caches. A sweep: a
//! run of everything leaves them out.
//!
//! | figure | the thesis' | values |
//! |---|---|---|
//! | `map.model.CHART.I` | 3.1 to 3.5 | ns for an item of the source, of each mapper on pipeline I and 8 workers |
//! | `map.model.handed-CHART.I` | some of these | the same, where an item from another worker costs time |
//! | `map.model.speedup.PROGRAM.pN` | Table 4.1 | speed-ups of each mapper on N workers |
//! | `map.model.misses.pN` | Table 4.2 | misses for an input of DNN in N caches |
//! | `map.model.plan.PROGRAM.MAPPER` | 4.10 | the nodes of each of 8 workers, a replica as its share of one |
//!
//! [`dilated`] has `map.dilated.PROGRAM.nN`, Table 4.1 in dilated time. Of the others nothing but the times of the programs' firings is measured: a tick of the virtual host is a nanosecond.

mod charts;
mod dilated;
mod misses;
mod programs;

use thalweg::embed::graph::GraphData;
use thalweg::plan::mappers::{self, Target};
use thalweg::plan::{Plan, Profile, Wishes};
use thalweg_policy::Static;
use thalweg_sim::caches::CacheModel;
use thalweg_sim::{Model, Report, Settings, run_planned};

use crate::session::Session;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    charts::run(session);
    misses::run(session);
    programs::run(session);
    dilated::run(session);
}

/// The mappers of Table 4.1: in the thesis' words, and in ours.
const MAPPERS: [(&str, &str); 4] = [
    ("sb", "seg-both"),
    ("sr", "seg-runtime"),
    ("srr", "seg-runtime-replicated"),
    ("sbr", "seg-both-replicated"),
];

/// The costs of the virtual host. Workers look for work all the time, as those of the thesis do, and what items cost that another
/// worker has pushed is a miss.
fn costs(workers: usize, cache: CacheModel) -> Settings {
    Settings { workers, cache: Some(cache), transfer: 0, migrate: 0, wake: 200, ..Settings::default() }
}

/// Nanoseconds of a claim. The engine, which has a clock, ends claims after some such time.
const CLAIM: f64 = 50_000.0;

/// A graph with what mappers know of it.
struct Known {
    graph: GraphData,
    profile: Profile,
}

impl Known {
    /// The plan of a mapper.
    fn plan(&self, mapper: &str, workers: usize, target: &Target) -> Result<Plan, String> {
        let plan = Plan::new(&self.graph, &Wishes::default().threads(workers).policy("static"));
        let mapper = mappers::named(mapper).map_err(|error| error.to_string())?;
        let mut plan =
            plan.mapped(&self.graph, &self.profile, mapper, target).map_err(|error| error.to_string())?;
        for (claim, node) in plan.claim_lengths_mut().iter_mut().zip(self.profile.nodes()) {
            *claim = (*claim).min((CLAIM / node.mean_ns().max(1.0)) as usize).max(1);
        }
        Ok(plan)
    }

    /// What the virtual host reports of it.
    fn play(
        &self,
        mapper: &str,
        workers: usize,
        target: &Target,
        cache: CacheModel,
    ) -> Result<Report, String> {
        self.play_with(mapper, target, &costs(workers, cache))
    }

    /// [`Known::play`] with any costs.
    fn play_with(&self, mapper: &str, target: &Target, costs: &Settings) -> Result<Report, String> {
        let plan = self.plan(mapper, costs.workers, target)?;
        let model = Model::of_profile(&self.graph, &self.profile);
        run_planned(&Static::default(), &model, costs, plan)
            .map_err(|failure| format!("{mapper} on {} workers: {failure}", costs.workers))
    }
}
