//! `thalweg dedup pack`.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use thalweg_dedup::{Codec, Params, Source, pack_source};

use super::{OutputOptions, report};
use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::standard::Input;
use crate::{size, standard};

/// Pack a file, a directory tree or standard input.
///
/// Duplicate data is stored once, wherever it occurs. The rest is compressed. The bytes of the archive
/// depend only on the input and on the options of the format, not on threads and policy.
///
/// An archive of a tree stores names, contents, symbolic links, read, write and execute permissions, and
/// modification times (except of links). Owners are not stored. Hard links become separate files, which
/// deduplication reduces to references. Sockets, pipes and devices are skipped with a warning.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg dedup pack photos -o photos.thd          a folder
  thalweg dedup pack disk.img -o disk.thd          a file
  tar c src | thalweg dedup pack - -o src.tar.thd  standard input
  thalweg dedup pack logs -o - | ssh host 'cat > logs.thd'
  thalweg dedup pack disk.img -o disk.thd --codec zstd --level 12 --threads 8 --report")]
pub(crate) struct Pack {
    /// The file or folder to pack, or `-` for standard input
    input: PathBuf,
    /// The archive to write, or `-` for standard output. A file appears when it is complete
    #[arg(short, long, value_name = "ARCHIVE")]
    output: PathBuf,
    /// Compression of unique data
    #[arg(long, value_name = "zstd|gzip|none", default_value = "zstd")]
    codec: Codec,
    /// Level of the codec: zstd -100 to 22 (default 3), gzip 0 to 9 (default 6)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    level: Option<i32>,
    /// Memory for the index of positions at which duplicates may begin. New positions replace older ones
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = size::parse)]
    index_bytes: u64,
    /// Maximum distance of a duplicate, in bytes of unique data. Packing and unpacking need as much memory
    #[arg(long, value_name = "SIZE", default_value = "96MiB", value_parser = size::parse)]
    window: u64,
    #[command(flatten)]
    disk: OutputOptions,
    #[command(flatten)]
    engine: Engine,
}

impl Pack {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let run = self.engine.run(Graphs::One, interrupt)?;
        self.engine.check(&[], [self.input.as_path(), &self.output])?;
        let params = self.params();
        params.validate()?;
        let input = self.input(interrupt)?;
        let _guard = OutputOptions::guard(&self.output, interrupt);
        let mut output = self.disk.file(&self.output)?;
        let (source, progress, run) = match input {
            Some(Input { bytes, length }) => {
                (Source::stream(bytes), self.engine.progress(length), run.blocking_input(length.is_none()))
            }
            None => {
                let tree = Source::Tree { root: self.input.clone(), leave_out: output.identity() };
                (tree, self.engine.progress(None), run)
            }
        };
        let started = Instant::now();
        let packed = pack_source(source, &mut output, &params, Box::new(progress.clone()), run);
        progress.end(&packed);
        let (summary, run) = packed.with_context(|| format!("packing {}", self.input.display()))?;
        output.commit()?;
        let took = started.elapsed();
        self.engine.results.finish(&run, || report(&summary, took), interrupt)
    }

    fn params(&self) -> Params {
        let params = Params::default().codec(self.codec).index_bytes(self.index_bytes).window(self.window);
        match self.level {
            Some(level) => params.level(level),
            None => params,
        }
    }

    /// Opens the input. Returns `None` for a tree.
    fn input(&self, interrupt: &Interrupt) -> Result<Option<Input>> {
        if !standard::is_dash(&self.input) {
            let meta = fs::metadata(&self.input);
            let meta = meta.with_context(|| format!("reading {}", self.input.display()))?;
            if meta.is_dir() {
                return Ok(None);
            }
        }
        standard::input(&self.input, interrupt).map(Some)
    }
}
