//! Makes thumbnails of a folder of pictures on all cores, with a bound on the pictures in memory.
//!
//! ```text
//! cargo run --release --example thumbnails -- [FOLDER] [OUT]
//!
//! FOLDER  binary PPM pictures, as `djpeg photo.jpg > photo.ppm` makes them [default: 24 generated pictures]
//! OUT     where thumbnails go [default: thalweg-thumbnails in the folder for temporary files]
//! ```
//!
//! It prints a line for each picture, in the order of their names.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{fs, io};

/// Pictures in memory at a time.
const PICTURES: usize = 6;
/// Pixels of a thumbnail's longer side.
const SIDE: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let here = std::env::temp_dir().join("thalweg-thumbnails");
    let folder = arguments.next().map_or_else(|| generated(&here.join("pictures"), 24), Ok)?;
    let (lines, most) = thumbnails(&folder, &arguments.next().unwrap_or(here))?;
    lines.iter().for_each(|line| println!("{line}"));
    println!("{} pictures, at most {most} of them in memory at a time", lines.len());
    Ok(())
}

/// Writes a thumbnail of each picture; returns a line for each and the most pictures that were in memory.
fn thumbnails(folder: &Path, out: &Path) -> Result<(Vec<String>, usize), Box<dyn std::error::Error>> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "ppm"));
    paths.sort();
    fs::create_dir_all(out)?;
    let (loaded, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (lines, _report) = thalweg::from_iter(paths)
        .in_flight(PICTURES, |paths| {
            let read = paths.try_map(|path| {
                most.fetch_max(loaded.fetch_add(1, Relaxed) + 1, Relaxed);
                fs::read(&path).map(|bytes| (path, bytes))
            });
            let read = read.named("read").blocking();
            read.try_par_map(|(path, bytes)| {
                let no_picture = || format!("{}: not a PPM picture", path.display());
                let large = Picture::decode(&bytes).ok_or_else(no_picture)?;
                let small = large.shrink();
                loaded.fetch_sub(1, Relaxed);
                Ok::<_, String>((path, (large.width, large.height), small))
            })
        })
        .try_map(|(path, (width, height), small)| {
            let name = path.file_name().unwrap_or_default();
            fs::write(out.join(name), small.encode())?;
            let (name, to) = (name.display(), (small.width, small.height));
            Ok::<_, io::Error>(format!("{name}: {width}x{height} to {}x{}", to.0, to.1))
        })
        .collect()
        .run()?
        .into_parts();
    Ok((lines, most.load(Relaxed)))
}

/// Rows of pixels of three bytes.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn decode(file: &[u8]) -> Option<Picture> {
        let mut words = file.splitn(5, u8::is_ascii_whitespace);
        let magic = words.next()?;
        let mut number = || str::from_utf8(words.next()?).ok()?.parse::<usize>().ok();
        let (width, height, most) = (number()?, number()?, number()?);
        let pixels = words.next()?.to_vec();
        let fits = pixels.len() == 3 * width * height && width * height > 0;
        (magic == b"P6" && most == 255 && fits).then_some(Picture { width, height, pixels })
    }

    fn encode(&self) -> Vec<u8> {
        [format!("P6 {} {} 255\n", self.width, self.height).as_bytes(), &self.pixels].concat()
    }

    /// Each pixel of the result is the mean of a square.
    fn shrink(&self) -> Picture {
        let step = self.width.max(self.height).div_ceil(SIDE);
        let (width, height) = ((self.width / step).max(1), (self.height / step).max(1));
        let mean = |at: usize| {
            let (x, y, colour) = (at / 3 % width * step, at / 3 / width * step, at % 3);
            let column = |i: usize| (x + i % step).min(self.width - 1);
            let row = |i: usize| (y + i / step).min(self.height - 1);
            let byte = |i: usize| usize::from(self.pixels[3 * (row(i) * self.width + column(i)) + colour]);
            ((0..step * step).map(byte).sum::<usize>() / (step * step)) as u8
        };
        Picture { width, height, pixels: (0..3 * width * height).map(mean).collect() }
    }
}

/// Writes pictures of several sizes.
fn generated(folder: &Path, pictures: usize) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    for i in 0..pictures {
        let (width, height) = (400 + 40 * (i % 5), 300);
        let shade = |at: usize| (at / 3 % width * (i + 1) / 4 + at / 900) as u8;
        let pixels = (0..3 * width * height).map(shade).collect();
        fs::write(folder.join(format!("{i:03}.ppm")), Picture { width, height, pixels }.encode())?;
    }
    Ok(folder.to_owned())
}
