//! `thalweg despeckle`.

use anyhow::{Context, Result};
use clap::Args;
use thalweg::Report;
use thalweg_danbi::Image;
use thalweg_danbi::srad::{self, Parameters, Plane, Region};

use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::picture::Picture;

/// Remove speckle from an ultrasonic or radar picture, on all cores.
///
/// Speckle-reducing anisotropic diffusion (Yu and Acton) smooths a picture in steps, and less where the contrast is higher than
/// that of the speckle. `--region` names a part of the picture without edges, which shows how high that is; without it, it is the
/// contrast of the whole picture, and edges are smoothed more. Each colour is a picture of its own. A step is the
/// program SRAD of the DANBI paper, and the report is that of the last one.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg despeckle scan.png -o smooth.png
  thalweg despeckle scan.png --region 0,0,4,4 --steps 50 -o smooth.png --force")]
pub(crate) struct Despeckle {
    #[command(flatten)]
    picture: Picture,
    /// Steps of the diffusion
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// A part of the picture without edges, in pixels: left column, top row, columns and rows
    #[arg(long, value_name = "X,Y,W,H", value_parser = region)]
    region: Option<Region>,
    #[command(flatten)]
    engine: Engine,
}

/// Parses a region.
fn region(text: &str) -> Result<Region, String> {
    let numbers: Result<Vec<u32>, _> = text.split(',').map(str::parse).collect();
    match numbers.as_deref() {
        Ok([x, y, width @ 1..=u32::MAX, height @ 1..=u32::MAX]) => {
            let range = |begin: u32, length: u32| begin as usize..begin as usize + length as usize;
            Ok(Region { columns: range(*x, *width), rows: range(*y, *height) })
        }
        _ => Err("expected four numbers, such as 10,20,64,64, of which the last two are not zero".to_owned()),
    }
}

impl Despeckle {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let image = self.picture.open(&self.engine, interrupt)?;
        self.check_region(&image)?;
        let colours = if image.colour.is_grey() { 1 } else { 3 };
        let planes = (0..colours).map(|colour| Plane::of(&image, colour)).collect();
        let (planes, report) = self.diffuse(planes, interrupt)?;
        let smooth = image.with_colours(|pixel, colour| planes[colour.min(colours - 1)].byte(pixel));
        let counts = format!("{} x {} pixels, {} steps", image.width(), image.height(), self.steps);
        self.picture.write(&smooth, interrupt)?;
        self.engine.results.finish(&report, || counts, interrupt)
    }

    fn check_region(&self, image: &Image) -> Result<()> {
        let inside =
            |region: &Region| region.columns.end <= image.width() && region.rows.end <= image.height();
        anyhow::ensure!(
            self.region.as_ref().is_none_or(inside),
            Misuse::new(format!(
                "--region: not within the {} x {} pixels of the picture",
                image.width(),
                image.height()
            ))
        );
        Ok(())
    }

    /// The planes after all steps, and the report of the last one.
    fn diffuse(&self, mut planes: Vec<Plane>, interrupt: &Interrupt) -> Result<(Vec<Plane>, Report)> {
        let mut smooth = planes.clone();
        let options = self.engine.options(Graphs::One, interrupt)?;
        let parameters = Parameters { region: self.region.clone(), ..Parameters::default() };
        let progress = self.engine.steps(Some(self.steps.into()));
        let mut last = None;
        for step in 0..self.steps {
            let ran = srad::graph(&planes, &mut smooth, &parameters).run_with(&options);
            if ran.is_err() || step + 1 == self.steps {
                progress.end(&ran);
            }
            last = Some(ran.map_err(thalweg::Error::from)?.into_parts().1);
            std::mem::swap(&mut planes, &mut smooth);
            progress.reach(u64::from(step) + 1);
        }
        Ok((planes, last.context("no step")?))
    }
}
