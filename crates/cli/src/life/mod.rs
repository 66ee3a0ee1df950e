//! `thalweg demo life`.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use clap::{ArgGroup, Args};
use thalweg::embed::graph::shown;
use thalweg_files::OutFile;
use thalweg_stencils::life::{Error, Life as World, Pattern, Rule, Settled, Settling};

use crate::interrupt::{Interrupt, InterruptNote};
use crate::memory::Limit;
use crate::progress::Progress;
use crate::threads::Threads;
use crate::{outputs, size, standard, text};

use pictures::{Pictures, Show, columns_and_rows};

mod pictures;

/// The columns and rows of table 5.1 of *Locality-Aware Concurrency Platforms*.
const TORUS: (usize, usize) = (16_384, 655_360);

/// Run Conway's game of life, and other rules of its form.
///
/// Reads a pattern in the RLE format of Golly and LifeWiki, computes generations on all cores, and prints what has become
/// of it. Cells live on an unbounded plane or on a torus of a given size. The generations are the same at any number of
/// threads.
///
/// A cell takes two bits. Those of a plane are the cells of the smallest rectangle around all that live, so two gliders that fly
/// apart take memory and time for all cells between them. What exceeds --memory is refused before it is allocated.
///
/// A pattern that this command has written goes on where it was: the position and the generation are those of its line
/// `#CXRLE Pos=X,Y Gen=N`. Without that line a pattern is at (0, 0) of a plane, or in the middle of a torus.
///
/// A world has settled when it repeats with a period of at most 60 generations; on a plane, but for gliders and other ships
/// that leave and never meet anything. Periods are not searched in planes of more than 65536 living cells.
///
/// Ctrl-C stops after the present generation, and prints and writes what has been reached.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("start").required(true), after_long_help = footer())]
#[command(group = ArgGroup::new("sized").args(["torus", "random"]).multiple(true))]
pub(crate) struct Life {
    /// A file in the RLE format, `-` for standard input, or the name of a built-in pattern
    #[arg(value_name = "PATTERN", group = "start")]
    pattern: Option<PathBuf>,
    /// Begin with random cells, half of them alive, in a rectangle of the given size
    #[arg(long, value_name = "SEED", group = "start")]
    random: Option<u64>,
    /// Begin with random cells on a torus of 16384/S columns and 655360/S rows, and compute 5 generations, as in table 5.1 of
    /// "Locality-Aware Concurrency Platforms" (Maglalang, 2017); without S, its own size (2.5 GiB)
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "1", group = "start",
          conflicts_with_all = ["size", "torus"], value_parser = clap::value_parser!(u32).range(1..=4096))]
    scale: Option<u32>,
    /// Columns and rows of the torus or of the random cells
    #[arg(long, value_name = "WxH", default_value = "1024x1024", value_parser = columns_and_rows, requires = "sized")]
    size: (usize, usize),
    /// Make opposite sides neighbours. Without it the plane is unbounded
    #[arg(long)]
    torus: bool,
    /// The rule, such as B36/S23: numbers of neighbours with which cells are born and survive (default: the pattern's). It
    /// replaces that of the pattern, which may then have any form
    #[arg(long, value_parser = |text: &str| text.parse::<Rule>())]
    rule: Option<Rule>,
    /// Generations to compute (default: 2000, with --scale 5)
    #[arg(short, long, value_name = "N")]
    generations: Option<u64>,
    /// Stop when the world is known to have settled
    #[arg(long)]
    until_settled: bool,
    #[command(flatten)]
    threads: Threads,
    /// The greatest memory of the cells. A pattern or a --size that needs more is refused at once, and a plane that grows
    /// beyond it ends with an error
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    /// Write the last generation in the RLE format, or to standard output for `-`. A file appears when it is complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    force: bool,
    #[command(flatten)]
    show: Show,
}

fn footer() -> String {
    let names: Vec<String> = Pattern::names().map(|(name, what)| format!("  {name:<32} {what}\n")).collect();
    format!(
        "Built-in patterns (a file of such a name is ./NAME):
{}
Examples:
  thalweg demo life r-pentomino --until-settled
  thalweg demo life acorn --animate --fps 60 -g 120  in the terminal
  thalweg demo life gosper-gun -g 300 -o gun.rle     the last generation
  thalweg demo life pattern.rle --torus --size 200x100
  thalweg demo life --random 7 --size 512x512 --torus -g 100 --threads 1
  thalweg demo life r-pentomino -g 1103 --frames pictures --every 10
  thalweg demo life --scale 64",
        names.concat()
    )
}

/// The generations that were computed.
struct Outcome {
    world: World,
    settled: Option<Settled>,
    took: Duration,
    /// Cells of all generations.
    cells: f64,
}

impl Life {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let threads = self.threads.of_team(false)?;
        let limit = Limit::new(Some(self.memory));
        let file = self.pattern.as_deref().filter(|path| built_in(path).is_none());
        outputs::check_apart(self.output.as_deref(), file)?;
        let world = self.world(limit, interrupt)?;
        let world = match threads {
            Some(threads) => world.threads(threads),
            None => world,
        };
        // From here on a signal ends the run after a generation.
        let _guard = interrupt.guard();
        let output = self.output.as_deref().map(|path| self.create(path)).transpose()?;
        let pictures = self.show.begin(&world, limit, self.force)?;
        let outcome = self.evolve(world, pictures, limit, interrupt)?;
        let summary = outcome.summary();
        if let Some(mut output) = output {
            output.write_all(outcome.world.to_rle().as_bytes()).context("writing the pattern")?;
            output.commit()?;
        }
        if self.output.as_deref().is_some_and(standard::is_dash) {
            standard::eprint(&summary);
        } else {
            standard::print(&format!("{summary}\n"))?;
        }
        if interrupt.stop().is_requested() {
            return Err(InterruptNote("interrupted: the generations so far are above".into()).into());
        }
        Ok(())
    }

    fn create(&self, path: &Path) -> Result<OutFile> {
        Ok(match standard::is_dash(path) {
            true => OutFile::direct(standard::stdout()?),
            false => OutFile::create(path, self.force)?.durable(false),
        })
    }

    fn generations(&self) -> u64 {
        self.generations.unwrap_or(if self.scale.is_some() { 5 } else { 2000 })
    }

    /// The first generation.
    fn world(&self, limit: Limit, interrupt: &Interrupt) -> Result<World> {
        let world = match (&self.pattern, self.random) {
            (None, seed) => {
                let (seed, rule) = (seed.unwrap_or_default(), self.rule.unwrap_or(Rule::CONWAY));
                let of_scale = |scale| (TORUS.0 / scale as usize, TORUS.1 / scale as usize);
                let size = self.scale.map_or(self.size, of_scale);
                World::random(seed, size, rule, self.torus || self.scale.is_some(), limit.size())
            }
            (Some(path), _) => {
                let pattern = read(path, self.rule, interrupt)?;
                match self.torus {
                    true => World::torus(&pattern, self.size, limit.size()),
                    false => World::plane(&pattern, limit.size()),
                }
            }
        };
        world.map_err(|error| limit.explain(error, is_memory))
    }

    fn evolve(
        &self,
        mut world: World,
        mut pictures: Pictures,
        limit: Limit,
        interrupt: &Interrupt,
    ) -> Result<Outcome> {
        let progress =
            if pictures.animates() { Progress::hidden() } else { Progress::steps(Some(self.generations())) };
        let begin = world.generation();
        let mut settling = Settling::new(&world);
        let started = Instant::now();
        let mut cells = 0.0;
        let mut steps = || -> Result<()> {
            pictures.show(&world)?;
            while world.generation() - begin < self.generations() && !interrupt.stop().is_requested() {
                if self.until_settled && settling.settled().is_some() {
                    break;
                }
                world.step().map_err(|error| limit.explain(error, is_memory))?;
                settling.observe(&world);
                let (width, height) = world.size();
                cells += width as f64 * height as f64;
                progress.reach(world.generation() - begin);
                pictures.show(&world)?;
            }
            Ok(())
        };
        let ended = steps();
        progress.finish();
        pictures.end();
        ended?;
        Ok(Outcome { world, settled: settling.settled(), took: started.elapsed(), cells })
    }
}

fn is_memory(error: &Error) -> bool {
    matches!(error, Error::Memory { .. })
}

/// The built-in pattern of this name, which comes before a file of this name.
fn built_in(path: &Path) -> Option<Pattern> {
    path.to_str().and_then(Pattern::named)
}

/// Reads a pattern, or finds a built-in one. `rule` replaces its rule.
fn read(path: &Path, rule: Option<Rule>, interrupt: &Interrupt) -> Result<Pattern> {
    if let Some(mut pattern) = built_in(path) {
        pattern.rule = rule.unwrap_or(pattern.rule);
        return Ok(pattern);
    }
    if !standard::is_dash(path) && fs::symlink_metadata(path).is_err() {
        let names: Vec<&str> = Pattern::names().map(|(name, _)| name).collect();
        return Err(anyhow!(
            "{} is neither a file nor a built-in pattern\nhelp: built-in patterns are {}",
            shown(path),
            names.join(", ")
        ));
    }
    let text = text::bytes(path, "\nhelp: name a pattern in RLE", interrupt)?;
    let text = String::from_utf8_lossy(&text);
    rule.map_or_else(|| Pattern::parse(&text), |rule| Pattern::parse_with_rule(&text, rule))
        .with_context(|| format!("reading {}", shown(path)))
}

impl Outcome {
    fn summary(&self) -> String {
        let world = &self.world;
        let extent = match world.bounds() {
            Some((left, top, right, bottom)) => {
                format!("{} x {} cells from ({left}, {top})", right - left + 1, bottom - top + 1)
            }
            None => "none".to_owned(),
        };
        format!(
            "generation  {}\npopulation  {}\nextent      {extent}\nsettled     {}\ntime        {:.3} s, {:.3} ns a cell",
            world.generation(),
            world.population(),
            self.settled.map_or("no".to_owned(), repetition),
            self.took.as_secs_f64(),
            self.took.as_secs_f64() * 1e9 / self.cells.max(1.0),
        )
    }
}

fn repetition(settled: Settled) -> String {
    let plural =
        |count: u64, word: &str| if count == 1 { word.to_owned() } else { format!("{count} {word}s") };
    let every = plural(settled.period, "generation");
    let ships = match settled.ships {
        0 => String::new(),
        1 => ", but for 1 ship that leaves".to_owned(),
        ships => format!(", but for {ships} ships that leave"),
    };
    format!("at generation {}: repeats every {every}{ships}", settled.generation)
}
