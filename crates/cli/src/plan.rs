//! The options `--plan` and `--show-plan`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow};
use clap::Args;
use thalweg::Options;
use thalweg::graph::GraphData;
use thalweg::plan::{Fingerprint, Plan, ReadError};

use crate::standard;

/// Which plan the engine follows, and whether it is printed.
#[derive(Debug, Args)]
pub(crate) struct PlanOptions {
    /// Follow this plan, as printed by --show-plan and edited. Of several plans, each graph takes the one that was made
    /// for it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["threads", "policy"])]
    plan: Vec<PathBuf>,
    /// Print the plan on standard error before the run starts
    #[arg(long)]
    show_plan: bool,
}

/// A plan as written in a file.
struct Saved {
    path: PathBuf,
    text: String,
    plan: Plan,
}

impl PlanOptions {
    /// Adds the plans to the engine's options. Reads the files, so that a mistake in their text ends the command before
    /// it writes anything.
    pub fn add_to(&self, options: Options) -> Result<Options> {
        if self.plan.is_empty() && !self.show_plan {
            return Ok(options);
        }
        let saved = self.plan.iter().map(|path| Saved::open(path)).collect::<Result<Vec<_>>>()?;
        // An application may choose its graph by the number of threads.
        let options = match saved.first() {
            Some(first) => options.threads(first.plan.threads),
            None => options,
        };
        let show = self.show_plan;
        Ok(options.plan_with(move |graph, made| {
            let plan = choose(&saved, graph, made)?;
            if show {
                standard::eprint(&plan.on(graph).to_string());
            }
            Ok(plan)
        }))
    }
}

impl Saved {
    fn open(path: &Path) -> Result<Saved> {
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        let text = String::from_utf8(bytes).map_err(|_| anyhow!("{} is not UTF-8 text", path.display()))?;
        let plan = text.parse().map_err(|error| in_file(path, error))?;
        Ok(Saved { path: path.to_owned(), text, plan })
    }
}

/// The saved plan of the graph, or else the first; without saved plans the one that the engine has made.
fn choose(saved: &[Saved], graph: &GraphData, made: Plan) -> Result<Plan> {
    let Some(first) = saved.first() else { return Ok(made) };
    let of_graph = Fingerprint::of(graph);
    let Saved { path, text, .. } = saved.iter().find(|saved| saved.plan.graph == of_graph).unwrap_or(first);
    Plan::read(text, graph).map_err(|error| in_file(path, error))
}

fn in_file(path: &Path, error: ReadError) -> Error {
    anyhow!("{}, line {}: {}", path.display(), error.line, error.what)
}
