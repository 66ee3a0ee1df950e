//! Deduplicating compressor: the five-stage pipeline of PARSEC *dedup* as a real archiver.
//!
//! ```text
//! read ──▶ sample ──▶ look-up ──▶ compress ──▶ write
//! blocks   anchors    in stream   unique data  in stream
//! ~4 MiB              order       of a block   order
//! ```
//!
//! PARSEC cuts chunks, hashes them and looks up their hashes. Here a duplicate is any 128 bytes or more that occurred
//! before: the look-up stage searches around sampled positions, the *anchors*, and compares bytes. So edited files
//! shrink as copies do, and no chunk is hashed only to be found.
//!
//! Each stage is a pure function or a small state machine ([`stage`]), so the same code runs in a sequential loop
//! ([`pack_sequential`]) and as a pipeline on the engine ([`pack`]). Duplicates are found in stream order, so the
//! bytes of the archive do not depend on threads or scheduling. Unpacking has fewer stages:
//!
//! ```text
//! read ──▶ decode ──▶ assemble
//! records  check and    duplicates, order of entries,
//!          decompress   content hash, output
//! ```
//!
//! They also run in a sequential loop ([`extract`]) or on the engine ([`extract_parallel`]), with the same output
//! and the same errors.
//!
//! `FORMAT.md` beside this crate describes the archive byte by byte.
//!
//! ```
//! use thalweg_dedup::{Limits, Params, pack_sequential, unpack_stream};
//!
//! let text = b"the same words, the same words".repeat(4000);
//! let mut archive = Vec::new();
//! let summary = pack_sequential(&text[..], &mut archive, &Params::default())?;
//! assert_eq!(summary.content_bytes, text.len() as u64);
//!
//! let mut back = Vec::new();
//! unpack_stream(&archive[..], &mut back, &Limits::default())?;
//! assert!(back == text);
//! # Ok::<(), thalweg_dedup::Error>(())
//! ```

mod assemble;
mod attributes;
mod block;
mod codec;
mod content;
mod entry;
mod error;
mod extract;
mod failures;
mod format;
#[cfg(test)]
mod hostile;
mod index;
mod names;
mod observe;
mod os;
mod pack;
mod params;
mod pipeline;
mod plan;
mod pool;
mod reader;
mod record;
mod rules;
mod run;
mod sample;
mod shelf;
mod sink;
mod split;
mod stat;
mod summary;
mod table;
mod tree;
mod walk;
mod window;
mod wire;
mod writer;

pub mod stage;

pub use entry::{Attribute, Entry, Meta, Time};
pub use error::{Error, Result};
pub use extract::{extract, unpack_stream, unpack_tree, verify};
pub use format::{FORMAT_VERSION, Footer, Header, Kind, OLDEST_VERSION};
pub use observe::{Observer, Quiet};
pub use pack::{Source, pack_sequential, pack_source_sequential};
pub use params::{Codec, Limits, Matching, Params};
pub use pipeline::{extract_parallel, pack, pack_source};
pub use reader::Archive;
pub use run::{Run, Stop};
pub use sink::{Discard, Sink, StreamSink};
pub use stat::{Listing, Stat, stat};
pub use summary::Summary;
pub use tree::TreeSink;
