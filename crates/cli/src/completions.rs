//! `thalweg completions`.

use anyhow::Result;
use clap::Args;
use clap_complete::{Shell, generate};

use crate::standard;

/// Print a script that completes commands and options in a shell.
///
/// The script goes to standard output. It completes verbs, options, their values and file names. Zsh finds it in a folder
/// that ~/.zshrc adds to `fpath` before `compinit`; fish in ~/.config/fish/completions.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg completions bash >> ~/.bash_completion
  mkdir -p ~/.zfunc && thalweg completions zsh > ~/.zfunc/_thalweg
  thalweg completions fish > thalweg.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Prints the script for `command`.
    pub fn run(self, mut command: clap::Command) -> Result<()> {
        let mut script = Vec::new();
        generate(self.shell, &mut command, "thalweg", &mut script);
        standard::print_by(|| std::io::Write::write_all(&mut std::io::stdout(), &script))
    }
}
