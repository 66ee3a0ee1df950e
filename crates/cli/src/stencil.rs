//! `thalweg demo stencil`.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use thalweg_stencils::cg::{self, Cg};
use thalweg_stencils::fdtd::Cavity;
use thalweg_stencils::heat::{Heat, Measured};
use thalweg_stencils::mg::{self, Mg};
use thalweg_stencils::{Class, Verified};

use crate::memory::Limit;
use crate::misuse::Misuse;
use crate::threads::Threads;
use crate::{size, standard};

/// The rows and columns of plates and cavities at scale 1, as in table 5.1 of *Locality-Aware Concurrency Platforms*.
const PLATE: (usize, usize) = (655_360, 16_384);

/// The rows of the matrix and the nonzeros of its vectors at scale 1.
const MATRIX: (usize, usize) = (900_000, 26);

/// The points along an edge of the cube at scale 1.
const CUBE: usize = 2048;

/// Run a numerical program that sweeps over arrays, and check its result.
///
/// Each program computes a quantity that is known: heat and fields are compared with theory, the NAS benchmarks with the
/// values of their report. A result that differs by more than the method allows is an error. All results are the same at
/// any number of threads.
///
/// `--scale S` divides the lengths of table 5.1 of "Locality-Aware Concurrency Platforms" (Maglalang, 2017) by S. Its own
/// sizes (scale 1) take up to 240 GiB. Memory is announced, and refused before it is used if it exceeds `--memory`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo stencil heat --scale 512 --steps 100   1280 x 32 cells, 100 steps
  thalweg demo stencil fdtd --scale 512 --threads 1
  thalweg demo stencil cg --class S                   the smallest class
  thalweg demo stencil mg --class S")]
pub(crate) struct Stencil {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    /// Heat in a plate with cold edges: a sine wave decays at the rate of theory.
    #[command(after_long_help = "Example:
  thalweg demo stencil heat --scale 512 --steps 100")]
    Heat(Plate),
    /// A field in a cavity, in the time domain: it resonates at the frequency of theory.
    #[command(after_long_help = "Example:
  thalweg demo stencil fdtd --scale 512 --threads 1")]
    Fdtd(Plate),
    /// The NAS benchmark CG: conjugate gradients on a random sparse matrix.
    #[command(after_long_help = "Example:
  thalweg demo stencil cg --class S")]
    Cg(Nas),
    /// The NAS benchmark MG: a multigrid method in a periodic cube.
    #[command(after_long_help = "Example:
  thalweg demo stencil mg --class S")]
    Mg(Nas),
}

#[derive(Debug, Args)]
struct Plate {
    /// Divides 655360 rows and 16384 columns
    #[arg(long, value_name = "S", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    scale: u32,
    /// Steps to compute
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..))]
    steps: u64,
    #[command(flatten)]
    machine: Machine,
}

#[derive(Debug, Args)]
struct Nas {
    /// The class of the problem: S, W, A, B or C. The result is compared with the report's
    #[arg(long)]
    class: Option<Class>,
    /// Divides 900000 rows of the matrix (cg, default 16), or 2048 points along an edge (mg, a power of two, default 8).
    /// Nothing is known of the result
    #[arg(long, value_name = "S", conflicts_with = "class", value_parser = clap::value_parser!(u32).range(1..=512))]
    scale: Option<u32>,
    #[command(flatten)]
    machine: Machine,
}

#[derive(Debug, Args)]
struct Machine {
    #[command(flatten)]
    threads: Threads,
    /// Refuse problems that take more memory
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
}

impl Machine {
    /// Announces a problem, unless it takes too much memory, and returns the number of threads for it, if one is given.
    fn announce(&self, problem: &str, bytes: Option<usize>) -> Result<Option<usize>> {
        let threads = self.threads.of_team(false)?;
        let bytes = bytes.map_or(u64::MAX, |bytes| bytes as u64);
        let limit = Limit::new(Some(self.memory));
        ensure!(
            bytes <= limit.bytes,
            "{problem} takes {}, the limit is {}\n\
             help: choose a larger --scale or a smaller class, or raise --memory{}",
            size::show(bytes),
            size::show(limit.bytes),
            limit.note()
        );
        standard::print(&format!("problem   {problem}, {}\n", size::show(bytes)))?;
        Ok(threads)
    }
}

impl Stencil {
    pub fn run(self) -> Result<()> {
        match self.program {
            Program::Heat(plate) => plate.heat(),
            Program::Fdtd(plate) => plate.fdtd(),
            Program::Cg(nas) => nas.cg(),
            Program::Mg(nas) => nas.mg(),
        }
    }
}

impl Plate {
    fn size(&self) -> (usize, usize) {
        (PLATE.0 / self.scale as usize, PLATE.1 / self.scale as usize)
    }

    fn heat(&self) -> Result<()> {
        let (rows, columns) = self.size();
        let problem = format!("heat in {rows} x {columns} cells, {} steps", self.steps);
        let threads = self.machine.announce(&problem, Heat::bytes(rows, columns))?;
        let mut heat = match threads {
            Some(threads) => Heat::on(rows, columns, threads),
            None => Heat::new(rows, columns),
        };
        let started = Instant::now();
        heat.run(self.steps);
        self.finish(started, "rate of decay", heat.decay())
    }

    fn fdtd(&self) -> Result<()> {
        let (rows, columns) = self.size();
        let problem = format!("a field in {rows} x {columns} cells, {} steps", self.steps);
        let threads = self.machine.announce(&problem, Cavity::bytes(rows, columns))?;
        let mut cavity = match threads {
            Some(threads) => Cavity::on(rows, columns, threads),
            None => Cavity::new(rows, columns),
        };
        let started = Instant::now();
        cavity.run(self.steps);
        self.finish(started, "frequency", cavity.frequency())
    }

    fn finish(&self, started: Instant, quantity: &str, value: Measured) -> Result<()> {
        let took = started.elapsed().as_secs_f64();
        let (rows, columns) = self.size();
        let cells = rows as f64 * columns as f64 * self.steps as f64;
        standard::print(&format!(
            "result    {quantity} {:.9e}, theory {:.9e}\nerror     {:.1e}, the method allows {:.1e}\n\
             time      {took:.3} s, {:.3} ns a cell\n",
            value.measured,
            value.theory,
            value.error().abs(),
            value.tolerance,
            took * 1e9 / cells
        ))?;
        ensure!(value.agrees(), "the {quantity} differs from theory by more than the method allows");
        Ok(())
    }
}

impl Nas {
    fn cg(&self) -> Result<()> {
        let problem = match (self.class, self.scale.unwrap_or(16) as usize) {
            (Some(class), _) => cg::Problem::class(class),
            (None, scale) => cg::Problem::one_system(MATRIX.0 / scale, MATRIX.1),
        };
        let text =
            format!("CG {}with {} rows, iterations {}", self.named(), problem.rows, problem.iterations);
        let threads = self.machine.announce(&text, problem.bytes())?;
        let made = Instant::now();
        let mut cg = match threads {
            Some(threads) => Cg::on(problem, threads),
            None => Cg::new(problem),
        };
        let matrix =
            format!("matrix    {} numbers, made in {:.3} s\n", cg.nonzeros(), made.elapsed().as_secs_f64());
        standard::print(&matrix)?;
        let started = Instant::now();
        let zeta = cg.run();
        finish(started, "zeta", zeta)
    }

    fn mg(&self) -> Result<()> {
        let problem = match (self.class, self.scale.unwrap_or(8) as usize) {
            (Some(class), _) => mg::Problem::class(class),
            (None, scale) => {
                let near = scale.next_power_of_two();
                let help = format!("use {} or {near}", near / 2);
                let refusal = format!("--scale {scale} is no power of two, which mg needs\nhelp: {help}");
                ensure!(scale == near, Misuse::new(refusal));
                mg::Problem::one_cycle(CUBE / scale)
            }
        };
        let (side, cycles) = (problem.side, problem.iterations);
        let text = format!("MG {}with {side} x {side} x {side} points, V-cycles {cycles}", self.named());
        let threads = self.machine.announce(&text, problem.bytes())?;
        let mut mg = match threads {
            Some(threads) => Mg::on(problem, threads),
            None => Mg::new(problem),
        };
        let started = Instant::now();
        let norm = mg.run();
        finish(started, "residual", norm)
    }

    fn named(&self) -> String {
        self.class.map_or_else(String::new, |class| format!("class {class} "))
    }
}

fn finish(started: Instant, quantity: &str, value: Verified) -> Result<()> {
    let took = started.elapsed().as_secs_f64();
    let verdict = match (value.agrees(), value.expected) {
        (Some(true), Some(expected)) => format!("verified: the report states {expected:.12e}"),
        (Some(false), Some(expected)) => format!("WRONG: the report states {expected:.12e}"),
        _ => "no value is known for this size".to_owned(),
    };
    standard::print(&format!(
        "result    {quantity} {:.12e}, {verdict}\ntime      {took:.3} s\n",
        value.value
    ))?;
    ensure!(value.agrees() != Some(false), "the {quantity} differs from that of the NAS report");
    Ok(())
}
