//! Compression of one buffer into another, with thread-local contexts.
//!
//! Creating a context costs as much as compressing some tens of kilobytes, so each thread keeps one for each
//! codec. A context carries no state from one call to the next that could change the output.

use std::cell::RefCell;
use std::io::Cursor;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use zstd::bulk::{Compressor, Decompressor};

use crate::error::Doing;
use crate::params::Codec;
use crate::wire::Parsed;
use crate::{Error, Result};

/// A context and its level.
type Cached<C> = RefCell<Option<(i32, C)>>;

thread_local! {
    static ZSTD: Cached<Compressor<'static>> = const { RefCell::new(None) };
    static UNZSTD: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static DEFLATE: Cached<Compress> = const { RefCell::new(None) };
    static INFLATE: RefCell<Option<Decompress>> = const { RefCell::new(None) };
}

/// Appends `data` to `out`, compressed by `codec`, or uncompressed if compression does not make it shorter. Returns
/// the codec used.
pub(crate) fn compress(codec: Codec, level: i32, data: &[u8], out: &mut Vec<u8>) -> Result<Codec> {
    let start = out.len();
    match codec {
        Codec::None => {}
        Codec::Zstd => zstd(level, data, out).doing(|| "compressing with zstd".into())?,
        Codec::Gzip => deflate(level, data, out)?,
    }
    if codec != Codec::None && out.len() - start < data.len() {
        return Ok(codec);
    }
    out.truncate(start);
    out.extend_from_slice(data);
    Ok(Codec::None)
}

/// Decompresses `stored` to `out`. Fails unless it has exactly `raw` bytes.
pub(crate) fn decompress(codec: Codec, stored: &[u8], raw: usize, out: &mut Vec<u8>) -> Parsed<()> {
    out.clear();
    out.reserve(raw);
    match codec {
        Codec::None => out.extend_from_slice(stored),
        Codec::Zstd => unzstd(stored, raw, out)?,
        Codec::Gzip => inflate(stored, raw, out)?,
    }
    if out.len() == raw {
        Ok(())
    } else {
        Err(format!("a part of the record has {} bytes decompressed, expected {raw}", out.len()))
    }
}

fn zstd(level: i32, data: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
    ZSTD.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some((at, compressor)) if *at == level => compressor,
            _ => &mut kept.insert((level, Compressor::new(level)?)).1,
        };
        let start = out.len();
        out.reserve(zstd::zstd_safe::compress_bound(data.len()));
        let mut room = Cursor::new(out);
        room.set_position(start as u64);
        compressor.compress_to_buffer(data, &mut room).map(drop)
    })
}

fn unzstd(stored: &[u8], raw: usize, out: &mut Vec<u8>) -> Parsed<()> {
    UNZSTD.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new().map_err(|e| e.to_string())?),
        };
        // Limits the output to `raw` bytes: the capacity of a recycled buffer may be larger.
        out.resize(raw, 0);
        let room = &mut out[..];
        let filled = decompressor.decompress_to_buffer(stored, room).map_err(|e| format!("zstd: {e}"))?;
        out.truncate(filled);
        Ok(())
    })
}

fn deflate(level: i32, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
    DEFLATE.with_borrow_mut(|kept| {
        let context = match kept {
            Some((at, context)) if *at == level => context,
            _ => &mut kept.insert((level, Compress::new(Compression::new(level as u32), false))).1,
        };
        context.reset();
        // Incompressible data grows a little. Data that does not fit is stored uncompressed anyway.
        out.reserve(data.len() + data.len() / 1000 + 64);
        match context.compress_vec(data, out, FlushCompress::Finish) {
            Ok(Status::StreamEnd) => Ok(()),
            Ok(_) => {
                out.extend_from_slice(data);
                Ok(())
            }
            Err(e) => Err(Error::io("compressing with gzip", e.into())),
        }
    })
}

fn inflate(stored: &[u8], raw: usize, out: &mut Vec<u8>) -> Parsed<()> {
    INFLATE.with_borrow_mut(|kept| {
        let context = kept.get_or_insert_with(|| Decompress::new(false));
        context.reset(false);
        out.resize(raw, 0);
        let status = context
            .decompress(stored, &mut out[..], FlushDecompress::Finish)
            .map_err(|e| format!("gzip: {e}"))?;
        let whole = status == Status::StreamEnd && context.total_in() == stored.len() as u64;
        out.truncate(context.total_out() as usize);
        if whole { Ok(()) } else { Err("gzip: the compressed data do not end at the end of the part".into()) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<Vec<u8>> {
        let mut state = 1u32;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        vec![vec![], vec![7], b"abc".repeat(10_000), noise.take(100_000).collect()]
    }

    #[test]
    fn every_codec_round_trips_and_never_grows() {
        for codec in [Codec::None, Codec::Zstd, Codec::Gzip] {
            for data in samples() {
                let mut out = b"head".to_vec();
                let how = compress(codec, codec.default_level(), &data, &mut out).unwrap();
                assert!(out.starts_with(b"head") && out.len() <= 4 + data.len());
                let mut back = vec![1, 2, 3];
                decompress(how, &out[4..], data.len(), &mut back).unwrap();
                assert!(back == data);
            }
        }
    }

    #[test]
    fn a_wrong_length_is_an_error() {
        let data = b"abc".repeat(1000);
        for codec in [Codec::None, Codec::Zstd, Codec::Gzip] {
            let mut out = Vec::new();
            compress(codec, codec.default_level(), &data, &mut out).unwrap();
            for wrong in [0, data.len() - 1, data.len() + 1] {
                assert!(decompress(codec, &out, wrong, &mut Vec::new()).is_err(), "{codec:?} {wrong}");
            }
        }
    }
}
