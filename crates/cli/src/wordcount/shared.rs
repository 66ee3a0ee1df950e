//! Counting by several processes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use thalweg::Options;
use thalweg::embed::graph::shown;
use thalweg_cluster::Cluster;
use thalweg_wordcount::{Case, count_on};

use super::{Named, Wordcount, length};
use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::processes;

/// Counts the share of this process. Process 0 prints the words.
pub(super) fn run(verb: &Wordcount, cluster: &Cluster, interrupt: &Interrupt) -> Result<()> {
    // The run passes the error on to all processes, so that none waits for this one.
    let prepared =
        prepare(verb).and_then(|lengths| Ok((lengths, verb.engine.options(Graphs::One, interrupt)?)));
    let (lengths, options, own) = match prepared {
        Ok((lengths, options)) => (Ok(lengths), options, None),
        Err(error) => (Err(format!("{error:#}")), Options::new(), Some(error)),
    };
    let case = if verb.ignore_case { Case::Ignored } else { Case::Kept };
    let here = lengths.as_ref().err().cloned();
    let open = |file: usize| match &here {
        Some(why) => Err(io::Error::other(why.clone())),
        None => Text::open(&verb.files[file]),
    };
    let (ranking, report) = count_on(cluster, move || lengths, open, case, &options)
        .map_err(|error| processes::failed(cluster, &error, own))?;
    let Some(ranking) = ranking else { return Ok(()) };
    verb.print(&ranking)?;
    let counts = || format!("{} words, {} distinct", ranking.words(), ranking.distinct());
    report.map_or(Ok(()), |report| verb.engine.results.finish(&report, counts, interrupt))
}

/// The bytes of the files.
fn prepare(verb: &Wordcount) -> Result<Vec<u64>> {
    ensure!(
        !verb.map_reduce,
        Misuse::new("several processes do not count with --map-reduce\nhelp: remove it")
    );
    verb.engine.check(&[], verb.files.iter().map(PathBuf::as_path))?;
    let length = |path: &PathBuf| -> Result<u64> {
        let bytes = length(path)?.with_context(|| {
            format!(
                "{} is no regular file, and several processes read parts of it\nhelp: write it to a file first",
                if path.as_os_str() == "-" { "standard input".to_owned() } else { shown(path).to_string() }
            )
        })?;
        Ok(bytes - Text::open(path)?.mark)
    };
    verb.files.iter().map(length).collect()
}

/// A text in a file, without the byte order mark before it. Errors of reading name the file.
struct Text {
    file: Named<File>,
    /// Bytes of the mark.
    mark: u64,
}

impl Text {
    fn open(path: &Path) -> io::Result<Text> {
        let named = |error| io::Error::other(format!("opening {}: {error}", shown(path)));
        let mut file = File::open(path).map_err(named)?;
        let mut first = Vec::new();
        file.by_ref().take(3).read_to_end(&mut first).map_err(named)?;
        file.rewind().map_err(named)?;
        let mark = if first == *b"\xEF\xBB\xBF" { 3 } else { 0 };
        Ok(Text { file: Named { path: path.to_owned(), input: file }, mark })
    }
}

impl Read for Text {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.file.read(bytes)
    }
}

impl Seek for Text {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => SeekFrom::Start(at + self.mark),
            other => other,
        };
        Ok(self.file.input.seek(to)? - self.mark)
    }
}
