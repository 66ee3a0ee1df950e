//! What all verbs that run on the engine let the user choose.

use anyhow::Result;
use clap::Args;
use thalweg::Options;
use thalweg_dedup::Run;

use crate::interrupt::Interrupt;

/// Threads, policy, report.
#[derive(Debug, Args)]
pub(crate) struct Engine {
    /// Worker threads (default: as many as this process may use)
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    #[arg(long, value_name = "NAME", default_value = "auto", help = policies())]
    policy: String,
    /// Keep each worker thread on one core
    #[arg(long)]
    pin: bool,
    /// Say afterwards what was done and where the time went
    #[arg(long)]
    pub report: bool,
}

/// The policies there are, in the help's words.
fn policies() -> String {
    let names: Vec<&str> = thalweg::policy::registry::names().collect();
    format!("Scheduling policy: {}", names.join(", "))
}

impl Engine {
    /// The run asked for. A signal stops it.
    pub fn run(&self, interrupt: &Interrupt) -> Result<Run> {
        Ok(Run::new(&self.options()?).stop(interrupt.stop()))
    }

    /// The engine's options asked for.
    pub fn options(&self) -> Result<Options> {
        let options = Options::new().policy(&self.policy);
        let options = if self.pin { options.pinned() } else { options };
        let options = match self.threads {
            Some(threads) => options.threads(threads),
            None => options,
        };
        options.check()?;
        Ok(options)
    }
}
