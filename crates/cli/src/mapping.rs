//! The options of `--mapper`: which mapper, and for which cache.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use thalweg::embed::plan::Program;
use thalweg::graph::GraphData;
use thalweg::plan::mappers::{self, Buffers, Mapper, Pipeline, Target, Trial};
use thalweg::plan::{Plan, Profile};

use crate::interrupt::Interrupt;
use crate::machine;
use crate::misuse::Misuse;

/// A mapper, and the machine that it maps to.
#[derive(Clone, Debug, Args)]
#[group(skip)]
#[command(next_help_heading = "Mapping options")]
pub(crate) struct Mapping {
    #[arg(long, hide_short_help = true, value_name = "NAME", help = mappers_help())]
    mapper: Option<String>,
    /// The cache for --mapper (default: the smallest cache of one core above the first level)
    #[arg(long, hide_short_help = true, value_name = "SIZE", value_parser = crate::size::parse, requires = "mapper")]
    mapper_cache: Option<u64>,
    /// The room between the segments of --mapper: what firings need (`least`), twice the least common multiple of both ends
    /// (`2lcm`), 100 firings (`100`), by the gain of the channel (`gain`), as many bytes as the cache has (`cache`), or what the
    /// plan has without a mapper (`kept`). Not for StreamIt programs, whose compiler sizes buffers
    #[arg(long, hide_short_help = true, value_name = "RULE", requires = "mapper")]
    mapper_buffers: Option<String>,
}

/// The help text of `--mapper`, with the names of all mappers.
fn mappers_help() -> String {
    let names: Vec<&str> = mappers::names().map(|(name, _)| name).collect();
    format!(
        "Decide by this mapper which worker runs which nodes, and the room between them, under the policy `static` unless \
         another is given: {}",
        names.join(", ")
    )
}

impl Mapping {
    /// The option that the user has given.
    pub fn given(&self) -> Option<&'static str> {
        self.mapper.as_ref().map(|_| "--mapper")
    }

    /// The mapper, if the option is given.
    fn chosen(&self) -> Result<Option<&'static dyn Mapper>> {
        let named =
            |name: &String| mappers::named(name).map_err(|unknown| Misuse::new(format!("{unknown:?}")));
        Ok(self.mapper.as_ref().map(named).transpose()?)
    }

    /// The machine to map to: as described in a file, or this one with its costs as far as they are known.
    pub fn target(&self, described: Option<&Path>, interrupt: &Interrupt) -> Result<Target> {
        let machine = match described {
            Some(path) => machine::read(path, interrupt)?,
            None => thalweg::machine::Machine::here(),
        };
        let target = Target::of(&machine);
        let target = self.mapper_cache.into_iter().fold(target, Target::with_cache);
        let Some(name) = &self.mapper_buffers else { return Ok(target) };
        let rule = Buffers::named(name).ok_or_else(|| {
            Misuse::new(format!(
                "unknown rule `{name}` for --mapper-buffers\nhelp: known rules are least, 2lcm, 100, gain, cache, kept"
            ))
        })?;
        Ok(target.with_buffers(rule))
    }

    /// The plan by the mapper, and what it is expected to cost, in comments; `None` without the option.
    pub fn map(
        &self,
        plan: &Plan,
        graph: &GraphData,
        profile: &Profile,
        target: &Target,
    ) -> Result<Option<(Plan, String)>> {
        let Some(mapper) = self.chosen()? else { return Ok(None) };
        let pipeline = plan.pipeline(graph, profile, target);
        let mapping = mapper.map(&pipeline);
        let mapped = plan.with_mapping(graph, &pipeline, mapper.name(), &mapping)?;
        Ok(Some(noted(plan, mapped, &mapping, &pipeline)))
    }

    /// The plan of a compiled program by the mapper, as [`Mapping::map`] makes it of a graph of the engine. `pipeline` makes one of the
    /// program's units.
    pub fn map_units(
        &self,
        program: &Program,
        pipeline: impl FnOnce() -> Result<Pipeline>,
    ) -> Result<Option<(Plan, String)>> {
        let Some(mapper) = self.chosen()? else { return Ok(None) };
        if self.mapper_buffers.is_some() {
            let message = "--mapper-buffers: the compiler of a StreamIt program sizes its buffers\nhelp: leave the option out";
            return Err(Misuse::new(message).into());
        }
        let pipeline = pipeline()?;
        let mapping = mapper.map(&pipeline);
        let mapped = program.plan().mapped_units(program.graph(), &pipeline, mapper.name(), &mapping)?;
        Ok(Some(noted(program.plan(), mapped, &mapping, &pipeline)))
    }

    /// For the mapper `best`: the plan of the fastest of these runs, and what each has taken, in comments. `None` for another mapper, and
    /// unless the runs followed several plans.
    pub fn by_trials(&self, graph: &GraphData, runs: &[(&Plan, &Profile)]) -> Option<(Plan, String)> {
        self.mapper.as_ref().filter(|name| *name == "best")?;
        let trials = Plan::by_trials(graph, runs);
        let (fastest, _) = trials.split_first().filter(|(_, others)| !others.is_empty())?;
        let note = |text: String, trial: &Trial| {
            let (plan, mapper) = (trial.plan(), trial.plan().mapper().unwrap_or("none"));
            let (policy, time, runs) = (plan.policy(), trial.time(), trial.runs());
            text + &format!(
                "# policy {policy}, mapper {mapper}: {time:.1} ns for an item of the source, least of {runs}\n"
            )
        };
        let notes =
            trials.iter().fold("# mapper best: the fastest plan of those that ran\n".to_owned(), note);
        Some((fastest.plan().clone(), notes))
    }

    /// The plan by the mapper for a graph that never ran.
    ///
    /// # Errors
    /// The graph does not declare the times of all its nodes.
    pub fn map_declared(&self, plan: Plan, graph: &GraphData, target: &Target) -> Result<Plan> {
        if self.chosen()?.is_none() {
            return Ok(plan);
        }
        let profile = Profile::declared(graph).map_err(|undeclared| {
            Misuse::new(format!(
                "--mapper before a run needs declared times and rates: {undeclared}\n\
                 help: or run the program once with --save-report FILE, and then with the plan that `thalweg show FILE --next-plan \
                 --mapper NAME` prints"
            ))
        })?;
        Ok(self.map(&plan, graph, &profile, target)?.map_or(plan, |(plan, _)| plan))
    }
}

/// The plan that a mapper has made of `plan`, under the policy that carries it out unless the user has chosen another; and what it is
/// expected to cost, in comments.
fn noted(plan: &Plan, mut mapped: Plan, mapping: &mappers::Mapping, pipeline: &Pipeline) -> (Plan, String) {
    let is_of_mapper = plan.mapper().is_some() && plan.policy().starts_with("static");
    if is_of_mapper || plan.policy() == thalweg::embed::policy::registry::DEFAULT {
        *mapped.policy_mut() = mapping.policy().to_owned();
    }
    let (name, cache) = (mapped.mapper().unwrap_or_default(), pipeline.target().cache());
    let loads = mapping.loads(pipeline).to_string();
    let head = format!("# mapper {name}: cache of {cache} bytes\n");
    (mapped, loads.lines().fold(head, |text, line| text + "# " + line + "\n"))
}
