//! Raw timely, with its own sockets and no limit on what is under way: the jobs that send every item to the process of its key.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use timely::communication::Config as Communication;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Capability, Input, InputCapability, Probe};
use timely::dataflow::{InputHandle, Stream};
use timely::worker::Worker;
use timely::{Config, WorkerConfig};

use crate::cluster::{Blocks, KeyedJob, Seat, Word, lines_of_counts, words};
use crate::work::mix;

type Builder<T> = CapacityContainerBuilder<Vec<T>>;

/// Runs the worker of this process.
///
/// # Errors
/// There is no such job, or it fails.
pub fn run(seat: &Seat, job: &str, arguments: &[OsString]) -> Result<(), String> {
    let communication = match seat.addresses.len() {
        1 => Communication::Thread,
        _ => Communication::Cluster {
            threads: 1,
            process: seat.process,
            addresses: seat.addresses.clone(),
            report: false,
            zerocopy: false,
        },
    };
    let config = Config { communication, worker: WorkerConfig::default() };
    match (job, arguments) {
        ("every-word", [input, output]) => every_word(config, input.as_ref(), output.as_ref()),
        ("keyed", [output, numbers @ ..]) => keyed(config, output.as_ref(), KeyedJob::read(numbers)?),
        _ => Err(format!("{job} {arguments:?}: no job")),
    }
}

/// Runs a worker to its end.
fn execute(config: Config, work: impl Fn(&mut Worker) + Send + Sync + 'static) -> Result<(), String> {
    let guards = timely::execute(config, work)?;
    guards.join().into_iter().collect()
}

fn text(error: std::io::Error) -> String {
    error.to_string()
}

fn hash(word: &Word) -> u64 {
    word.bytes()
        .iter()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Each word goes to the worker of its key; the counts at the end to worker 0.
fn every_word(config: Config, input: &Path, output: &Path) -> Result<(), String> {
    let blocks = Arc::new(Blocks::open(input, 1 << 16).map_err(text)?);
    let all: Arc<Mutex<Vec<(Word, u64)>>> = Arc::default();
    let (counted, is_first) = (all.clone(), is_first(&config));
    execute(config, move |worker| {
        let (me, workers) = (worker.index(), worker.peers());
        let (mut input, all) = (InputHandle::<u64, Builder<Word>>::new(), counted.clone());
        worker.dataflow::<u64, _, _>(|scope| {
            let by_word = Exchange::new(hash);
            scope
                .input_from(&mut input)
                .unary_frontier::<Builder<(Word, u64)>, _, _, _>(by_word, "count", |capability, _| {
                    let mut capability = Some(capability);
                    let mut counts: HashMap<Word, u64> = HashMap::new();
                    move |(input, frontier), output| {
                        input.for_each(|_, words| {
                            words.drain(..).for_each(|word| *counts.entry(word).or_default() += 1);
                        });
                        if frontier.is_empty()
                            && let Some(capability) = capability.take()
                        {
                            let mut session = output.session(&capability);
                            counts.drain().for_each(|count| session.give(count));
                        }
                    }
                })
                .unary::<Builder<()>, _, _, _>(Exchange::new(|_| 0), "collect", move |_, _| {
                    move |input, _| {
                        input.for_each(|_, counts| {
                            all.lock().unwrap_or_else(PoisonError::into_inner).append(counts);
                        });
                    }
                });
        });
        for block in (me..blocks.count()).step_by(workers) {
            input.advance_to(block as u64);
            let text = blocks.text(block).unwrap_or_else(|error| panic!("block {block}: {error}"));
            words(&text).for_each(|word| input.send(word));
            input.flush();
            worker.step();
        }
    })?;
    if !is_first {
        return Ok(());
    }
    let counts = all.lock().unwrap_or_else(PoisonError::into_inner);
    lines_of_counts(output, counts.iter().map(|(word, count)| (word.bytes(), *count)).collect()).map_err(text)
}

fn is_first(config: &Config) -> bool {
    !matches!(config.communication, Communication::Cluster { process, .. } if process > 0)
}

/// Items that wait until their time is complete.
struct Waiting<T>(BTreeMap<u64, Vec<T>>);

impl<T> Waiting<T> {
    fn add(&mut self, time: u64, items: &mut Vec<T>) {
        self.0.entry(time).or_default().append(items);
    }

    /// The items of the first time, if it is before that of the frontier; `None` there is its end.
    fn pop(&mut self, frontier: Option<u64>) -> Option<(u64, Vec<T>)> {
        let first = self.0.first_entry()?;
        frontier.is_none_or(|frontier| *first.key() < frontier).then(|| first.remove_entry())
    }
}

/// Each key goes to its worker, and its count to worker 0, which restores the order by times: a batch has one.
fn keyed(config: Config, output: &Path, job: KeyedJob) -> Result<(), String> {
    let file = is_first(&config).then(|| File::create(output)).transpose().map_err(text)?;
    let file = Arc::new(Mutex::new(file.map(|file| BufWriter::with_capacity(1 << 16, file))));
    let written = file.clone();
    execute(config, move |worker| {
        let (me, workers) = (worker.index(), worker.peers());
        let mut input = InputHandle::<u64, Builder<(u32, u64)>>::new();
        let file = file.clone();
        let probe = worker.dataflow::<u64, _, _>(|scope| {
            let numbers = scope.input_from(&mut input);
            let keys = numbers.unary::<Builder<(u32, u32)>, _, _, _>(Pipeline, "map", |_, _| {
                move |input, output| {
                    input.for_each(|capability, numbers| {
                        let mut session = output.session(&capability);
                        numbers.drain(..).for_each(|(at, number)| session.give((at, KeyedJob::key(number))));
                    });
                }
            });
            let by_key = Exchange::new(|(_, key): &(u32, u32)| mix((*key).into()));
            let counts =
                keys.unary_frontier::<Builder<(u32, u32, u32)>, _, _, _>(by_key, "count", |capability, _| {
                    let mut capability = Some(capability);
                    let (mut waiting, mut counts) = (Waiting(BTreeMap::new()), HashMap::<u32, u32>::new());
                    move |(input, frontier), output| {
                        input.for_each(|capability, keys| waiting.add(time(&capability), keys));
                        let frontier = frontier.frontier().first().copied();
                        while let (Some((time, keys)), Some(capability)) =
                            (waiting.pop(frontier), &mut capability)
                        {
                            capability.downgrade(&time);
                            let mut session = output.session(&*capability);
                            for (at, key) in keys {
                                let count = counts.entry(key).or_default();
                                *count += 1;
                                session.give((at, key, *count));
                            }
                        }
                        advance(&mut capability, frontier);
                    }
                });
            sink(counts, file).probe().0
        });
        for part in (me..job.parts()).step_by(workers) {
            input.advance_to(part as u64);
            for (at, number) in job.part(part).enumerate() {
                input.send((at as u32, number));
            }
            input.flush();
            worker.step();
        }
        drop(input);
        while !probe.done() {
            worker.step_or_park(None);
        }
    })?;
    let mut file = written.lock().unwrap_or_else(PoisonError::into_inner);
    file.as_mut().map_or(Ok(()), Write::flush).map_err(text)
}

/// The time of a message.
fn time(capability: &InputCapability<u64>) -> u64 {
    capability.least().copied().unwrap_or_default()
}

/// Gives up what is before the frontier.
fn advance(capability: &mut Option<Capability<u64>>, frontier: Option<u64>) {
    match (&mut *capability, frontier) {
        (_, None) => *capability = None,
        (Some(capability), Some(time)) if time > *capability.time() => capability.downgrade(&time),
        _ => {}
    }
}

type Numbered = (u32, u32, u32);

/// Writes the counts of each time, in the order of its items, at worker 0.
fn sink<'scope>(
    counts: Stream<'scope, u64, Vec<Numbered>>,
    file: Arc<Mutex<Option<BufWriter<File>>>>,
) -> Stream<'scope, u64, Vec<()>> {
    let to_first = Exchange::new(|_: &Numbered| 0);
    counts.unary_frontier::<Builder<()>, _, _, _>(to_first, "write", move |capability, _| {
        let mut capability = Some(capability);
        let mut waiting = Waiting(BTreeMap::new());
        move |(input, frontier), _| {
            input.for_each(|capability, counts| waiting.add(time(&capability), counts));
            let frontier = frontier.frontier().first().copied();
            while let Some((_, mut counts)) = waiting.pop(frontier) {
                counts.sort_unstable();
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                for (_, key, count) in counts {
                    let line = KeyedJob::line(key, count);
                    let written = file.as_mut().map_or(Ok(()), |file| file.write_all(&line));
                    written.unwrap_or_else(|error| panic!("{error}"));
                }
            }
            advance(&mut capability, frontier);
        }
    })
}
