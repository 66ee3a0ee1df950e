//! `thalweg align`.

use std::fs;
use std::io::{self, BufWriter, IsTerminal, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use thalweg::embed::graph::shown;
use thalweg::embed::tasks::MemberCounts;
use thalweg_align::{
    Aligner, Alphabet, Compare, Error, Format, Gap, Schedule, Scoring, Sequence, Watch, Work, Writer,
    compare, read_fasta, work,
};
use thalweg_files::OutFile;
use thalweg_inputs::Content;

use crate::interrupt::{Guard, Interrupt};
use crate::memory::Limit;
use crate::misuse::Misuse;
#[cfg(feature = "cluster")]
use crate::processes::Processes;
use crate::progress::Progress;
use crate::scheduling::{self, Placement, Scheduling, share};
use crate::threads::Threads;
use crate::{outputs, size, standard};

mod paper;
#[cfg(feature = "cluster")]
mod shared;

/// Align sequences: all queries with all targets, locally (Smith-Waterman), on all cores.
///
/// QUERIES and TARGETS are FASTA files, plain or compressed with gzip; `-` is standard input, for one of them.
/// Sequences are DNA if all letters of both files are codes of nucleotides (A, C, G, T, U, N, and R, Y, S, W, K, M, B, D, H
/// and V, which are scored as N) and nine of ten are A, C, G, T, U or N; otherwise proteins, which are scored by BLOSUM62.
/// Only the strands that are given are compared.
///
/// Output does not depend on the number of threads. Of several best alignments of a pair, it has the one that ends
/// first in the target, and then in the query.
///
/// Several processes share the pairs: process 0 reads the files, sends the sequences to the others, and writes the output, which is
/// that of one process.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg align reads.fa genes.fa                        alignments to read
  thalweg align reads.fa.gz genes.fa --best --format sam -o reads.sam
  thalweg align a.faa b.faa --format tsv --min-score 50  the scores of all pairs
  thalweg align one.fa other.fa --gap log --gap-open 6   long gaps are cheap
  thalweg align --scale 128 --report                     two random sequences
  zcat reads.fa.gz | thalweg align - genes.fa --match 1 --mismatch 2
  thalweg launch -n 2 -- thalweg align reads.fa genes.fa > hits")]
pub(crate) struct Align {
    /// The sequences to look for, or `-` for standard input
    #[arg(required_unless_present = "scale", requires = "targets")]
    queries: Option<PathBuf>,
    /// The sequences to look in, or `-` for standard input
    targets: Option<PathBuf>,
    /// Align two random DNA sequences of 131072/S letters, with other gaps than affine 5120/S letters, as in table 5.1 of
    /// "Locality-Aware Concurrency Platforms" (Maglalang, 2017); without S, its own sizes, which take some seconds
    #[arg(long, value_name = "S", num_args = 0..=1, default_missing_value = "1",
          conflicts_with_all = ["queries", "targets", "alphabet"], value_parser = clap::value_parser!(u32).range(1..=1024))]
    scale: Option<u32>,
    /// The letters of the sequences
    #[arg(help_heading = "Scoring options", long, value_name = "NAME", default_value = "auto")]
    alphabet: Letters,
    /// Score of two equal nucleotides (DNA only; default 2)
    #[arg(help_heading = "Scoring options", long = "match", value_name = "N", allow_negative_numbers = true)]
    matching: Option<i32>,
    /// What two unequal nucleotides cost (DNA only; default 3)
    #[arg(help_heading = "Scoring options", long, value_name = "N", allow_negative_numbers = true)]
    mismatch: Option<i32>,
    /// What a gap of K letters costs: `affine`, OPEN + EXTEND * (K - 1), or `log`, OPEN + EXTEND * log2(K), which takes
    /// much longer
    #[arg(help_heading = "Scoring options", long, value_name = "KIND", default_value = "affine")]
    gap: Kind,
    /// The cost OPEN of a gap's first letter (default 5 for DNA, 11 for proteins)
    #[arg(help_heading = "Scoring options", long, value_name = "N", allow_negative_numbers = true)]
    gap_open: Option<i32>,
    /// The cost EXTEND of a gap's further letters (default 2 for DNA, 1 for proteins)
    #[arg(help_heading = "Scoring options", long, value_name = "N", allow_negative_numbers = true)]
    gap_extend: Option<i32>,
    /// How to write: text (alignments to read), sam, or tsv (scores alone)
    #[arg(help_heading = "Output options", long, value_name = "NAME", default_value = "text")]
    format: Format,
    /// Only the best target of each query; of several, the first
    #[arg(help_heading = "Output options", long)]
    best: bool,
    /// Only pairs with at least this score (at least 1)
    #[arg(help_heading = "Output options", long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
          value_parser = clap::value_parser!(i32).range(1..))]
    min_score: i32,
    /// Write to FILE, which appears when it is complete, instead of standard output
    #[arg(help_heading = "Output options", short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(help_heading = "Output options", short, long)]
    force: bool,
    #[command(flatten)]
    threads: Threads,
    /// Rows and columns of a block of cells, 1 to 65536 (default 1024, for other gaps than affine 128)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    block: Option<u32>,
    /// Refuse to begin if more memory may be needed
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    /// Refuse to begin if there are more cells, in units of 10^9 (for other gaps than affine, more that cells look at)
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    max_gigacells: u64,
    /// Print counts and the rate
    #[arg(long)]
    report: bool,
    #[command(flatten)]
    scheduling: Scheduling,
    #[cfg(feature = "cluster")]
    #[command(flatten)]
    processes: Processes,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Letters {
    /// DNA if all letters are codes of nucleotides, nearly all of them A, C, G, T, U or N; otherwise protein
    Auto,
    /// Nucleotides
    Dna,
    /// Amino acids, scored by BLOSUM62
    Protein,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Affine,
    Log,
}

impl Align {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = self.processes.several()? {
            return shared::run(self, &cluster, interrupt);
        }
        let limit = Limit::new(Some(self.memory));
        self.check_files()?;
        let threads = self.threads.of_team(false)?;
        let [queries, targets] = self.sequences(limit, interrupt)?;
        let placement = self.scheduling.placement(threads, interrupt)?;
        let aligner = self.scheduled(self.aligner(&queries, &targets, threads)?, placement.as_ref());
        let work = self.begin(&aligner, &queries, &targets, limit)?;
        let watch = Stopwatch {
            progress: Progress::cells(u64::try_from(work.cells).ok()),
            counts: Mutex::default(),
            interrupt,
        };
        let started = Instant::now();
        let compare = || -> Result<bool> {
            let mut output = self.output(&aligner, (&queries, &targets), interrupt)?;
            let write = |found| output.writer.write(&found);
            let compared = compare(&aligner, &queries, &targets, &self.how(), &watch, write);
            watch.progress.finish();
            output.end(compared)
        };
        let (is_complete, jobs) = self.scheduling.count(compare);
        let is_complete = is_complete?;
        if let Some(placement) = placement {
            placement.print(&watch.accesses(), &jobs);
        }
        if is_complete {
            self.report_rate(&work, started);
        }
        Ok(())
    }

    /// Checks what the names of the files alone show.
    fn check_files(&self) -> Result<()> {
        let files = self.inputs();
        ensure!(
            !files.into_iter().all(standard::is_dash),
            Misuse::new("queries and targets are both `-`\nhelp: name a file for one of them")
        );
        outputs::check_apart(self.output.as_deref(), files.into_iter().chain(self.scheduling.file()))?;
        self.file().map_or(Ok(()), |path| outputs::check_absent(path, self.force))
    }

    fn inputs(&self) -> [&Path; 2] {
        [&self.queries, &self.targets].map(|path| path.as_deref().unwrap_or(Path::new("")))
    }

    /// The queries and the targets.
    fn sequences(&self, limit: Limit, interrupt: &Interrupt) -> Result<[Vec<Sequence>; 2]> {
        if let Some(scale) = self.scale {
            return Ok(paper::pair(self.gap, scale).map(|sequence| vec![sequence]));
        }
        let [queries, targets] = self.inputs().map(|path| self.read(path, limit, interrupt));
        Ok([queries?, targets?])
    }

    /// Which pairs are reported.
    fn how(&self) -> Compare {
        Compare { best: self.best, least: self.min_score, align: self.format.needs_alignments() }
    }

    /// Says what is about to be done, unless it exceeds the limits.
    fn begin(
        &self,
        aligner: &Aligner,
        queries: &[Sequence],
        targets: &[Sequence],
        limit: Limit,
    ) -> Result<Work> {
        if matches!(self.alphabet, Letters::Auto) {
            warn_if_mixed(queries, targets);
        }
        let work = work(aligner, &self.how(), queries, targets);
        self.check_work(&work, limit)?;
        if stderr().is_terminal() || self.report {
            standard::eprint(&announcement(aligner, queries, targets, &work));
        }
        Ok(work)
    }

    fn report_rate(&self, work: &Work, started: Instant) {
        if self.report {
            let took = started.elapsed().as_secs_f64();
            let rate = work.cells as f64 / took.max(1e-9);
            standard::eprint(&format!("{took:.3} s, {} cells a second", count(rate)));
        }
    }

    /// Opens the output, and writes what comes before the first pair.
    fn output<'a>(
        &self,
        aligner: &'a Aligner,
        sequences: (&'a [Sequence], &'a [Sequence]),
        interrupt: &Interrupt,
    ) -> Result<Output<'a>> {
        // A device or a pipe is written directly, so there is nothing to remove and the first signal ends the process.
        let direct = |path: &Path| fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        let file = self.file().filter(|path| !direct(path));
        let guard = file.map(|_| interrupt.guard());
        let output = match self.file() {
            Some(path) => OutFile::create(path, self.force)?,
            None => OutFile::direct(standard::stdout()?),
        };
        let command: Vec<String> = std::env::args_os().map(|argument| shown(argument).to_string()).collect();
        let output = BufWriter::with_capacity(1 << 16, output);
        let writer = Writer::new(output, self.format, sequences, aligner.scoring(), &command.join(" "))?;
        Ok(Output { writer, is_standard: self.file().is_none(), _guard: guard })
    }

    /// The output, unless it is standard output.
    fn file(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !standard::is_dash(path))
    }

    /// Reads the sequences of a file.
    fn read(&self, path: &Path, limit: Limit, interrupt: &Interrupt) -> Result<Vec<Sequence>> {
        let input = standard::input(path, interrupt)?;
        let name = if standard::is_dash(path) { "standard input".into() } else { shown(path).to_string() };
        let progress = Progress::new(input.length);
        let warn = |what: &str| progress.note(&format!("warning: {name}: {what}"));
        let content = Content::from(progress.read(input.bytes)).warn_by(warn);
        let alphabet = match self.alphabet {
            Letters::Auto => None,
            Letters::Dna => Some(Alphabet::Dna),
            Letters::Protein => Some(Alphabet::Protein),
        };
        let sequences = read_fasta(content, &name, alphabet, limit.bytes);
        progress.finish();
        let sequences = sequences?;
        if sequences.is_empty() {
            standard::eprint(&format!("warning: {name} has no sequences"));
        }
        Ok(sequences)
    }

    fn aligner(&self, queries: &[Sequence], targets: &[Sequence], threads: Option<usize>) -> Result<Aligner> {
        let alphabet = match self.alphabet {
            Letters::Dna => Alphabet::Dna,
            Letters::Protein => Alphabet::Protein,
            Letters::Auto => match [queries, targets].map(is_dna) {
                [true, true] => Alphabet::Dna,
                _ => Alphabet::Protein,
            },
        };
        let (open, extend) = match alphabet {
            Alphabet::Dna => (5, 2),
            Alphabet::Protein => (11, 1),
        };
        let open = self.gap_open.unwrap_or(open);
        let extend = self.gap_extend.unwrap_or(extend.min(open));
        if self.gap == Kind::Log {
            let most = thalweg_align::MOST;
            for (name, cost) in [("--gap-open", open), ("--gap-extend", extend)] {
                ensure!(
                    (0..=most).contains(&cost),
                    Misuse::new(format!("{name} is {cost}\nhelp: use 0 to {most}"))
                );
            }
        }
        let gap = match self.gap {
            Kind::Affine => Gap::Affine { open, extend },
            Kind::Log => Gap::log(open, extend),
        };
        let scoring = match alphabet {
            Alphabet::Dna => Scoring::dna(self.matching.unwrap_or(2), self.mismatch.unwrap_or(3), gap)
                .map_err(Misuse::new)?,
            Alphabet::Protein => {
                ensure!(
                    self.matching.is_none() && self.mismatch.is_none(),
                    "--match and --mismatch are for DNA, and these sequences are proteins\n\
                     help: remove them, or check the input with --alphabet dna"
                );
                Scoring::protein(gap).map_err(Misuse::new)?
            }
        };
        let aligner = Aligner::new(scoring);
        let aligner = threads.into_iter().fold(aligner, Aligner::threads);
        Ok(self.block.iter().fold(aligner, |aligner, block| aligner.block(*block as usize)))
    }

    /// The aligner with the schedule, which is tasks where none is named, since these are faster.
    fn scheduled(&self, aligner: Aligner, placement: Option<&Placement>) -> Aligner {
        let aligner = aligner.schedule(match self.scheduling.schedule {
            None | Some(scheduling::Schedule::Tasks) => Schedule::Tasks,
            Some(scheduling::Schedule::RandomTasks) => Schedule::RandomTasks,
            Some(scheduling::Schedule::Loops) => Schedule::Loops,
            Some(scheduling::Schedule::StaticLoops) => Schedule::StaticLoops,
        });
        match placement {
            Some(placement) => aligner.places(&placement.places),
            None => aligner,
        }
    }

    /// Refuses work that exceeds the limits.
    fn check_work(&self, work: &Work, limit: Limit) -> Result<()> {
        if work.memory > limit.bytes {
            bail!(
                "the alignment may take {}, the limit is {}\n\
                 help: raise the limit with --memory, or compute scores alone with --format tsv{}",
                size::show(work.memory),
                size::show(limit.bytes),
                limit.note()
            );
        }
        if work.updates > u128::from(self.max_gigacells) * 1_000_000_000 {
            bail!(
                "there are {:.1} * 10^9 cells to compute, the limit is {} * 10^9\n\
                 help: raise the limit with --max-gigacells, or split the input",
                work.updates as f64 / 1e9,
                self.max_gigacells
            );
        }
        Ok(())
    }
}

/// Where alignments are written.
struct Output<'a> {
    writer: Writer<'a, BufWriter<OutFile>>,
    is_standard: bool,
    _guard: Option<Guard>,
}

impl Output<'_> {
    /// Completes the output of pairs that were compared. Returns whether its reader has read all.
    fn end(self, compared: Result<(), Error>) -> Result<bool> {
        let is_standard = self.is_standard;
        match compared.and_then(|()| self.writer.finish()) {
            Err(error) if is_standard && is_closed(&error) => Ok(false),
            written => {
                let output = written?.into_inner().map_err(io::IntoInnerError::into_error);
                output.context("writing the alignments")?.commit()?;
                Ok(true)
            }
        }
    }
}

/// Whether the output is a pipe whose reader needs no more, such as `head`.
fn is_closed(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
}

/// Whether the letters are nucleotides: all are their codes, and at least nine of ten are no code of several nucleotides but
/// N. Amino acids have the same letters, but a protein has few of A, C, G and T.
fn is_dna(sequences: &[Sequence]) -> bool {
    let letters = || sequences.iter().flat_map(|sequence| &sequence.letters);
    let several = letters().filter(|letter| !b"ACGTUN".contains(letter)).count();
    letters().all(|letter| Alphabet::Dna.contains(*letter)) && several <= letters().count().div_ceil(10)
}

/// Prints a warning if one file has DNA, by its letters, and the other proteins.
fn warn_if_mixed(queries: &[Sequence], targets: &[Sequence]) {
    let is_empty = |sequences: &[Sequence]| sequences.iter().all(|sequence| sequence.letters.is_empty());
    let (dna, protein) = match [queries, targets].map(is_dna) {
        [true, false] if !is_empty(queries) => ("queries", "targets"),
        [false, true] if !is_empty(targets) => ("targets", "queries"),
        _ => return,
    };
    standard::eprint(&format!(
        "warning: the {dna} look like DNA, but the {protein} are proteins, so all are scored as proteins\n\
         help: translate the {dna}, or name the letters of both with --alphabet"
    ));
}

fn announcement(aligner: &Aligner, queries: &[Sequence], targets: &[Sequence], work: &Work) -> String {
    let kind = match aligner.scoring().alphabet() {
        Alphabet::Dna => "DNA",
        Alphabet::Protein => "protein",
    };
    let updates = match work.updates == work.cells {
        true => String::new(),
        false => format!(", which look at {}", count(work.updates as f64)),
    };
    format!(
        "{} queries, {} targets ({kind}): {} cells{updates}, at most {}",
        queries.len(),
        targets.len(),
        count(work.cells as f64),
        size::show(work.memory)
    )
}

/// A number of cells: whole if it is small, otherwise in units of 10^9.
fn count(cells: f64) -> String {
    if cells < 1e7 { format!("{cells:.0}") } else { format!("{:.3} * 10^9", cells / 1e9) }
}

/// Shows progress, adds counts, and stops on a signal.
struct Stopwatch<'a> {
    progress: Progress,
    /// Of the pairs that all threads have computed together.
    counts: Mutex<MemberCounts>,
    interrupt: &'a Interrupt,
}

impl Stopwatch<'_> {
    /// The accesses of pairs, in words.
    fn accesses(&self) -> String {
        let all = *self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match all.nodes() {
            0 => "no pair is large enough to be computed by several threads at once".to_owned(),
            blocks => format!(
                "remote: accesses {}, to {blocks} blocks and those that they need",
                share(all.remote(), all.accesses())
            ),
        }
    }
}

impl Watch for Stopwatch<'_> {
    fn stopped(&self) -> bool {
        self.interrupt.stop().is_requested()
    }

    fn cells(&self, count: u64) {
        self.progress.advance(count);
    }

    fn counts(&self, counts: MemberCounts) {
        let mut sum = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = *sum + counts;
    }
}
