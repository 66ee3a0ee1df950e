//! `fastq.*`: a filter of reads at default options beside threads by hand: whole programs, from file to file. A figure is one of
//! their costs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::fastq;
use crate::line::Measure;
use crate::peers::process;
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::{Cost, Session};
use crate::work::fold;

const COSTS: [Cost; 3] = [
    ("time", Measure::Ms, |row| row.seconds),
    ("cpu", Measure::Ms, |row| row.costs.cpu),
    ("memory", Measure::Bytes, |row| row.costs.memory),
];

/// Bytes of the input.
const BYTES: u64 = 200_000_000;
const BYTES_QUICK: u64 = 20_000_000;

/// Runs the figures of this family, if one is selected.
pub fn run(session: &mut Session) {
    let threads = session.options.threads;
    if !COSTS.iter().any(|(cost, ..)| session.selects(&format!("fastq.{cost}.t{threads}"))) {
        return;
    }
    match Race::new(if session.options.quick { BYTES_QUICK } else { BYTES }, threads) {
        Ok(race) => {
            session.costs("fastq", &COSTS, threads, race.contestants());
            session.folders.push(race.folder);
        }
        Err(error) => session.errors.push(format!("fastq: {error}")),
    }
}

/// The files of a race.
struct Race {
    folder: TempDir,
    threads: usize,
    /// The checksum of the output.
    expected: u64,
}

impl Race {
    /// Makes the input.
    fn new(bytes: u64, threads: usize) -> Result<Race, String> {
        let folder = TempDir::with_prefix("thalweg-bench-").map_err(text)?;
        let mut race = Race { folder, threads, expected: 0 };
        fastq::generate(&race.input(), bytes).map_err(text)?;
        race.expected = race.one("loop")?.checksum;
        Ok(race)
    }

    fn input(&self) -> PathBuf {
        self.folder.path().join("reads.fastq")
    }

    fn contestants(&self) -> Vec<Contestant<'_>> {
        let contestant = |name| {
            let role = match name {
                "ours" => Role::Ours,
                "threads" => Role::Peer,
                _ => Role::Aside,
            };
            Contestant::new(name, role, 1, move || self.one(name).map(Some)).expecting(self.expected)
        };
        fastq::CONTESTANTS.map(contestant).into()
    }

    /// Runs a program once, in a process of its own.
    fn one(&self, contestant: &str) -> Result<Row, String> {
        let output = self.folder.path().join("filtered.fastq");
        let mut program = Command::new(std::env::current_exe().map_err(text)?);
        program.args(["--fastq", contestant]).arg(self.input()).arg(&output).arg(self.threads.to_string());
        let row = process::run(&[program], self.folder.path())?;
        let checksum = checksum(&output).map_err(text)?;
        fs::remove_file(&output).map_err(text)?;
        Ok(Row { checksum, ..row })
    }
}

fn checksum(path: &Path) -> std::io::Result<u64> {
    let written = fs::read(path)?;
    let (words, rest) = written.as_chunks::<8>();
    let sum = words.iter().fold(0, |sum, word| fold(sum, u64::from_le_bytes(*word)));
    Ok(rest.iter().fold(sum, |sum, byte| fold(sum, u64::from(*byte))))
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

/// The process of a contestant.
///
/// # Errors
/// The arguments are not a program, two files and a number of threads; or the program fails.
pub fn child(arguments: &[String]) -> Result<(), String> {
    let [contestant, input, output, threads] = arguments else {
        return Err(format!("no program and files: {arguments:?}"));
    };
    let threads = threads.parse().map_err(|_| format!("{threads}: not a number"))?;
    fastq::run(contestant, Path::new(input), Path::new(output), threads)
}
