//! `app.*`: applications beside the libraries that people use for them, which Python calls (`bench/peers/apps.py`).

mod align;
mod pagerank;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::row::{Row, timed};
use crate::session::Session;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    pagerank::run(session);
    align::run(session);
}

/// The runs of which the fastest counts, in the peers' script too.
const ROUNDS: usize = 3;

/// The fastest of several runs.
fn fastest(mut run: impl FnMut() -> u64) -> Row {
    let rows = (0..ROUNDS).map(|_| timed(&mut run));
    rows.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("several runs")
}

/// A folder with the input of the peers.
struct Folder(TempDir);

impl Folder {
    fn new() -> Result<Folder, String> {
        tempfile::tempdir().map(Folder).map_err(|error| format!("a folder for the peers' input: {error}"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds a file.
    fn file(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.path().join(name);
        fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// The folder as the first argument of the script, with others.
    fn arguments(&self, before: &[&str], after: &[usize]) -> Vec<String> {
        let before = before.iter().map(|word| (*word).to_owned());
        let folder = self.path().display().to_string();
        before.chain([folder]).chain(after.iter().map(usize::to_string)).collect()
    }
}
