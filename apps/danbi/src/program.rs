//! The programs by name, each on its own input: for commands and measurements that run any of them.

use crate::{Complex, Image, fft2, filter_bank, fm_radio, merge_sort, rg, srad, tde};
use crc32fast::Hasher;
use std::fmt;
use thalweg::{Error, Options, Output, Report};

/// A program of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// [`filter_bank`].
    FilterBank,
    /// [`fm_radio`].
    FmRadio,
    /// [`fft2`].
    Fft2,
    /// [`tde`].
    Tde,
    /// [`merge_sort`].
    MergeSort,
    /// [`rg`].
    Rg,
    /// [`srad`].
    Srad,
}

impl Program {
    /// All programs, in the order of the paper's tables.
    pub const ALL: [Program; 7] = [
        Program::FilterBank,
        Program::FmRadio,
        Program::Fft2,
        Program::Tde,
        Program::MergeSort,
        Program::Rg,
        Program::Srad,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Program::FilterBank => "filter-bank",
            Program::FmRadio => "fm-radio",
            Program::Fft2 => "fft2",
            Program::Tde => "tde",
            Program::MergeSort => "merge-sort",
            Program::Rg => "rg",
            Program::Srad => "srad",
        }
    }

    /// The input of the paper's Table III, in million bytes.
    pub fn megabytes(self) -> u32 {
        match self {
            Program::FilterBank => filter_bank::MEGABYTES,
            Program::FmRadio => fm_radio::MEGABYTES,
            Program::Fft2 => fft2::MEGABYTES,
            Program::Tde => tde::MEGABYTES,
            Program::MergeSort => merge_sort::MEGABYTES,
            Program::Rg => rg::MEGABYTES,
            Program::Srad => srad::MEGABYTES,
        }
    }

    /// The program on its input of [`megabytes`](Program::megabytes) times `scale`, which this makes, with default parameters.
    ///
    /// ```
    /// use thalweg::Options;
    /// use thalweg_danbi::Program;
    ///
    /// let problem = Program::MergeSort.problem(0.0001, 1);
    /// let (checksum, report) = problem.run(&Options::new().threads(2))?;
    /// assert_eq!(checksum, problem.sequential());
    /// assert_eq!(report.threads(), 2);
    /// # Ok::<(), thalweg::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `scale` is negative, or the input would be larger than the address space.
    pub fn problem(self, scale: f64, seed: u64) -> Problem {
        match self {
            Program::FilterBank => Problem::new(
                filter_bank::input(scale, seed),
                |input| filter_bank::graph(input, &Default::default()),
                |input| filter_bank::sequential(input, &Default::default()),
            ),
            Program::FmRadio => Problem::new(
                fm_radio::input(scale, seed),
                |input| fm_radio::graph(input, &Default::default()),
                |input| fm_radio::sequential(input, &Default::default()),
            ),
            Program::Fft2 => Problem::new(
                fft2::input(scale, seed),
                |input| fft2::graph(input, &Default::default()),
                |input| fft2::sequential(input, &Default::default()),
            ),
            Program::Tde => Problem::new(
                tde::input(scale, seed),
                |input| tde::graph(input, &Default::default()),
                |input| tde::sequential(input, &Default::default()),
            ),
            Program::MergeSort => Problem::of_run(
                merge_sort::input(scale, seed),
                |input, options| merge_sort::sort(input, &Default::default(), options),
                merge_sort::sequential,
            ),
            Program::Rg => Problem::new(
                rg::input(scale, seed),
                |input| rg::graph(input, &Default::default()),
                |input| rg::sequential(input, &Default::default()),
            ),
            Program::Srad => Problem::of_run(
                srad::input(scale, seed),
                |input, options| srad::smooth(input, &Default::default(), options),
                |input| srad::sequential(input, &Default::default()),
            ),
        }
    }
}

/// The checksum of a result, and what the run was like.
type Ran = Result<(u32, Report), Error>;

/// A program with its input.
pub struct Problem {
    bytes: usize,
    run: Box<dyn Fn(&Options) -> Ran + Send + Sync>,
    sequential: Box<dyn Fn() -> u32 + Send + Sync>,
}

impl Problem {
    fn new<I, T, S>(
        input: Vec<I>,
        graph: for<'env> fn(&'env [I]) -> Output<'env, T>,
        sequential: fn(&[I]) -> S,
    ) -> Problem
    where
        I: Sum + Send + Sync + 'static,
        T: Sum + 'static,
        S: Sum + 'static,
    {
        let run = move |input: &[I], options: &Options| Ok(graph(input).run_with(options)?.into_parts());
        Problem::of_run(input, run, sequential)
    }

    /// A program that makes its graph when it runs.
    fn of_run<I, T, S>(
        input: Vec<I>,
        run: impl Fn(&[I], &Options) -> Result<(T, Report), Error> + Send + Sync + 'static,
        sequential: fn(&[I]) -> S,
    ) -> Problem
    where
        I: Sum + Send + Sync + 'static,
        T: Sum + 'static,
        S: Sum + 'static,
    {
        let input = std::sync::Arc::new(input);
        let same = input.clone();
        let run = move |options: &Options| {
            let (value, report) = run(&input, options)?;
            Ok((checksum(&value), report))
        };
        Problem {
            bytes: same.iter().map(Sum::bytes).sum(),
            run: Box::new(run),
            sequential: Box::new(move || checksum(&sequential(&same))),
        }
    }

    /// The bytes of the input.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Runs the graph. Returns the CRC-32 of the result's bits, and the report, whose time is that without the checksum's.
    ///
    /// # Errors
    /// As those of [`Output::run_with`].
    pub fn run(&self, options: &Options) -> Ran {
        (self.run)(options)
    }

    /// The checksum of the sequential program's result.
    pub fn sequential(&self) -> u32 {
        (self.sequential)()
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Problem").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

fn checksum(value: &impl Sum) -> u32 {
    let mut sum = Hasher::new();
    value.add_to(&mut sum);
    sum.finalize()
}

/// Values that have a checksum, which is that of the numbers in them: how they are divided into items does not count.
trait Sum {
    fn add_to(&self, sum: &mut Hasher);

    /// The bytes of the numbers.
    fn bytes(&self) -> usize;
}

impl Sum for f32 {
    fn add_to(&self, sum: &mut Hasher) {
        sum.update(&self.to_bits().to_le_bytes());
    }

    fn bytes(&self) -> usize {
        size_of::<f32>()
    }
}

impl Sum for u32 {
    fn add_to(&self, sum: &mut Hasher) {
        sum.update(&self.to_le_bytes());
    }

    fn bytes(&self) -> usize {
        size_of::<u32>()
    }
}

impl Sum for Complex {
    fn add_to(&self, sum: &mut Hasher) {
        self.re.add_to(sum);
        self.im.add_to(sum);
    }

    fn bytes(&self) -> usize {
        self.re.bytes() + self.im.bytes()
    }
}

impl Sum for Image {
    fn add_to(&self, sum: &mut Hasher) {
        sum.update(self.pixels().as_flattened());
    }

    fn bytes(&self) -> usize {
        self.pixels().as_flattened().len()
    }
}

impl Sum for srad::Plane {
    fn add_to(&self, sum: &mut Hasher) {
        self.values().iter().for_each(|value| value.add_to(sum));
    }

    fn bytes(&self) -> usize {
        size_of_val(self.values())
    }
}

impl<T: Sum, const N: usize> Sum for [T; N] {
    fn add_to(&self, sum: &mut Hasher) {
        self.iter().for_each(|item| item.add_to(sum));
    }

    fn bytes(&self) -> usize {
        self.iter().map(Sum::bytes).sum()
    }
}

impl<T: Sum> Sum for Vec<T> {
    fn add_to(&self, sum: &mut Hasher) {
        self.iter().for_each(|item| item.add_to(sum));
    }

    fn bytes(&self) -> usize {
        self.iter().map(Sum::bytes).sum()
    }
}

impl<T: Sum> Sum for Box<T> {
    fn add_to(&self, sum: &mut Hasher) {
        (**self).add_to(sum);
    }

    fn bytes(&self) -> usize {
        (**self).bytes()
    }
}
