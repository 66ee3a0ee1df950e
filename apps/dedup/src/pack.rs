//! Sequential packing: the reference for the bytes of the archive, and the baseline of one core without an engine.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use thalweg::embed::graph::shown;
use thalweg_files::{Status, status};

use crate::Result;
use crate::content::Content;
use crate::error::Doing;
use crate::format::Kind;
use crate::observe::{Observer, Quiet};
use crate::params::Params;
use crate::plan::Planner;
use crate::record::encode;
use crate::sample::sample;
use crate::split::Splitter;
use crate::summary::Summary;
use crate::writer::ArchiveWriter;

/// The input of packing.
pub enum Source<'a> {
    /// A stream of bytes: a pipe, a slice.
    Stream(Box<dyn Read + Send + 'a>),
    /// A regular file, packed as a stream. Its length is that of `before`: a change while it is read is a failure.
    File {
        /// The file, at its beginning.
        file: File,
        /// Its status when it was opened.
        before: Status,
        /// Its path, for messages.
        path: PathBuf,
    },
    /// A directory tree.
    Tree {
        /// The root folder.
        root: PathBuf,
        /// Device and inode of files to skip: of the archive being written, and of the one that it replaces.
        leave_out: Vec<(u64, u64)>,
        /// Whether extended attributes are stored.
        attributes: bool,
    },
}

impl<'a> Source<'a> {
    /// A stream of bytes.
    pub fn stream(input: impl Read + Send + 'a) -> Self {
        Source::Stream(Box::new(input))
    }

    /// A regular file that was opened at `path`.
    ///
    /// # Errors
    /// Its status cannot be read.
    pub fn file(file: File, path: &Path) -> Result<Self> {
        let before = status(&file).doing(|| format!("reading {}", shown(path)))?;
        Ok(Source::File { file, before, path: path.to_owned() })
    }

    /// The kind of the archive.
    pub fn kind(&self) -> Kind {
        match self {
            Source::Stream(_) | Source::File { .. } => Kind::Stream,
            Source::Tree { .. } => Kind::Tree,
        }
    }

    /// The first stage for this input.
    pub fn split(self, params: &Params, observer: Box<dyn Observer + 'a>) -> Result<Splitter<'a>> {
        match self {
            Source::Stream(input) => Ok(Splitter::stream(input, params, observer)),
            Source::File { file, before, path } => {
                Ok(Splitter::file(Content::new(file, before, path), params, observer))
            }
            Source::Tree { root, leave_out, attributes } => {
                Splitter::tree(&root, leave_out, attributes, params, observer)
            }
        }
    }
}

/// Packs a stream of bytes in a loop on this thread.
pub fn pack_sequential(input: impl Read + Send, output: impl Write, params: &Params) -> Result<Summary> {
    pack_source_sequential(Source::stream(input), output, params, Box::new(Quiet))
}

/// Packs a stream or a tree in a loop on this thread.
pub fn pack_source_sequential<'a>(
    source: Source<'a>,
    output: impl Write,
    params: &Params,
    observer: Box<dyn Observer + 'a>,
) -> Result<Summary> {
    params.validate()?;
    let kind = source.kind();
    let blocks = source.split(params, observer)?;
    let mut writer = ArchiveWriter::new(output, kind, params)?;
    let mut planner = Planner::new(params);
    for block in blocks {
        let group = planner.add(sample(block?, &params.matching));
        writer.record(encode(group, params)?)?;
    }
    writer.finish().map(|(_, summary)| summary)
}
