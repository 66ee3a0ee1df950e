//! `thalweg dedup pack`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Args;
use thalweg::Options;
use thalweg_dedup::{Codec, OutFile, Params, Source, pack_source};

use super::report;
use crate::progress::Progress;
use crate::{size, standard};

/// Pack a file, a directory tree or standard input.
///
/// Equal parts are stored once, wherever they occur; the rest is compressed. The archive's bytes
/// depend on the input and on the options about the format, and on nothing else: not on the number
/// of threads, not on the policy.
///
/// Of a tree, names, contents, permission bits, times of change and symbolic links are kept; hard
/// links become files of their own (which deduplicate to nothing), owners are not kept, and
/// sockets, pipes and devices are skipped with a warning.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg dedup pack photos -o photos.thd          a folder
  thalweg dedup pack disk.img -o disk.thd          a file
  tar c src | thalweg dedup pack - -o src.tar.thd  standard input
  thalweg dedup pack logs -o - | ssh host 'cat > logs.thd'
  thalweg dedup pack disk.img -o disk.thd --codec zstd --level 12 --threads 8 --report")]
pub(crate) struct Pack {
    /// What to pack: a file, a folder, or `-` for standard input
    input: PathBuf,
    /// The archive to write, or `-` for standard output; it appears when it is complete
    #[arg(short, long, value_name = "ARCHIVE")]
    output: PathBuf,
    /// Replace an existing archive
    #[arg(short, long)]
    force: bool,
    /// How to compress what is unique
    #[arg(long, value_name = "zstd|gzip|none", default_value = "zstd")]
    codec: Codec,
    /// Level of the codec: zstd -100 to 22 (default 3), gzip 0 to 9 (default 6)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    level: Option<i32>,
    /// Memory for the index of seen chunks; when it is full, the oldest are forgotten
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size::parse)]
    index_bytes: u64,
    /// How far back a duplicate may lie, in bytes of unique data; unpacking needs as much memory
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::parse)]
    window: u64,
    /// Worker threads (default: as many as this process may use)
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Scheduling policy: auto, random, qes, pss or prs
    #[arg(long, value_name = "NAME", default_value = "auto")]
    policy: String,
    /// Say afterwards what was done and where the time went
    #[arg(long)]
    report: bool,
}

impl Pack {
    pub fn run(self) -> Result<()> {
        ensure!(self.threads != Some(0), "--threads 0: at least one thread is needed");
        let params = self.params();
        params.validate()?;
        let output = open_output(&self.output, self.force)?;
        let (source, progress) = self.source(&output)?;
        let started = Instant::now();
        let mut output = output;
        let packed = pack_source(source, &mut output, &params, Box::new(progress.clone()), &self.options());
        progress.finish();
        let (summary, run) = packed.with_context(|| format!("packing {}", self.input.display()))?;
        output.commit()?;
        if self.report {
            standard::complain(&format!("{}\n\n{run}", report(&summary, started.elapsed())));
        }
        Ok(())
    }

    fn options(&self) -> Options {
        let options = Options::new().policy(&self.policy);
        match self.threads {
            Some(threads) => options.threads(threads),
            None => options,
        }
    }

    fn params(&self) -> Params {
        let params = Params::default().codec(self.codec).index_bytes(self.index_bytes).window(self.window);
        match self.level {
            Some(level) => params.level(level),
            None => params,
        }
    }

    fn source(&self, output: &OutFile) -> Result<(Source<'static>, Progress)> {
        if !standard::is_dash(&self.input) {
            let meta =
                fs::metadata(&self.input).with_context(|| format!("reading {}", self.input.display()))?;
            if meta.is_dir() {
                let tree = Source::Tree { root: self.input.clone(), leave_out: output.identity() };
                return Ok((tree, Progress::new(None)));
            }
        }
        let (input, length) = standard::input(&self.input)?;
        Ok((Source::stream(input), Progress::new(length)))
    }
}

/// The archive to be, or standard output for `-`.
pub(super) fn open_output(path: &Path, force: bool) -> Result<OutFile> {
    if standard::is_dash(path) {
        return Ok(OutFile::direct(standard::stdout()?));
    }
    Ok(OutFile::create(path, force)?)
}
