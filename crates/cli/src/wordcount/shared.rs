//! Counting by several processes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use thalweg::Options;
use thalweg::embed::graph::shown;
use thalweg::embed::runtime::EmbedOptions;
use thalweg_cluster::Cluster;
use thalweg_wordcount::{count_on, count_read_on};

use super::{Named, Wordcount, counts, length, open};
use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::misuse::Misuse;
use crate::processes::{self, Own};
use crate::progress::Progress;
use crate::standard;

/// Counts the share of this process. Process 0 prints the words.
pub(super) fn run(verb: &Wordcount, cluster: &Cluster, interrupt: &Interrupt) -> Result<()> {
    if verb.files.iter().any(|path| standard::is_dash(path)) {
        return run_read(verb, cluster, interrupt);
    }
    // The run passes the error on to all processes, so that none waits for this one.
    let prepared =
        prepare(verb).and_then(|lengths| Ok((lengths, verb.engine.options(Graphs::One, interrupt)?)));
    let own = Own::default();
    let (lengths, options) = match prepared {
        Ok((lengths, options)) => (Ok(lengths), options),
        Err(error) => (Err(own.keep(error)), Options::new()),
    };
    let here = lengths.as_ref().err().cloned();
    let open = |file: usize| match &here {
        Some(why) => Err(io::Error::other(why.clone())),
        None => Text::open(&verb.files[file]),
    };
    let (ranking, report) = count_on(cluster, move || lengths, open, verb.case(), &options)
        .map_err(|error| processes::failed(cluster, &error, own.take()))?;
    let Some(ranking) = ranking else { return Ok(()) };
    verb.print(&ranking)?;
    let counts = || counts(&ranking);
    report.map_or(Ok(()), |report| verb.engine.results.finish(&report, counts, interrupt))?;
    print_report(verb, cluster);
    Ok(())
}

/// As [`run`], of files that process 0 reads for all, since standard input is among them.
fn run_read(verb: &Wordcount, cluster: &Cluster, interrupt: &Interrupt) -> Result<()> {
    processes::end_waits_with(cluster, interrupt);
    let (own, is_first) = (Own::default(), cluster.process() == 0);
    let refused = || -> Result<()> {
        refuse_map_reduce(verb)?;
        let useless = verb.engine.given().into_iter().find(|name| *name != "--report");
        ensure!(
            useless.is_none(),
            Misuse::new(format!(
                "several processes count standard input without {}\nhelp: remove it, or write the input to a file first",
                useless.unwrap_or_default()
            ))
        );
        verb.engine.options(Graphs::One, interrupt)?;
        verb.files.iter().try_for_each(|path| length(path).map(drop))
    };
    let refused = is_first.then(refused).and_then(Result::err).map(|error| own.keep(error));
    let progress = if is_first { verb.engine.progress(None) } else { Progress::hidden() };
    let read = verb.files.iter().map(|path| open(path, interrupt, &progress));
    let inputs = refused.map(|why| Err(io::Error::other(why))).into_iter().chain(read);
    let threads = verb.engine.threads().unwrap_or_else(|| Options::new().workers());
    let ranking = count_read_on(cluster, inputs, verb.case(), threads);
    progress.end(&ranking);
    let ranking = ranking.map_err(|error| processes::failed(cluster, &error, own.take()))?;
    if let Some(ranking) = ranking {
        verb.print(&ranking)?;
        if verb.engine.results.prints() {
            standard::eprint(&counts(&ranking));
        }
        print_report(verb, cluster);
    }
    Ok(())
}

fn print_report(verb: &Wordcount, cluster: &Cluster) {
    if verb.engine.results.prints() {
        processes::print_report(cluster);
    }
}

fn refuse_map_reduce(verb: &Wordcount) -> Result<()> {
    ensure!(
        !verb.map_reduce,
        Misuse::new("several processes do not count with --map-reduce\nhelp: remove it")
    );
    Ok(())
}

/// The bytes of the files.
fn prepare(verb: &Wordcount) -> Result<Vec<u64>> {
    refuse_map_reduce(verb)?;
    verb.engine.check(&[], verb.files.iter().map(PathBuf::as_path))?;
    let length = |path: &PathBuf| -> Result<u64> {
        let bytes = length(path)?.with_context(|| {
            format!(
                "{} is no regular file, and several processes read parts of it\nhelp: pass it as standard input, which \
                 process 0 reads",
                shown(path)
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
