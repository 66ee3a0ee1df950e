//! `thalweg demo wordcount`.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg::embed::runtime::EmbedOptions;
use thalweg_inputs::WithoutMark;
use thalweg_wordcount::{Case, Ranking, Shape, count, map_reduce};

use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
#[cfg(feature = "cluster")]
use crate::processes::Processes;
use crate::progress::Progress;
use crate::standard::{self, Input};

#[cfg(feature = "cluster")]
mod shared;

/// Count the words of files, on all cores.
///
/// Prints a line `COUNT WORD` for each distinct word, ordered by count, the most frequent first, and then by
/// bytes.
///
/// A word is a maximal run of ASCII letters, digits and bytes above 127 (so UTF-8 letters belong to words). All
/// other bytes separate words. Words are compared and printed as bytes, so the text need not be UTF-8. A word
/// ends at the end of its file, a byte order mark at the beginning of a file is skipped, and a run of more than 65536
/// bytes counts as several words.
///
/// Several processes count parts of the same files, which all of them must be able to read. If standard input is among them,
/// process 0 reads all, and the others get blocks of the text.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo wordcount book.txt --top 20
  thalweg demo wordcount --ignore-case *.txt > counts
  zcat access.log.gz | thalweg demo wordcount | head
  thalweg launch -n 2 -- thalweg demo wordcount book.txt > counts
  zcat access.log.gz | thalweg launch -n 2 -- thalweg demo wordcount | head")]
pub(crate) struct Wordcount {
    /// The files to read, or `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Print only the K most frequent words (default: all)
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    /// Count `A` as `a` (ASCII letters only)
    #[arg(short, long)]
    ignore_case: bool,
    /// Count as MapReduce does, for comparison: mappers sort the words of a block, and reducers merge them
    #[arg(long)]
    map_reduce: bool,
    #[command(flatten)]
    engine: Engine,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    processes: Processes,
}

impl Wordcount {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = self.processes.several()? {
            return shared::run(&self, &cluster, interrupt);
        }
        let options = self.engine.options(Graphs::One, interrupt)?;
        self.engine.check(&[], self.files.iter().map(PathBuf::as_path))?;
        let progress = self.engine.progress(self.length()?);
        let case = self.case();
        let inputs = self.files.iter().map(|path| open(path, interrupt, &progress));
        let counted = match self.map_reduce {
            true => map_reduce(inputs, case, Shape::for_workers(options.workers()), &options),
            false => count(inputs, case, &options),
        };
        progress.end(&counted);
        let (ranking, report) = counted.map_err(cause)?;
        self.print(&ranking)?;
        let counts = || counts(&ranking);
        self.engine.results.finish(&report, counts, interrupt)
    }

    fn case(&self) -> Case {
        if self.ignore_case { Case::Ignored } else { Case::Kept }
    }

    /// The total length of the files, if all are regular files. Fails early for missing files and folders.
    fn length(&self) -> Result<Option<u64>> {
        let lengths = self.files.iter().map(|path| length(path)).collect::<Result<Vec<_>>>()?;
        Ok(lengths.into_iter().sum())
    }

    /// Prints the words. A closed pipe is no error: its reader, such as `head`, needs no more output.
    fn print(&self, ranking: &Ranking) -> Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, standard::stdout()?);
        let mut lines = ranking.iter().take(self.top.unwrap_or(usize::MAX));
        let printed = lines.try_for_each(|(word, count)| {
            write!(out, "{count} ")?;
            out.write_all(word)?;
            out.write_all(b"\n")
        });
        match printed.and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                _ = out.into_parts(); // drops the buffered output without writing it
                Ok(())
            }
            printed => printed.context("writing to standard output"),
        }
    }
}

fn counts(ranking: &Ranking) -> String {
    format!("{} words, {} distinct", ranking.words(), ranking.distinct())
}

/// The length of a regular file. Fails for missing files and folders.
fn length(path: &Path) -> Result<Option<u64>> {
    if standard::is_dash(path) {
        return Ok(None);
    }
    let meta = fs::metadata(path).with_context(|| format!("reading {}", shown(path)))?;
    ensure!(!meta.is_dir(), "{} is a folder, expected a file\nhelp: name its files", shown(path));
    Ok(Some(meta.len()).filter(|_| meta.is_file()))
}

/// Opens a file. Errors of the returned reader name the file.
fn open(path: &Path, interrupt: &Interrupt, progress: &Progress) -> io::Result<Box<dyn Read + Send>> {
    let Input { bytes, .. } =
        standard::input(path, interrupt).map_err(|error| io::Error::other(format!("{error:#}")))?;
    Ok(Box::new(Named { path: path.to_owned(), input: WithoutMark::new(progress.read(bytes)) }))
}

struct Named<R> {
    path: PathBuf,
    input: R,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let named = |error: io::Error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, format!("reading {}: {error}", shown(&self.path))),
        };
        self.input.read(bytes).map_err(named)
    }
}

/// The error of an input without the engine's message around it.
fn cause(error: thalweg::Error) -> anyhow::Error {
    match error {
        thalweg::Error::Node { node, cause } => match cause.downcast::<io::Error>() {
            Ok(ours) => (*ours).into(),
            Err(cause) => thalweg::Error::Node { node, cause }.into(),
        },
        other => other.into(),
    }
}
