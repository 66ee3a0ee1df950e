//! Reads and writes WAV files as streams of samples.

mod header;
mod input;
mod sink;

pub(super) use header::Format;
pub(super) use input::{Described, Samples, Standard};
pub(super) use sink::{Wanted, WavSink};

use std::io;
use thalweg_lang::files::Layout;
use thalweg_lang::hir::Type;
use thalweg_lang::value::Shape;

/// The format of sound to write if the program reads none.
pub(super) const DEFAULT: Format = Format { channels: 1, rate: 44_100, bytes: 2, floats: false };

/// Whether items are integers. Otherwise they are floats. Fails for other types.
pub(super) fn is_int(item: &Layout<'_>) -> io::Result<bool> {
    match item.shape {
        Shape::Scalar(Type::Int) => Ok(true),
        Shape::Scalar(Type::Float) => Ok(false),
        _ => Err(io::Error::new(io::ErrorKind::Unsupported, "a WAV file holds `int` or `float` samples")),
    }
}
