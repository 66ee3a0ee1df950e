//! The files of the verbs that make a picture of a picture.

use std::io::{Cursor, Read};
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_danbi::Image;

use crate::engine::Engine;
use crate::interrupt::Interrupt;
use crate::memory::Limit;
use crate::{outputs, size, standard};

/// The bytes that a pixel takes while a picture is processed: those of two pictures, and its light in the channels.
const PIXEL: u64 = 64;

/// The picture that a verb reads, and that which it writes.
#[derive(Debug, Args)]
pub(crate) struct Picture {
    /// The picture: a PNG file, or `-` for standard input
    #[arg(value_name = "PICTURE")]
    input: PathBuf,
    /// Write a PNG file of the same size and colours, which appears when it is complete; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace an existing output file
    #[arg(short, long)]
    force: bool,
    /// Refuse pictures that take more memory
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
}

impl Picture {
    /// Checks the names of all files, and reads the picture.
    pub fn open(&self, engine: &Engine, interrupt: &Interrupt) -> Result<Image> {
        let read = [self.input.as_path()].into_iter().chain(engine.files());
        outputs::check_apart([self.output.as_path()], read)?;
        outputs::check_absent(&self.output, self.force)?;
        engine.check(&[], [self.input.as_path(), &self.output])?;
        self.read(interrupt)
    }

    /// Writes the output.
    pub fn write(&self, image: &Image, interrupt: &Interrupt) -> Result<()> {
        let mut file = Vec::new();
        image.write_png(&mut file).map_err(|error| anyhow!("making a PNG file: {error}"))?;
        outputs::write(&self.output, self.force, &file, interrupt)
    }

    fn read(&self, interrupt: &Interrupt) -> Result<Image> {
        let limit = Limit::new(Some(self.memory));
        let reading = || format!("reading {}", shown(&self.input));
        // No PNG file is larger than its pixels by more than this.
        let longest = limit.bytes.saturating_add(1 << 20);
        let mut file = Vec::new();
        let input = standard::input(&self.input, interrupt)?;
        input.bytes.take(longest).read_to_end(&mut file).with_context(reading)?;
        let pixels = usize::try_from(limit.bytes / PIXEL).unwrap_or(usize::MAX);
        let image = Image::read_png(Cursor::new(file), pixels);
        image.map_err(|error| anyhow!("{error}")).with_context(reading).map_err(|error| {
            let is_large = format!("{error:#}").contains("pixels are more than");
            let help = format!("help: raise --memory, of which a pixel takes {PIXEL} bytes{}", limit.note());
            if is_large { anyhow!("{error:#}\n{help}") } else { error }
        })
    }
}
