//! `thalweg wordcount`.

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Args;
use thalweg_wordcount::{Case, Ranking, count};

use crate::engine::Engine;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::standard::{self, Input};

/// Count the words of files, on all cores.
///
/// Prints a line `COUNT WORD` for each different word, the most frequent first, those of equal count
/// in the order of their bytes.
///
/// A word is a longest run of ASCII letters and digits and of bytes above 127, so letters of UTF-8
/// stay within words; everything else separates. Bytes are counted and printed as they are: text
/// need not be UTF-8. A word ends with its file, and a run of more than 65536 bytes counts as
/// several words.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg wordcount book.txt --top 20
  thalweg wordcount --ignore-case *.txt > counts
  zcat access.log.gz | thalweg wordcount | head")]
pub(crate) struct Wordcount {
    /// The files, or `-` for standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
    /// Print so many words only
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    /// Count `A` as `a` (ASCII letters only)
    #[arg(short, long)]
    ignore_case: bool,
    #[command(flatten)]
    engine: Engine,
}

impl Wordcount {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let options = self.engine.options()?;
        let progress = Progress::new(self.length()?);
        let case = if self.ignore_case { Case::Ignored } else { Case::Kept };
        let inputs = self.files.iter().map(|path| open(path, interrupt, &progress));
        let counted = count(inputs, case, &options);
        progress.finish();
        let (ranking, report) = counted.map_err(cause)?;
        self.print(&ranking)?;
        if self.engine.report {
            standard::complain(&format!(
                "{} words, {} of them different\n\n{report}",
                ranking.words(),
                ranking.different()
            ));
        }
        Ok(())
    }

    /// What there is to read, where that is known. Fails early for what cannot be read.
    fn length(&self) -> Result<Option<u64>> {
        let mut all = Some(0);
        for path in &self.files {
            let mut length = None;
            if !standard::is_dash(path) {
                let meta = fs::metadata(path).with_context(|| format!("reading {}", path.display()))?;
                ensure!(!meta.is_dir(), "{} is a folder: name its files", path.display());
                length = Some(meta.len()).filter(|_| meta.is_file());
            }
            all = all.zip(length).map(|(all, length)| all + length);
        }
        Ok(all)
    }

    /// The words; who reads them may have had enough before the last, as `head` does.
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
                _ = out.into_parts(); // what is left is for nobody
                Ok(())
            }
            printed => printed.context("writing to standard output"),
        }
    }
}

/// A file to be read, whose errors name it.
fn open(path: &Path, interrupt: &Interrupt, progress: &Progress) -> io::Result<Box<dyn Read + Send>> {
    let Input { bytes, .. } =
        standard::input(path, interrupt).map_err(|error| io::Error::other(format!("{error:#}")))?;
    Ok(Box::new(Named { path: path.to_owned(), input: progress.read(bytes) }))
}

struct Named<R> {
    path: PathBuf,
    input: R,
}

impl<R: Read> Read for Named<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let named = |error: io::Error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, format!("reading {}: {error}", self.path.display())),
        };
        self.input.read(bytes).map_err(named)
    }
}

/// An input's own error without the engine's words around it.
fn cause(error: thalweg::Error) -> anyhow::Error {
    match error {
        thalweg::Error::Node { node, cause } => match cause.downcast::<io::Error>() {
            Ok(ours) => (*ours).into(),
            Err(cause) => thalweg::Error::Node { node, cause }.into(),
        },
        other => other.into(),
    }
}
