//! `thalweg blur`.

use anyhow::{Context, Result};
use clap::Args;
use thalweg_danbi::rg::{self, Parameters};

use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::picture::Picture;

/// Blur a picture, on all cores.
///
/// The filter is close to that with a Gauss function (Deriche's recursive filter), and takes the same time at any radius. Colours
/// are weighed by their opacity. Beyond its borders the picture continues with its last pixels. It is the program RG of the
/// DANBI paper.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg blur photo.png -o soft.png
  thalweg blur photo.png --radius 2.5 -o - > soft.png")]
pub(crate) struct Blur {
    #[command(flatten)]
    picture: Picture,
    /// The standard deviation of the Gauss function, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 10.0, value_parser = radius)]
    radius: f32,
    #[command(flatten)]
    engine: Engine,
}

/// Parses a radius. Single precision has no digits for a filter that is much wider.
fn radius(text: &str) -> Result<f32, String> {
    let radius = text.parse().ok().filter(|radius| (0.1..=200.0).contains(radius));
    radius.ok_or_else(|| "expected a number from 0.1 to 200".to_owned())
}

impl Blur {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let options = self.engine.options(Graphs::One, interrupt)?;
        let image = self.picture.open(&self.engine, interrupt)?;
        let images = std::slice::from_ref(&image);
        let progress = self.engine.steps(None);
        let ran = rg::graph(images, &Parameters { sigma: self.radius }).run_with(&options);
        progress.end(&ran);
        let (blurred, report) = ran.map_err(thalweg::Error::from)?.into_parts();
        let counts = format!("{} x {} pixels", image.width(), image.height());
        self.picture.write(blurred.first().context("the run has made no picture")?, interrupt)?;
        self.engine.results.finish(&report, || counts, interrupt)
    }
}
