//! `thalweg demo pipelines lz77`.

use std::io::{self, Write};

use anyhow::Result;
use clap::Args;
use thalweg::{Options, Report};
use thalweg_pipelines::lz77::{self, Sizes};
use thalweg_pipelines::{Error, checksum};

use super::text::Text;
use super::{Run, time};
use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::memory::Limit;
use crate::size;

/// Compress a text by LZ77: a reader, a kernel that does nearly all of the work, and a writer.
///
/// The window begins anew with each block of 16,384 bytes, so the kernel between reader and writer may have replicas. Without
/// them more threads give nothing (Table 4.1 of the thesis: 1.0 without, 4.4 with replicas on 8 cores). The compressed file depends
/// on the text alone. Its size is printed beside that of gzip's format at level 6, whose window reaches over 32,768 bytes, and which
/// codes frequent bytes in fewer bits. A file that was changed is refused with the byte.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo pipelines lz77 --bytes 1MiB --check --threads 2
  thalweg demo pipelines lz77 book.txt -o book.lz77
  thalweg demo pipelines lz77 book.lz77 --decompress -o - > book")]
pub(super) struct Lz77 {
    #[command(flatten)]
    text: Text,
    /// Decompress FILE
    #[arg(long, requires = "input")]
    decompress: bool,
    #[command(flatten)]
    run: Run,
}

impl Lz77 {
    pub(super) fn run(self, interrupt: &Interrupt) -> Result<()> {
        let options = self.run.engine.options(Graphs::One, interrupt)?;
        let text = self.text.open(&self.run, lz77::input, interrupt)?;
        let progress = self.run.engine.steps(None);
        let ran = self.convert(&text, &options);
        progress.end(&ran);
        let (result, sizes, report) = ran?;
        let sum = checksum(&result);
        let check = self.run.compare(sum.into(), || self.sequential(&text))?;
        let counts = format!("{} blocks", sizes.plain.div_ceil(lz77::BLOCK as u64));
        let lines = format!(
            "problem   lz77, {}, {counts} {}\n{}{}checksum  {sum:08x}\n{check}",
            size::show(text.len() as u64),
            if self.decompress { "decompressed" } else { "compressed" },
            time(&report),
            self.ratio(sizes, if self.decompress { &result } else { &text })
        );
        self.text.finish(&result, &lines, interrupt)?;
        self.run.engine.results.finish(&report, || counts, interrupt)
    }

    /// Runs the graph.
    fn convert(&self, text: &[u8], options: &Options) -> Result<(Vec<u8>, Sizes, Report)> {
        let mut result = self.result();
        let graph = match self.decompress {
            true => lz77::decompressor(text, &mut result),
            false => lz77::compressor(text, &mut result),
        };
        let (sizes, report) = graph.run_with(options).map_err(|error| cause(error.into()))?.into_parts();
        Ok((result.bytes, sizes, report))
    }

    fn sequential(&self, text: &[u8]) -> Result<u64> {
        let mut result = self.result();
        match self.decompress {
            true => lz77::decompress(text, &mut result)?,
            false => lz77::compress(text, &mut result)?,
        };
        Ok(checksum(&result.bytes).into())
    }

    fn result(&self) -> Bounded {
        Bounded { bytes: Vec::new(), limit: Limit::new(Some(self.run.memory / 2)) }
    }

    /// The line about the size of the compressed file, which a text without bytes has not, nor a result on standard output.
    fn ratio(&self, sizes: Sizes, plain: &[u8]) -> String {
        if plain.is_empty() || self.text.is_printed() {
            return String::new();
        }
        let gzip = Sizes { packed: lz77::gzip_bytes(plain), ..sizes };
        format!("ratio     {:.3} (gzip at level 6: {:.3})\n", sizes.ratio(), gzip.ratio())
    }
}

/// A result in memory. That of a small file may be 800 times as large.
struct Bounded {
    bytes: Vec<u8>,
    limit: Limit,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.limit.size() {
            return Err(io::Error::other(format!(
                "the result has more than {}\nhelp: raise --memory, of which it may take half{}",
                size::show(self.limit.bytes),
                self.limit.note()
            )));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error of a file without the engine's message around it.
fn cause(error: thalweg::Error) -> anyhow::Error {
    match error {
        thalweg::Error::Node { node, cause } => match cause.downcast::<Error>() {
            Ok(ours) => (*ours).into(),
            Err(cause) => thalweg::Error::Node { node, cause }.into(),
        },
        other => other.into(),
    }
}
