//! Mistakes in the arguments.

use std::fmt::{self, Display, Formatter};

/// The exit code of a command whose arguments are wrong in themselves, whatever the files hold. It is that of clap.
pub(crate) const EXIT: u8 = 2;

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
