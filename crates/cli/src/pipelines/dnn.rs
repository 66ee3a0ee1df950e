//! `thalweg demo pipelines dnn`.

use anyhow::Result;
use clap::Args;
use thalweg_pipelines::dnn::Parameters;

use super::{Run, time};
use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::{size, standard};

/// Pass inputs through layers of perceptrons: a kernel for each layer, with weights to keep in a cache, and edges of two volumes.
///
/// A perceptron gives 1 if the weighted sum of what it observes is above its threshold, else 0. Of each four edges one is thin: the
/// layer behind it observes few perceptrons, and only these cross. A mapping that knows the work alone cuts thick edges, and one that
/// knows the misses cuts thin ones. The network is no trained one: a seed gives connections, weights and thresholds.
///
/// For an experiment, choose the sizes so that the state of all layers, which is printed, is some times as large as a cache.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo pipelines dnn --inputs 100 --check --threads 2
  thalweg demo pipelines dnn --perceptrons 256 --thin 8 --inputs 100 --report")]
pub(super) struct Dnn {
    /// The inputs that pass through the network
    #[arg(long, value_name = "N", default_value_t = 1000)]
    inputs: u64,
    /// The layers
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    layers: u32,
    /// The perceptrons of a layer
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    perceptrons: u32,
    /// The perceptrons that cross a thin edge
    #[arg(long, value_name = "N", default_value_t = 32)]
    thin: u32,
    /// The perceptrons that each one observes behind a thick edge
    #[arg(long, value_name = "N", default_value_t = 8)]
    connections: u32,
    /// The perceptrons that each one observes behind a thin edge
    #[arg(long, value_name = "N", default_value_t = 8)]
    thin_connections: u32,
    /// The inputs of a firing
    #[arg(long, value_name = "N", default_value_t = 1)]
    batch: u32,
    /// The seed of network and inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    run: Run,
}

impl Dnn {
    fn parameters(&self) -> Parameters {
        Parameters {
            layers: self.layers,
            perceptrons: self.perceptrons,
            thin: self.thin,
            connections: self.connections,
            thin_connections: self.thin_connections,
            batch: self.batch,
            seed: self.seed,
        }
    }

    pub(super) fn run(self, interrupt: &Interrupt) -> Result<()> {
        let options = self.run.engine.options(Graphs::One, interrupt)?;
        self.run.engine.check(&[], [])?;
        let parameters = self.parameters();
        parameters.check().map_err(Misuse::new)?;
        let state = parameters.state_bytes();
        // Each edge holds what two firings pass on, as 32-bit numbers.
        let edges = 8 * u64::from(self.layers + 1) * u64::from(self.perceptrons) * u64::from(self.batch);
        self.run.check_memory(state + edges, "choose fewer layers, perceptrons or connections")?;
        let counts = format!("{} layers of {} perceptrons", self.layers, self.perceptrons);
        standard::print(&format!(
            "problem   dnn, {counts}, state of {}, {} inputs\n",
            size::show(state),
            self.inputs
        ))?;
        let network = parameters.network();
        let progress = self.run.engine.steps(None);
        let ran = network.graph(self.inputs, self.seed).run_with(&options);
        progress.end(&ran);
        let (sum, report) = ran.map_err(thalweg::Error::from)?.into_parts();
        standard::print(&format!("{}checksum  {sum:016x}\n", time(&report)))?;
        standard::print(self.run.compare(sum, || Ok(network.sequential(self.inputs, self.seed)))?)?;
        self.run.engine.results.finish(&report, || counts, interrupt)
    }
}
