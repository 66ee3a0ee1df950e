//! Unpacking on the engine has the same content and the same errors as sequential unpacking.

use crate::common;

use std::io::{self, Read};

use common::{CODECS, noise, pack, small, text};
use thalweg::Options;
use thalweg_dedup::{
    Archive, Codec, Discard, Entry, Error, Limits, Result, Run, Sink, Stop, StreamSink, Summary, extract,
    extract_parallel,
};

/// The unpacked content, and the summary or error.
type Outcome = (Vec<u8>, std::result::Result<Summary, String>);

fn outcome(
    archive: &[u8],
    how: impl FnOnce(Archive<&[u8]>, &mut StreamSink<&mut Vec<u8>>) -> Result<Summary>,
) -> Outcome {
    let mut content = Vec::new();
    let done = Archive::open(archive, &Limits::default())
        .and_then(|archive| how(archive, &mut StreamSink::new(&mut content)));
    (content, done.map_err(|error| error.to_string()))
}

fn sequential(archive: &[u8]) -> Outcome {
    outcome(archive, |archive, sink| extract(archive, sink))
}

fn parallel(archive: &[u8], options: &Options) -> Outcome {
    outcome(archive, |archive, sink| extract_parallel(archive, sink, options).map(|(summary, _)| summary))
}

fn sample(codec: Codec) -> Vec<u8> {
    let part = text(1, 9000);
    pack(&[part.clone(), noise(2, 3000), part, text(3, 9000)].concat(), &small(codec))
}

#[test]
fn every_policy_and_thread_count_gives_the_same_content() {
    for codec in CODECS {
        let archive = sample(codec);
        let expected = sequential(&archive);
        assert!(expected.1.is_ok());
        for policy in thalweg::embed::policy::registry::names() {
            for threads in [1, 2, 5] {
                let options = Options::new().threads(threads).policy(policy);
                assert!(parallel(&archive, &options) == expected, "{policy} {threads}");
            }
        }
        let blocking = Run::new(&Options::new().threads(1)).blocking_input(true);
        let found =
            outcome(&archive, |archive, sink| extract_parallel(archive, sink, blocking).map(|(s, _)| s));
        assert!(found == expected);
    }
}

/// The run's own budget and run length give way to a plan.
#[test]
fn a_plan_of_the_caller_is_followed() {
    let archive = sample(Codec::None);
    let run = |options: &Options| {
        let archive = Archive::open(&archive[..], &Limits::default()).unwrap();
        extract_parallel(archive, &mut Discard, options).unwrap()
    };
    let (summary, report) = run(&Options::new().threads(2));
    let plan = report.plan().expect("a run of the engine has a plan");
    assert!(plan.budget().is_some() && plan.claim_lengths().iter().all(|claim| *claim == 1), "{plan}");
    let mut plan = plan.clone();
    (*plan.threads_mut(), *plan.budget_mut()) = (1, plan.budget().map(|budget| budget + 1));
    plan.claim_lengths_mut().fill(3);
    let (again, report) = run(&Options::new().plan(plan.clone()));
    assert_eq!((again, report.plan()), (summary, Some(&plan)));
}

#[test]
fn the_first_error_in_stream_order_is_reported_after_the_same_content() {
    let options = Options::new().threads(3);
    for codec in CODECS {
        let whole = sample(codec);
        for at in (0..whole.len()).step_by(97) {
            let mut damaged = whole.clone();
            // The second error is found earlier, and must not be reported first.
            damaged[at] ^= 0x20;
            let last = damaged.len() - 1;
            damaged[last - (last - at) / 2] ^= 1;
            for bytes in [&damaged[..], &whole[..at]] {
                let expected = sequential(bytes);
                assert!(expected.1.is_err());
                let found = parallel(bytes, &options);
                assert!(found == expected, "{at}: found {:?}, expected {:?}", found.1, expected.1);
            }
        }
    }
}

/// A sink that requests a stop after the given number of bytes.
struct StopAfter<'a>(usize, &'a Stop);

impl Sink for StopAfter<'_> {
    fn entry(&mut self, _entry: &Entry, _offset: u64) -> Result<()> {
        Ok(())
    }

    fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.0 = self.0.saturating_sub(bytes.len());
        if self.0 == 0 {
            self.1.stop();
        }
        Ok(())
    }
}

#[test]
fn a_stop_ends_every_kind_of_run() {
    let archive = sample(Codec::Zstd);
    for after in [0, 1, 10_000] {
        let stop = Stop::new();
        let opened = Archive::open(&archive[..], &Limits::default()).unwrap();
        let stopped = extract(opened.stop(&stop), &mut StopAfter(after, &stop));
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        for threads in [1, 3] {
            let stop = Stop::new();
            let run = Run::new(&Options::new().threads(threads)).stop(&stop);
            let opened = Archive::open(&archive[..], &Limits::default()).unwrap();
            let stopped = extract_parallel(opened, &mut StopAfter(after, &stop), run.clone());
            assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
            // A request is permanent.
            let packed = thalweg_dedup::pack(&b"x"[..], Vec::new(), &small(Codec::Zstd), run);
            assert!(matches!(packed, Err(Error::Stopped)), "{packed:?}");
        }
    }
}

/// An endless reader of zeros, which requests a stop after the given number of bytes.
struct Endless(usize, Stop);

impl Read for Endless {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_sub(bytes.len());
        if self.0 == 0 {
            self.1.stop();
        }
        bytes.fill(0);
        Ok(bytes.len())
    }
}

#[test]
fn an_endless_input_can_be_stopped() {
    for (threads, blocking) in [(1, false), (1, true), (3, false), (3, true)] {
        let stop = Stop::new();
        let run = Run::new(&Options::new().threads(threads)).stop(&stop).blocking_input(blocking);
        let input = Endless(1 << 20, stop.clone());
        let packed = thalweg_dedup::pack(input, io::sink(), &small(Codec::Zstd), run);
        assert!(matches!(packed, Err(Error::Stopped)), "{packed:?}");
    }
}

#[test]
fn verification_has_the_same_totals() {
    let archive = sample(Codec::Gzip);
    let opened = Archive::open(&archive[..], &Limits::default()).unwrap();
    let (summary, report) = extract_parallel(opened, &mut Discard, &Options::new().threads(2)).unwrap();
    assert_eq!(summary, sequential(&archive).1.unwrap());
    assert_eq!(report.threads(), 2);
}
