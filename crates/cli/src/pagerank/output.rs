//! What `thalweg demo pagerank` writes: ranks and a plot.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use thalweg::embed::graph::shown;
use thalweg_files::OutFile;
use thalweg_pagerank::{Graph, Ranking, write_json, write_tsv};

use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::plot::{Line, Lines};
use crate::{outputs, standard};

/// What is written, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output options")]
pub(super) struct Output {
    /// Write only the K pages of the highest ranks (default: all)
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    /// The form of the ranks
    #[arg(long, value_enum, default_value_t = Format::Tsv)]
    format: Format,
    /// Write the ranks to this file, which appears when it is complete (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw the changes of the ranks by iteration, as SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Replace existing files
    #[arg(short, long)]
    force: bool,
    /// Print neither the size of the graph nor the time
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// Lines `ID<tab>RANK`
    Tsv,
    /// One object with counts, residuals and ranks
    Json,
}

impl Output {
    /// The files to write.
    fn files(&self) -> impl Iterator<Item = &Path> {
        let output = self.output.as_deref().filter(|path| !standard::is_dash(path));
        output.into_iter().chain(self.plot.as_deref())
    }

    /// Refuses files that cannot be written, or that are read, before the work begins.
    pub fn check<'p>(&self, inputs: impl IntoIterator<Item = &'p Path>, interrupt: &Interrupt) -> Result<()> {
        ensure!(
            self.plot.as_deref().is_none_or(|path| !standard::is_dash(path)),
            Misuse::new("the plot is not written to standard output\nhelp: name a file")
        );
        outputs::check_apart(self.files(), inputs)?;
        for path in self.files() {
            // Devices and pipes are opened once, when there is something to write.
            if fs::metadata(path).map_or(true, |meta| meta.is_file() || meta.is_dir()) {
                let _guard = interrupt.guard();
                drop(OutFile::create(path, self.force)?);
                interrupt.stop().check()?;
            }
        }
        Ok(())
    }

    /// Writes the ranks and the plot.
    pub fn write(&self, graph: &Graph, ranking: &Ranking, interrupt: &Interrupt) -> Result<()> {
        let top = ranking.top(graph, self.top.unwrap_or(usize::MAX));
        let write = |out: &mut dyn Write| match self.format {
            Format::Tsv => write_tsv(out, &top),
            Format::Json => write_json(out, graph, ranking, &top),
        };
        match self.output.as_deref().filter(|path| !standard::is_dash(path)) {
            Some(path) => self.save(path, interrupt, write)?,
            None => print(write)?,
        }
        match &self.plot {
            Some(path) => {
                let svg = convergence(&ranking.residuals);
                self.save(path, interrupt, |out| out.write_all(svg.as_bytes()))
            }
            None => Ok(()),
        }
    }

    /// Writes a file, completely or not at all.
    fn save(
        &self,
        path: &Path,
        interrupt: &Interrupt,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        let _guard = interrupt.guard();
        let writing = || format!("writing {}", shown(path));
        let file = OutFile::create(path, self.force)?;
        let mut out = BufWriter::with_capacity(1 << 16, Stoppable { file, interrupt });
        write(&mut out).with_context(writing)?;
        let out = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(writing)?;
        interrupt.stop().check()?;
        Ok(out.file.commit()?)
    }
}

/// Writes to standard output. A closed pipe is no error: its reader, such as `head`, needs no more output.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, standard::stdout()?);
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            _ = out.into_parts(); // drops the buffered output without writing it
            Ok(())
        }
        printed => printed.context("writing to standard output"),
    }
}

/// A file whose writes fail after a signal.
struct Stoppable<'i> {
    file: OutFile,
    interrupt: &'i Interrupt,
}

impl Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupt.stop().check().map_err(io::Error::other)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The residual by iteration, with a logarithmic axis, as SVG.
fn convergence(residuals: &[f64]) -> String {
    let points = (1..).zip(residuals.iter().copied()).collect();
    let lines = vec![Line { name: String::new(), points }];
    Lines { x: "iteration", y: "sum of the absolute changes of all ranks", logarithmic: true, lines }.svg()
}
