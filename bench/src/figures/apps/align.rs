//! `app.align.*`: local alignments with affine gaps; ns per 1000 cells.
//!
//! `pairs` compares many short sequences with each other, `search` one query with a data base of sequences of 100 to 2000
//! letters, `pair` two long ones, and `trace` two long ones that are alike, with their alignment.

use thalweg_align::{Aligner, Compare, Gap, Quiet, Scoring, Sequence, compare};

use super::{Folder, fastest};
use crate::line::Measure;
use crate::peers::external;
use crate::race::{Contestant, Role};
use crate::session::Session;

/// The best methods of parasail, as contestants and as the ends of its functions' names. `sat` begins with 8 bits.
const SCORE: [(&str, &str); 3] = [
    ("parasail-striped-sat", "striped_sat"),
    ("parasail-striped-16", "striped_16"),
    ("parasail-scan-sat", "scan_sat"),
];
const TRACE: [(&str, &str); 2] =
    [("parasail-trace-striped-sat", "striped_sat"), ("parasail-trace-scan-sat", "scan_sat")];

/// The sequences of a figure.
struct Job {
    name: &'static str,
    is_dna: bool,
    /// The number of queries, and of targets.
    counts: (usize, usize),
    /// The letters of a query.
    letters: usize,
    /// The letters of a target: at least and at most.
    range: (usize, usize),
    /// Whether targets are mutated queries, which are aligned, or random, of which the scores are computed.
    aligns: bool,
}

pub(super) fn run(session: &mut Session) {
    let size = |full, quick| if session.options.quick { quick } else { full };
    let (many, letters, long, longest) = (size(32, 8), size(1500, 500), size(4096, 1024), size(32_768, 4096));
    let job = |name, is_dna, count, letters, aligns| Job {
        name,
        is_dna,
        counts: (count, count),
        letters,
        range: (letters, letters),
        aligns,
    };
    let search = Job {
        counts: (1, size(3000, 200)),
        range: (100, 2000),
        ..job("search.protein", false, 1, 400, false)
    };
    for job in [
        job("pairs.dna", true, many, letters, false),
        job("pairs.protein", false, many, letters, false),
        search,
        job("pair.dna", true, 1, longest, false),
        job("pair.protein", false, 1, longest, false),
        job("trace.dna", true, 1, long, true),
    ] {
        for threads in session.thread_counts() {
            job.run(session, threads);
        }
    }
}

impl Job {
    fn run(&self, session: &mut Session, threads: usize) {
        let name = format!("app.align.{}.t{threads}", self.name);
        if !session.selects(&name) {
            return;
        }
        let (queries, targets) = self.sequences();
        let folder = match input(&queries, &targets) {
            Ok(folder) => folder,
            Err(error) => return session.errors.push(error),
        };
        let letters = |all: &[Sequence]| all.iter().map(|one| one.letters.len() as u64).sum::<u64>();
        let cells = letters(&queries) * letters(&targets);
        let ours = || self.scores(&queries, &targets, threads);
        let expected = self.scores(&queries, &targets, 1);
        let contestant =
            |name, role| Contestant::new(name, role, cells / 1000, || Ok(None)).expecting(expected);
        let mut all =
            vec![Contestant { run: Box::new(|| Ok(Some(fastest(ours)))), ..contestant("ours", Role::Ours) }];
        let (mode, functions) = if self.aligns { ("trace", &TRACE[..]) } else { ("score", &SCORE[..]) };
        if let Some(program) = external::python("parasail", mode) {
            all.extend(functions.iter().map(|(name, function)| {
                let (program, arguments) = (program.clone(), folder.arguments(&[function], &[threads]));
                Contestant {
                    run: Box::new(move || program.run(&arguments).map(Some)),
                    ..contestant(name, Role::Peer)
                }
            }));
        }
        session.figure(&name, Measure::NsPerItem, threads, all);
    }

    /// The sum of the scores of all pairs.
    fn scores(&self, queries: &[Sequence], targets: &[Sequence], threads: usize) -> u64 {
        let scoring = match self.is_dna {
            true => Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 }),
            false => Scoring::protein(Gap::Affine { open: 11, extend: 1 }),
        };
        let aligner = Aligner::new(scoring.expect("valid scores")).threads(threads);
        let how = Compare { best: false, least: 1, align: self.aligns };
        let mut sum = 0;
        let done = compare(&aligner, queries, targets, &how, &Quiet, |found| {
            sum += found.hits.iter().map(|hit| hit.score as u64).sum::<u64>();
            Ok(())
        });
        done.expect("nothing stops the computation");
        sum
    }

    fn sequences(&self) -> (Vec<Sequence>, Vec<Sequence>) {
        let mut state = 1;
        let mut random = |below: usize| {
            state = u64::wrapping_mul(state, 6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let alphabet: &[u8] = if self.is_dna { b"ACGT" } else { b"ARNDCQEGHILKMFPSTWYV" };
        let mut sequence = |(least, most): (usize, usize), like: Option<&Sequence>| {
            let letters = if most > least { least + random(most - least) } else { least };
            let letters = (0..letters).map(|at| match like {
                Some(like) if random(10) > 0 => like.letters[at],
                _ => alphabet[random(alphabet.len())],
            });
            Sequence { letters: letters.collect(), ..Sequence::default() }
        };
        let queries: Vec<_> =
            (0..self.counts.0).map(|_| sequence((self.letters, self.letters), None)).collect();
        let like = |at: usize| queries.get(at).filter(|_| self.aligns);
        let targets = (0..self.counts.1).map(|at| sequence(self.range, like(at))).collect();
        (queries, targets)
    }
}

/// Queries and targets, one in a line.
fn input(queries: &[Sequence], targets: &[Sequence]) -> Result<Folder, String> {
    let lines =
        |all: &[Sequence]| all.iter().flat_map(|one| [&one.letters[..], b"\n"].concat()).collect::<Vec<u8>>();
    let folder = Folder::new()?;
    folder.file("queries", &lines(queries))?;
    folder.file("targets", &lines(targets))?;
    Ok(folder)
}
