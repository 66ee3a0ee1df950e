//! The alignment of one pair.

use std::sync::OnceLock;

use thalweg::machine::Places;

use crate::affine::{self, Grid, Profile};
use crate::alignment::Alignment;
use crate::general::{self, Cube};
use crate::wavefront::{Each, Quiet, Watch, Wavefront};
use crate::{Error, Gap, Result, Schedule, Scoring};

/// The most letters of a row or column of a block.
const LONGEST_BLOCK: usize = 1 << 16;

/// Aligns pairs of sequences.
///
/// ```
/// use thalweg_align::{Aligner, Gap, Scoring};
///
/// let aligner = Aligner::new(Scoring::dna(2, 3, Gap::Affine { open: 5, extend: 2 })?);
/// let (query, target) = (b"ACGTACGTAC", b"TTACGTCGTACTT");
/// assert_eq!(aligner.score(query, target)?, 13);
/// let alignment = aligner.align(query, target)?.expect("a score above 0");
/// assert_eq!((alignment.score, alignment.query, alignment.target), (13, 0..10, 2..11));
/// # Ok::<(), thalweg_align::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Aligner {
    scoring: Scoring,
    block: usize,
    threads: usize,
    schedule: Schedule,
    places: Option<Places>,
}

/// What pairs take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// The products of the lengths, added.
    pub cells: u128,
    /// Updates of cells: the cells for affine gap costs; for others, what each cell looks at.
    pub updates: u128,
    /// Bytes that the alignment of the largest pair takes. (Scores alone take less, if gaps are affine.)
    pub memory: u64,
}

impl Aligner {
    /// An aligner with blocks of 1024 by 1024 cells, and of 128 by 128 where gaps are not affine; and as many threads as the
    /// process may run at once.
    pub fn new(scoring: Scoring) -> Aligner {
        let block = match scoring.gap() {
            Gap::Affine { .. } => 1024,
            Gap::Cost(_) => 128,
        };
        let threads = thalweg::loops::team_size();
        Aligner { scoring, block, threads, schedule: Schedule::default(), places: None }
    }

    /// Sets the rows and columns of a block (1 to 65536; other numbers become the nearest of these). The result does
    /// not depend on it.
    #[must_use]
    pub fn block(self, cells: usize) -> Aligner {
        Aligner { block: cells.clamp(1, LONGEST_BLOCK), ..self }
    }

    /// Sets the most threads that work (at least 1). The result does not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Aligner {
        Aligner { threads: threads.max(1), ..self }
    }

    /// Sets how several threads execute the blocks of a pair. The result does not depend on it.
    #[must_use]
    pub fn schedule(self, schedule: Schedule) -> Aligner {
        Aligner { schedule, ..self }
    }

    /// Sets the place of each thread on a machine, which may be a described one, and counts accesses ([`Watch::counts`]): one is
    /// remote if no thread of the memory domain has the rows of the block that is accessed. Threads of [`Schedule::Tasks`]
    /// that find no block of their own then prefer those of threads near them. The result does not depend on it.
    #[must_use]
    pub fn places(self, places: &Places) -> Aligner {
        Aligner { places: Some(places.clone()), ..self }
    }

    /// The scores and gap costs.
    pub fn scoring(&self) -> &Scoring {
        &self.scoring
    }

    /// The most threads that work.
    pub(crate) fn most_threads(&self) -> usize {
        self.threads
    }

    /// What a pair of sequences of these lengths takes.
    pub fn work(&self, query: usize, target: usize) -> Work {
        let cells = query as u128 * target as u128;
        let graph = self.graph_memory(query, target);
        match self.scoring.gap() {
            Gap::Affine { .. } => {
                Work { cells, updates: cells, memory: affine::memory(query, target, self.block) + graph }
            }
            Gap::Cost(_) => {
                let updates = cells * (query as u128 + target as u128) / 2;
                let narrow = general::is_narrow(query, target, &self.scoring);
                Work { cells, updates, memory: general::memory(query, target, self.block, narrow) + graph }
            }
        }
    }

    /// The bytes that the order of a pair's blocks and their best scores take.
    pub(crate) fn graph_memory(&self, query: usize, target: usize) -> u64 {
        48 * query.div_ceil(self.block) as u64 * target.div_ceil(self.block) as u64
    }

    /// The score of the best local alignment: 0 if no pair of letters scores above 0.
    ///
    /// # Errors
    /// The scores may exceed 32 bits.
    pub fn score(&self, query: &[u8], target: &[u8]) -> Result<i32> {
        let query = Query::new(self.scoring.alphabet().codes(query));
        self.score_codes(&query, &self.scoring.alphabet().codes(target), self.wavefront(&Quiet))
    }

    /// Like [`Aligner::score`], but `each` executes the blocks of each anti-diagonal: how another system's loops call the same
    /// compiled functions. Neither the schedule nor the number of threads matters.
    ///
    /// # Errors
    /// As [`Aligner::score`].
    #[doc(hidden)]
    pub fn score_by(&self, query: &[u8], target: &[u8], each: Each<'_>) -> Result<i32> {
        let query = Query::new(self.scoring.alphabet().codes(query));
        let wavefront = Wavefront { each: Some(each), ..self.wavefront(&Quiet) };
        self.score_codes(&query, &self.scoring.alphabet().codes(target), wavefront)
    }

    /// The best local alignment, or `None` if its score is 0. Of several, it is the one whose last letter of the target
    /// comes first, and then the one whose last letter of the query does.
    ///
    /// # Errors
    /// The scores may exceed 32 bits.
    pub fn align(&self, query: &[u8], target: &[u8]) -> Result<Option<Alignment>> {
        let query = Query::new(self.scoring.alphabet().codes(query));
        self.align_codes(&query, &self.scoring.alphabet().codes(target), 1, self.wavefront(&Quiet))
    }

    /// Execution of the blocks of a pair by all threads.
    pub(crate) fn wavefront<'a>(&'a self, watch: &'a dyn Watch) -> Wavefront<'a> {
        let (schedule, places) = (self.schedule, self.places.as_ref());
        Wavefront { threads: self.threads, schedule, places, watch, each: None }
    }

    /// See [`Aligner::score`].
    pub(crate) fn score_codes(&self, query: &Query, target: &[u8], wavefront: Wavefront<'_>) -> Result<i32> {
        self.check(query.codes.len(), target.len())?;
        match self.scoring.gap() {
            Gap::Affine { .. } => self.grid(query, target).score(wavefront),
            Gap::Cost(_) => {
                Ok(self.general(&query.codes, target, 1, wavefront)?.map_or(0, |found| found.score))
            }
        }
    }

    /// See [`Aligner::align`]. Alignments with scores below `least` are not computed.
    pub(crate) fn align_codes(
        &self,
        query: &Query,
        target: &[u8],
        least: i32,
        wavefront: Wavefront<'_>,
    ) -> Result<Option<Alignment>> {
        self.check(query.codes.len(), target.len())?;
        match self.scoring.gap() {
            Gap::Affine { .. } => self.grid(query, target).align(least, wavefront),
            Gap::Cost(_) => self.general(&query.codes, target, least, wavefront),
        }
    }

    fn grid<'a>(&'a self, query: &'a Query, target: &'a [u8]) -> Grid<'a> {
        let profile = query.profile.get_or_init(|| Profile::new(&query.codes, &self.scoring, self.block));
        Grid::new(&query.codes, target, &self.scoring, profile, self.block)
    }

    fn general(
        &self,
        query: &[u8],
        target: &[u8],
        least: i32,
        wavefront: Wavefront<'_>,
    ) -> Result<Option<Alignment>> {
        if general::is_narrow(query.len(), target.len(), &self.scoring) {
            Cube::<i16>::new(query, target, &self.scoring, self.block).align(least, wavefront)
        } else {
            Cube::<i32>::new(query, target, &self.scoring, self.block).align(least, wavefront)
        }
    }

    pub(crate) fn check(&self, query: usize, target: usize) -> Result<()> {
        let most = query.min(target) as u64 * self.scoring.most() as u64;
        if most > 1 << 29 {
            return Err(Error::TooLarge {
                what: format!(
                    "sequences of {query} and {target} letters may score {most}, the limit is {}",
                    1 << 29
                ),
                help: "divide all scores and gap costs by a common divisor, or split the sequences",
            });
        }
        Ok(())
    }
}

/// The codes of a query, with its profile, which is made when the first pair needs it.
#[derive(Debug)]
pub(crate) struct Query {
    codes: Vec<u8>,
    profile: OnceLock<Profile>,
}

impl Query {
    pub fn new(codes: Vec<u8>) -> Query {
        Query { codes, profile: OnceLock::new() }
    }

    pub fn codes(&self) -> &[u8] {
        &self.codes
    }

    pub fn len(&self) -> usize {
        self.codes.len()
    }
}
