//! Mistakes in the arguments, and exit codes.

use std::fmt::{self, Display, Formatter};

/// The exit code of a command whose arguments are wrong in themselves, whatever the files hold. It is that of clap.
pub(crate) const EXIT: u8 = 2;

/// The exit codes, as each help text shows them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    the command has done what it was asked to do
  1    it has failed: a file is missing or wrong, cannot be written, or exceeds a limit
  2    the arguments are wrong, and nothing was begun; of `dedup pack` and
       `unpack` also: entries that the warnings name are not as they were
  130  Ctrl-C has ended it; 143 SIGTERM, 129 SIGHUP (as a shell reports these)";

/// The arguments are wrong in themselves: a value outside of its range, or options that exclude each other.
#[derive(Debug)]
pub(crate) struct Misuse(String);

impl Misuse {
    /// A mistake with this message.
    pub fn new(message: impl Display) -> Misuse {
        Misuse(message.to_string())
    }
}

impl Display for Misuse {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

/// Adds the exit codes to the help of a command and of its verbs.
pub(crate) fn with_exit_codes(command: clap::Command) -> clap::Command {
    let help = match command.get_after_help() {
        Some(help) if !help.to_string().is_empty() => format!("{help}\n\n{EXIT_CODES}"),
        _ => EXIT_CODES.to_owned(),
    };
    command.after_help(help).mut_subcommands(with_exit_codes)
}
