//! Finds the cuts in a video, a stream of pictures that carry their sizes.
//!
//! ```text
//! cargo run --release --example video -- [FILE]
//! ffmpeg -i clip.mp4 -vf scale=160:-2 -f image2pipe -c:v ppm - | cargo run --release --example video -- -
//!
//! FILE  binary PPM pictures, one after the other, or - for standard input [default: a generated clip]
//! ```
//!
//! A framing function finds where each picture ends, in order; pictures are analysed in parallel; a window of two
//! compares neighbours. It prints a line for each cut.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use thalweg::node::NotYet;
use thalweg::prelude::*;
use thalweg::{Run, output, window};

/// Bytes of the channel that pictures are found in.
const BYTES: usize = 4 << 20;
/// Cells of a picture, in each direction.
const CELLS: usize = 8;
/// Mean change of brightness, of 255, that makes a cut.
const CUT: u32 = 24;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let video: Box<dyn Read + Send> = match std::env::args().nth(1).as_deref() {
        None => Box::new(Cursor::new(generated(&[40, 25, 60], (160, 90)))),
        Some("-") => Box::new(io::stdin()),
        Some(path) => Box::new(File::open(path)?),
    };
    let cuts = cuts(video)?;
    cuts.iter()
        .for_each(|(picture, change)| println!("cut at picture {picture}: brightness changes by {change}"));
    println!("{} pictures, {} cuts", cuts.report().nodes()[1].firings(), cuts.len());
    Ok(())
}

/// The numbers of pictures that begin a scene, each with the change of brightness.
fn cuts(mut video: impl Read + Send) -> Result<Run<Vec<(usize, u32)>>, thalweg::Error> {
    let graph = Graph::new();
    let mut block = vec![0; 1 << 16];
    let bytes = graph.kernel("read", (), output("bytes")).blocking().sequential(move |(), bytes| {
        let count = video.read(&mut block)?;
        bytes.extend(block[..count].iter().copied());
        Ok::<_, io::Error>(if count == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let cells = graph
        .kernel("analyse", window("bytes", bytes.capacity(BYTES)), output("cells").push(1))
        .framed(|bytes| Ok(Header::find(|at| Ok(bytes.peek(at)?.copied()))?.map(|header| header.end())))
        .parallel(|picture, cells| cells.push(brightness(picture.as_slice())));
    let mut picture = 0;
    let changes = cells.windows(2, 1, move |pair| {
        picture += 1;
        let (before, after) = (pair.get(0).expect("two"), pair.get(1).expect("two"));
        let change: u32 = before.iter().zip(after).map(|(a, b)| a.abs_diff(*b)).sum();
        (picture, change / (CELLS * CELLS) as u32)
    });
    changes.filter(|(_, change)| *change >= CUT).collect().run().map_err(thalweg::Error::from)
}

/// The header of a picture: `P6 WIDTH HEIGHT 255`, and one space or line feed.
struct Header {
    width: usize,
    height: usize,
    length: usize,
}

impl Header {
    /// `byte` returns the byte at a place, or none at the end of the stream.
    fn find(byte: impl Fn(usize) -> Result<Option<u8>, NotYet>) -> Result<Option<Header>, NotYet> {
        let Some(first) = byte(0)? else { return Ok(None) };
        assert!(first == b'P' && byte(1)? == Some(b'6'), "not a stream of binary PPM pictures");
        let (mut at, mut numbers) = (2, [0; 3]);
        for number in &mut numbers {
            at += 1;
            while let Some(digit) = byte(at)?.filter(u8::is_ascii_digit) {
                *number = 10 * *number + usize::from(digit - b'0');
                at += 1;
            }
        }
        let [width, height, _] = numbers;
        Ok(Some(Header { width, height, length: at + 1 }))
    }

    fn end(&self) -> usize {
        self.length + 3 * self.width * self.height
    }
}

/// The mean brightness of each cell.
fn brightness(picture: &[u8]) -> [u32; CELLS * CELLS] {
    let (mut sums, mut counts) = ([0; CELLS * CELLS], [0; CELLS * CELLS]);
    let Ok(Some(Header { width, height, length })) = Header::find(|at| Ok(picture.get(at).copied())) else {
        return sums;
    };
    for (i, pixel) in picture[length..].chunks_exact(3).enumerate() {
        let cell = i / width * CELLS / height * CELLS + i % width * CELLS / width;
        sums[cell] += pixel.iter().map(|colour| u32::from(*colour)).sum::<u32>() / 3;
        counts[cell] += 1;
    }
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum /= count.max(1));
    sums
}

/// A clip of scenes, each with a number of pictures.
fn generated(scenes: &[usize], (width, height): (usize, usize)) -> Vec<u8> {
    let mut video = Vec::new();
    for (scene, pictures) in scenes.iter().enumerate() {
        for picture in 0..*pictures {
            video.extend(format!("P6 {width} {height} 255\n").bytes());
            let bright = |x: usize, y: usize| (x + y + picture) / 4 + 110 * (scene % 2);
            video.extend((0..width * height).flat_map(|i| [bright(i % width, i / width) as u8; 3]));
        }
    }
    video
}
