//! `thalweg demo danbi`.

use anyhow::{Result, ensure};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use thalweg_danbi::Program;

use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::memory::Limit;
use crate::{size, standard};

/// The times of its input that a program takes: the input, the items on their way, and the result.
const COPIES: f64 = 3.0;

/// Run a program of the DANBI paper on an input of its own.
///
/// The input is made of a seed, so the checksum of the result is the same at any number of threads and under any policy. With
/// `--check` the result is compared with that of a sequential program. `--scale 1` is the size of Table III of *DANBI: Dynamic
/// Scheduling of Irregular Stream Programs for Many-Core Systems* (Min and Eom, 2013): up to 15 GB.
///
/// RG and SRAD are also tools for pictures of yours: `thalweg blur`, `thalweg despeckle`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo danbi merge-sort --scale 0.01 --report
  thalweg demo danbi fm-radio --policy prs --threads 2 --check
  thalweg demo danbi rg --threads 8 --dilate 20 --report")]
pub(crate) struct Danbi {
    /// The program
    program: Named,
    /// The size of the input, as a share of the paper's
    #[arg(long, value_name = "SHARE", default_value_t = 0.001, allow_negative_numbers = true, value_parser = scale)]
    scale: f64,
    /// The seed of the input
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Compare the result with that of the sequential program
    #[arg(long)]
    check: bool,
    /// Refuse inputs that take more memory
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    #[command(flatten)]
    engine: Engine,
}

/// A program, as an argument.
#[derive(Clone, Copy, Debug)]
struct Named(Program);

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Named] {
        const ALL: [Named; Program::ALL.len()] = {
            let mut all = [Named(Program::FilterBank); Program::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = Named(Program::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let does = match self.0 {
            Program::FilterBank => "Splits a signal into bands, and puts it together again",
            Program::FmRadio => "Receives a station, with an equaliser",
            Program::Fft2 => "Fourier transforms of 64 numbers",
            Program::Tde => "Delays the channels of a radar by fractions of a sample",
            Program::MergeSort => "Sorts by merging in a loop",
            Program::Rg => "Blurs pictures with a recursive filter",
            Program::Srad => "Removes speckle from pictures",
        };
        Some(PossibleValue::new(self.0.name()).help(does))
    }
}

/// Parses a share.
fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok().filter(|scale| (0.0..=1000.0).contains(scale));
    scale.ok_or_else(|| "expected a number from 0 to 1000".to_owned())
}

impl Danbi {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        self.check_memory()?;
        let options = self.engine.options(Graphs::One, interrupt)?;
        self.engine.check(&[], [])?;
        let name = self.program.0.name();
        let problem = self.program.0.problem(self.scale, self.seed);
        let bytes = size::show(problem.bytes() as u64);
        standard::print(&format!("problem   {name}, {bytes}, seed {}\n", self.seed))?;
        let progress = self.engine.steps(None);
        let ran = problem.run(&options);
        progress.end(&ran);
        let (checksum, report) = ran?;
        standard::print(&format!(
            "time      {:.3} s on {} threads\nchecksum  {checksum:08x}\n",
            report.wall().as_secs_f64(),
            report.threads()
        ))?;
        if self.check {
            let expected = problem.sequential();
            ensure!(checksum == expected, "the sequential program's checksum is {expected:08x}");
            standard::print("check     the sequential program has the same result\n")?;
        }
        self.engine.results.finish(&report, || format!("{name}, {bytes}"), interrupt)
    }

    /// Refuses an input that takes too much memory, before it is made.
    fn check_memory(&self) -> Result<()> {
        let bytes = (f64::from(self.program.0.megabytes()) * 1e6 * self.scale * COPIES) as u64;
        let limit = Limit::new(Some(self.memory));
        ensure!(
            bytes <= limit.bytes,
            "{} at scale {} takes {}, the limit is {}\nhelp: choose a smaller --scale, or raise --memory{}",
            self.program.0.name(),
            self.scale,
            size::show(bytes),
            size::show(limit.bytes),
            limit.note()
        );
        Ok(())
    }
}
