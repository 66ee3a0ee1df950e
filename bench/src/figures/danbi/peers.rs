//! RG and MergeSort beside their natural forms in rayon and oneTBB: whole images in parallel, and divide and conquer with joins.
//! The peers execute the same algorithms; the checksum is that of the result's bits.

use std::time::Instant;

use thalweg::Options;
use thalweg_danbi::{Image, merge_sort, rg};

use crate::line::Measure;
use crate::peers::danbi::{Rayon, Tbb};
use crate::race::{Contestant, Role};
use crate::row::Row;
use crate::session::Session;

/// The images of RG, and the keys of MergeSort, as shares of the paper's inputs: 16 images of a million pixels, and 8 million keys.
const IMAGES: f64 = 0.0225;
const KEYS: f64 = 0.0088;

/// The part of an input with which a quick look runs.
const QUICK: f64 = 1.0 / 8.0;

/// Runs the selected figures.
pub(super) fn run(session: &mut Session) {
    for threads in session.thread_counts() {
        blur(session, threads);
        sort(session, threads);
    }
}

/// oneTBB, if its library was built.
fn tbb(session: &mut Session, threads: usize) -> Option<Tbb> {
    Tbb::load(threads).unwrap_or_else(|error| {
        session.errors.push(error);
        None
    })
}

/// The share of an input.
fn share(session: &Session, whole: f64) -> f64 {
    if session.options.quick { QUICK * whole } else { whole }
}

fn blur(session: &mut Session, threads: usize) {
    let name = format!("danbi.peers.rg.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let (images, parameters) = (rg::input(share(session, IMAGES), 1), rg::Parameters::default());
    let expected = sum_of_images(&rg::sequential(&images, &parameters));
    let (images, options) = (&images[..], Options::new().threads(threads));
    let ours = || {
        let blurred = rg::graph(images, &parameters).run_with(&options);
        blurred.map(|blurred| blurred.into_value()).map_err(|error| error.to_string())
    };
    let rayon = Rayon::new(threads);
    let mut contestants = vec![
        contestant("ours", Role::Ours, ours, sum_of_images, expected),
        contestant("rayon", Role::Peer, || Ok(rayon.blur(images, &parameters)), sum_of_images, expected),
    ];
    if let Some(tbb) = tbb(session, threads) {
        let blur = move || Ok(tbb.blur(images, &parameters));
        contestants.push(contestant("tbb-pipeline", Role::Peer, blur, sum_of_images, expected));
    }
    session.figure(&name, Measure::Ms, threads, contestants);
}

fn sort(session: &mut Session, threads: usize) {
    let name = format!("danbi.peers.merge-sort.t{threads}");
    if !session.selects(&name) {
        return;
    }
    let keys = &merge_sort::input(share(session, KEYS), 1)[..];
    let expected = sum_of_keys(&merge_sort::sequential(keys));
    let (parameters, options) = (merge_sort::Parameters::default(), Options::new().threads(threads));
    let ours = || {
        let sorted = merge_sort::sort(keys, &parameters, &options);
        sorted.map(|(sorted, _report)| sorted).map_err(|error| error.to_string())
    };
    // Halves of halves down to pieces as long as ours: with shorter ones the peers would have one level more.
    let (rayon, piece) = (Rayon::new(threads), parameters.keys_of_piece(keys.len()));
    let mut contestants = vec![
        contestant("ours", Role::Ours, ours, sum_of_keys, expected),
        contestant("rayon-join", Role::Peer, || Ok(rayon.sort(keys, piece)), sum_of_keys, expected),
        contestant("rayon-par_sort", Role::Aside, || Ok(rayon.par_sort(keys)), sum_of_keys, expected),
    ];
    if let Some(tbb) = tbb(session, threads) {
        let sort = move || Ok(tbb.sort(keys, piece));
        contestants.push(contestant("tbb-invoke", Role::Peer, sort, sum_of_keys, expected));
    }
    session.figure(&name, Measure::Ms, threads, contestants);
}

/// A contestant whose time is that of its result, without that of the checksum.
fn contestant<'a, T: 'a>(
    name: &'static str,
    role: Role,
    run: impl Fn() -> Result<Vec<T>, String> + 'a,
    sum: fn(&[T]) -> u64,
    expected: u64,
) -> Contestant<'a> {
    let run = move || {
        let start = Instant::now();
        let result = run()?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Some(Row::new(seconds, sum(&result))))
    };
    Contestant::new(name, role, 1, run).expecting(expected)
}

fn sum_of_keys(keys: &[u32]) -> u64 {
    crate::suite::checksum(keys)
}

fn sum_of_images(images: &[Image]) -> u64 {
    let pixels = images.iter().flat_map(|image| image.pixels().iter().copied().map(u32::from_le_bytes));
    crate::suite::checksum(&pixels.collect::<Vec<_>>())
}
