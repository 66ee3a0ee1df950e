//! What `thalweg demo life` shows of a world while it evolves: an animation in the terminal, and pictures in files.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_files::OutFile;
use thalweg_stencils::life::{Life, View};

use crate::memory::Limit;
use crate::watch::screen;

/// Columns and rows of the pictures of a plane, at least.
const LEAST: usize = 256;

/// The most columns, and the most rows, of a world.
const MOST: usize = 1 << 30;

/// What to show.
#[derive(Debug, Args)]
#[command(next_help_heading = "Picture options")]
pub(crate) struct Show {
    /// Show the cells in the terminal of standard error, a generation at a time
    #[arg(long)]
    animate: bool,
    /// Generations a second of the animation
    #[arg(long, value_name = "N", default_value_t = 20, requires = "animate",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    fps: u32,
    /// Write pictures into this folder: DIR/generation-000000.png and so on
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,
    /// Write a picture of every K-th generation
    #[arg(long, value_name = "K", default_value_t = 1, requires = "frames",
          value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// Pixels of a cell, in both directions
    #[arg(long, value_name = "N", default_value_t = 2, requires = "frames",
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pixels: u16,
    /// Cells of a picture (default: the torus, or 256x256 and at least the first generation, around its centre)
    #[arg(long, value_name = "WxH", requires = "frames", value_parser = columns_and_rows)]
    view: Option<(usize, usize)>,
}

/// Parses `200x100`.
pub(crate) fn columns_and_rows(text: &str) -> Result<(usize, usize), String> {
    let number = |text: &str| text.parse().ok().filter(|number| (1..=MOST).contains(number));
    let size = text.split_once('x').and_then(|(columns, rows)| number(columns).zip(number(rows)));
    size.ok_or_else(|| format!("expected columns and rows like 200x100, each from 1 to {MOST}"))
}

/// The animation and the files of a run.
#[derive(Debug)]
pub(crate) struct Pictures {
    /// The window of a picture.
    view: View,
    /// The time between two frames, and the time of the next one.
    animation: Option<(Duration, Instant)>,
    files: Option<Files>,
}

#[derive(Debug)]
struct Files {
    folder: PathBuf,
    every: u64,
    pixels: usize,
    force: bool,
}

impl Show {
    /// Prepares what is asked for.
    pub fn begin(&self, world: &Life, limit: Limit, force: bool) -> Result<Pictures> {
        let view = self.window(world);
        let bytes = view.png_bytes(self.pixels.into());
        ensure!(
            self.frames.is_none() || bytes <= limit.bytes.into(),
            "a picture of {}x{} cells takes {bytes} bytes of memory, more than the limit of {}{}\n\
             help: choose another --view or fewer --pixels",
            view.width,
            view.height,
            limit.bytes,
            limit.note()
        );
        let animation = self.animate.then(|| (Duration::from_secs(1) / self.fps, Instant::now()));
        ensure!(
            animation.is_none() || screen::is_possible() && screen::begin(),
            "--animate needs a terminal on standard error\nhelp: use --frames to write pictures into files"
        );
        let files = self.frames.clone().map(|folder| {
            let is_file = folder.exists() && !folder.is_dir();
            ensure!(
                !is_file,
                "{} is no folder, and --frames needs one\nhelp: choose another name",
                folder.display()
            );
            if !folder.is_dir() {
                fs::create_dir(&folder).with_context(|| format!("creating {}", shown(&folder)))?;
            }
            Ok::<_, anyhow::Error>(Files { folder, every: self.every, pixels: self.pixels.into(), force })
        });
        Ok(Pictures { view, animation, files: files.transpose()? })
    }

    fn window(&self, world: &Life) -> View {
        let (left, top, right, bottom) = match (world.is_torus(), world.bounds()) {
            (true, _) => (0, 0, world.size().0 as i64 - 1, world.size().1 as i64 - 1),
            (false, bounds) => bounds.unwrap_or_default(),
        };
        let length = |from: i64, to: i64| usize::try_from(to - from + 1).unwrap_or(1);
        let view = View { left, top, width: length(left, right), height: length(top, bottom) };
        match self.view {
            Some((width, height)) => view.resized(width, height),
            None if world.is_torus() => view,
            None => view.resized(view.width.max(LEAST), view.height.max(LEAST)),
        }
    }
}

impl Pictures {
    /// Whether the terminal shows frames.
    pub fn animates(&self) -> bool {
        self.animation.is_some()
    }

    /// Shows the present generation: as a frame at its time, and as a file if it is its turn.
    pub fn show(&mut self, world: &Life) -> Result<()> {
        if let Some((pause, next)) = &mut self.animation {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            *next = (*next + *pause).max(Instant::now());
            screen::draw(|size| frame(self.view, world, size));
        }
        match &self.files {
            Some(files) if world.generation().is_multiple_of(files.every) => files.write(self.view, world),
            _ => Ok(()),
        }
    }

    /// Ends the animation, whose last frame stays.
    pub fn end(&self) {
        if self.animates() {
            screen::end(true);
        }
    }
}

/// A frame: a line of numbers, and as many cells as fit.
fn frame(view: View, world: &Life, size: screen::Size) -> Vec<String> {
    let columns = size.columns.saturating_sub(1);
    let (width, height) = (columns.min(view.width), (2 * size.rows.saturating_sub(2)).min(view.height));
    let mut numbers = format!("generation {}, {} cells", world.generation(), world.population());
    numbers.truncate(columns);
    let mut lines = vec![numbers];
    lines.extend(view.resized(width, height).lines(world));
    lines
}

impl Files {
    fn write(&self, view: View, world: &Life) -> Result<()> {
        let path: &Path = &self.folder.join(format!("generation-{:06}.png", world.generation()));
        let png = view.png(world, self.pixels).map_err(|error| anyhow!(error))?;
        let mut file = OutFile::create(path, self.force)?.durable(false);
        file.write_all(&png).with_context(|| format!("writing {}", shown(path)))?;
        Ok(file.commit()?)
    }
}
