//! Writes results as data: a table of tab-separated values below a description of the machine.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::line::Line;
use crate::machine;
use crate::race::Record;

/// Everything measured in one session of the benchmark.
pub struct Results {
    text: String,
    /// The file, if the results are kept.
    pub path: Option<PathBuf>,
}

impl Results {
    /// An empty table below the machine's description and `notes`, for the file `path`.
    pub fn new(path: Option<PathBuf>, notes: &[(&'static str, String)]) -> Self {
        let mut text = String::new();
        let about = [("date", machine::stamp()), ("command", machine::command())];
        for (name, value) in about.iter().chain(&machine::describe()).chain(notes) {
            _ = writeln!(text, "# {name}: {value}");
        }
        text.push_str(
            "# row: figure contestant round kept seconds cpu_s foreign_s stolen_s wall_s disturbance\n",
        );
        text.push_str("# value: figure contestant role value unit\n");
        text.push_str("# ratio: figure of to mean low high\n");
        text.push_str("# line: figure ours best_peer best ratio target verdict noisy\n");
        Self { text, path }
    }

    /// Adds a figure: every run, the value of every contestant, the paired ratios, and the line.
    pub fn add(&mut self, line: &Line, records: &[Record]) {
        records.iter().for_each(|record| self.add_row(&line.name, record));
        let unit = line.measure.unit();
        for (entry, value) in &line.values {
            let role = format!("{:?}", entry.role).to_lowercase();
            _ = writeln!(self.text, "value\t{}\t{}\t{role}\t{value:.4}\t{unit}", line.name, entry.name);
        }
        for ratio in &line.ratios {
            _ = writeln!(self.text, "ratio\t{}\t{}", line.name, ratio.fields());
        }
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
        let (peer, best) = line.best.map_or(("-", None), |(peer, best)| (peer, Some(best)));
        let (ours, best, ratio) = (number(line.ours), number(best), number(line.ratio()));
        let (name, target, verdict, noisy) = (&line.name, line.target, line.verdict(), line.noisy);
        _ = writeln!(
            self.text,
            "line\t{name}\t{ours}\t{peer}\t{best}\t{ratio}\t{target}\t{verdict}\t{noisy}"
        );
    }

    /// Adds a remark on a figure.
    pub fn note(&mut self, remark: &str) {
        _ = writeln!(self.text, "# note: {remark}");
    }

    fn add_row(&mut self, figure: &str, record: &Record) {
        let Record { contestant, round, kept, disturbance, row, interval } = record;
        _ = writeln!(
            self.text,
            "row\t{figure}\t{contestant}\t{round}\t{kept}\t{:.9}\t{:.6}\t{:.3}\t{:.3}\t{:.6}\t{disturbance:.4}",
            row.seconds, interval.own, interval.foreign, interval.stolen, interval.wall,
        );
    }

    /// Writes the table to its file, completely or not at all: an interrupted session leaves all figures up to the last call.
    pub fn save(&self) -> Result<(), String> {
        let Some(path) = &self.path else { return Ok(()) };
        replace(path, &self.text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// Replaces the contents of a file, by a rename.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, text)?;
    fs::rename(&part, path)
}

/// The folder of the results.
pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("results")
}

/// The default path of the results; `what` is a suffix that names a partial measurement.
pub fn default_path(what: &str) -> PathBuf {
    folder().join(format!("{}{what}-{}.tsv", machine::stamp(), machine::slug()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/results.tsv");
        let mut results = Results::new(Some(path.clone()), &[]);
        for remark in ["first", "second"] {
            results.note(remark);
            results.save().unwrap();
            assert!(fs::read_to_string(&path).unwrap().ends_with(&format!("# note: {remark}\n")));
        }
        let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(files.len(), 1, "no other file stays");
        results.path = Some(path.join("below-a-file"));
        assert!(results.save().is_err());
        results.path = None;
        assert!(results.save().is_ok());
    }
}
