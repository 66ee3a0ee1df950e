//! The options `--plan` and `--show-plan`.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};
use clap::Args;
use thalweg::Options;
use thalweg::embed::graph::shown;
use thalweg::embed::plan::{Fingerprint, Place};
use thalweg::embed::runtime::EmbedOptions;
use thalweg::graph::GraphData;
use thalweg::plan::{Plan, ReadError};

use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::mapping::Mapping;
use crate::{standard, text};

/// Which plan the engine follows, and whether it is printed.
#[derive(Debug, Args)]
pub(crate) struct PlanOptions {
    /// Follow the plan in FILE, which --save-plan has written and you may have edited. The option can be given several times:
    /// each graph takes the plan that was made for it
    #[arg(long, hide_short_help = true, value_name = "FILE", conflicts_with_all = ["threads", "machine", "policy", "pools", "mapper"])]
    plan: Vec<PathBuf>,
    /// Print the plan on standard error before the run starts
    #[arg(long, hide_short_help = true)]
    show_plan: bool,
    #[command(flatten)]
    mapping: Mapping,
}

/// The advice below an error in a file that is no text.
const HELP: &str = "\nhelp: name a file that --save-plan has written";

/// A plan as written in a file.
struct Saved {
    path: PathBuf,
    text: String,
    plan: Plan,
}

impl PlanOptions {
    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.plan.iter().map(PathBuf::as_path)
    }

    /// The options that the user has given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [("--plan", !self.plan.is_empty()), ("--show-plan", self.show_plan)];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).chain(self.mapping.given())
    }

    /// Adds the plans to the engine's options. Reads the files, so that a mistake in their text ends the command before
    /// it writes anything.
    pub fn add_to(
        &self,
        options: Options,
        graphs: Graphs,
        machine: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Options> {
        if self.given().next().is_none() {
            return Ok(options);
        }
        let (mapping, target) = (self.mapping.clone(), self.mapping.target(machine, interrupt)?);
        let saved = self.saved(interrupt)?;
        // An application may choose its graph by the number of threads.
        let options = match saved.first() {
            Some(first) => options.threads(first.plan.threads()),
            None => options,
        };
        let show = self.show_plan;
        Ok(options.plan_with(move |graph, made| {
            let plan = match given(&saved, graphs, graph)? {
                Some(given) => given,
                None => mapping.map_declared(made, graph, &target)?,
            };
            if show {
                standard::eprint(&plan.on(graph).to_string());
            }
            Ok(plan)
        }))
    }

    fn saved(&self, interrupt: &Interrupt) -> Result<Vec<Saved>> {
        self.plan.iter().map(|path| Saved::open(path, interrupt)).collect()
    }

    /// Like [`PlanOptions::add_to`], for a program whose plans are for `graph`. A plan that does not fit ends the command
    /// here, before the program prints anything.
    pub fn add_for(
        &self,
        options: Options,
        graph: &GraphData,
        machine: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Options> {
        let saved = self.saved(interrupt)?;
        let Some(plan) = given(&saved, Graphs::One, graph)? else {
            return self.add_to(options, Graphs::One, machine, interrupt);
        };
        if self.show_plan {
            standard::eprint(&plan.on(graph).to_string());
        }
        Ok(options.plan(plan))
    }
}

impl Saved {
    fn open(path: &Path, interrupt: &Interrupt) -> Result<Saved> {
        let text = text::read(path, HELP, interrupt)?;
        let plan: Plan =
            text.parse().map_err(|error: ReadError| in_file(path, error.line(), error.what()))?;
        // The parser has no list of policies.
        let known = Options::new().policy(plan.policy()).check();
        let line = Place::Policy.line_in(&text).unwrap_or(1);
        known.map_err(|unknown| in_file(path, line, format!("{unknown:?}")))?;
        Ok(Saved { path: path.to_owned(), text, plan })
    }
}

/// The saved plan of the graph. Where plans are saved, but none of this graph, the first is refused if the graph is the
/// only one; one of several graphs gets none, with a warning, and follows the plan that the engine makes.
fn given(saved: &[Saved], graphs: Graphs, graph: &GraphData) -> Result<Option<Plan>> {
    let Some(first) = saved.first() else { return Ok(None) };
    let of_graph = Fingerprint::of(graph);
    let found = saved.iter().find(|saved| saved.plan.graph() == of_graph);
    if found.is_none() && graphs == Graphs::Several {
        standard::eprint(&format!(
            "warning: no plan is given for graph `{of_graph}` ({}), which follows the engine's own",
            first_nodes(graph)
        ));
        return Ok(None);
    }
    let Saved { path, text, .. } = found.unwrap_or(first);
    Plan::read(text, graph).map(Some).map_err(|error| in_file(path, error.line(), error.what()))
}

/// The names of the first nodes, which identify the graph for a reader.
fn first_nodes(graph: &GraphData) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<&str> = graph.nodes().iter().take(SHOWN).map(|node| node.name()).collect();
    if graph.nodes().len() > SHOWN {
        names.push("..");
    }
    shown(names.join(", ")).to_string()
}

fn in_file(path: &Path, line: usize, what: impl Display) -> Error {
    anyhow!("{}, line {line}: {what}", shown(path))
}
