//! `thalweg demo pipelines`.

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use thalweg::Report;

use crate::engine::Engine;
use crate::interrupt::Interrupt;
use crate::memory::Limit;
use crate::size;

mod des;
mod dnn;
mod lz77;
mod synthetic;
mod text;

/// Run a pipeline that is easy or hard to map to caches and workers.
///
/// The programs are those of the thesis "Locality-Aware Concurrency Platforms for Streaming Applications" (sections 3.3 and 4.3).
/// Chains of kernels differ in what they need: DES has the same volume on all edges; LZ77 has one kernel that does nearly all of the
/// work; DNN has state to keep in caches, and edges of different volume; synthetic pipelines are drawn from a seed. The result is
/// the same at any number of threads and under any policy. With `--check` it is compared with that of a sequential program.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo pipelines des --bytes 1MiB --check
  thalweg demo pipelines lz77 book.txt -o book.lz77
  thalweg demo pipelines dnn --inputs 100 --threads 2 --report
  thalweg demo pipelines synthetic --modules 20 --items 1000 --check")]
pub(crate) struct Pipelines {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    Des(des::Des),
    Lz77(lz77::Lz77),
    Dnn(dnn::Dnn),
    Synthetic(synthetic::Synthetic),
}

impl Pipelines {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        match self.program {
            Program::Des(des) => des.run(interrupt),
            Program::Lz77(lz77) => lz77.run(interrupt),
            Program::Dnn(dnn) => dnn.run(interrupt),
            Program::Synthetic(synthetic) => synthetic.run(interrupt),
        }
    }
}

/// How a program runs.
#[derive(Debug, Args)]
struct Run {
    /// Compare the result with that of the sequential program
    #[arg(long)]
    check: bool,
    /// Refuse runs that take more memory
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    #[command(flatten)]
    engine: Engine,
}

impl Run {
    /// Refuses a program that takes too much memory, before it is made.
    fn check_memory(&self, bytes: u64, help: &str) -> Result<()> {
        let limit = Limit::new(Some(self.memory));
        ensure!(
            bytes <= limit.bytes,
            "this program takes {}, the limit is {}\nhelp: {help}, or raise --memory{}",
            size::show(bytes),
            size::show(limit.bytes),
            limit.note()
        );
        Ok(())
    }

    /// Compares a checksum with that of the sequential program, if that is wanted, and returns the line about it.
    fn compare(&self, checksum: u64, sequential: impl FnOnce() -> Result<u64>) -> Result<&'static str> {
        if !self.check {
            return Ok("");
        }
        let expected = sequential()?;
        ensure!(checksum == expected, "the sequential program's checksum is {expected:x}");
        Ok("check     the sequential program has the same result\n")
    }
}

/// The line about the time of a run.
fn time(report: &Report) -> String {
    format!("time      {:.3} s on {} threads\n", report.wall().as_secs_f64(), report.threads())
}
