//! `--threads`, the same for all verbs.

use anyhow::Result;
use clap::Args;
use thalweg::Options;
use thalweg::embed::runtime::EmbedOptions;

use crate::misuse::Misuse;
use crate::standard;

/// The number of threads.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Threads {
    /// Worker threads (default: the number of cores that this process may use)
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

impl Threads {
    /// The number, if the user has chosen it.
    pub fn given(self) -> Option<usize> {
        self.threads
    }

    /// The number for loops and graphs of tasks, which run on the threads of the process: at most one for each core that it
    /// may use. Prints a note if these are fewer than the given ones, unless `quiet`.
    ///
    /// # Errors
    /// The number is outside the range of the engine's option.
    pub fn of_team(self, quiet: bool) -> Result<Option<usize>> {
        let Some(threads) = self.threads else { return Ok(None) };
        Options::new().threads(threads).check().map_err(|error| Misuse::new(format!("{error:?}")))?;
        let team = thalweg::loops::team_size();
        if threads > team && !quiet {
            standard::eprint(&format!(
                "note: --threads {threads} is more than the cores that this process may use, so {team} threads run"
            ));
        }
        Ok(Some(threads))
    }
}
