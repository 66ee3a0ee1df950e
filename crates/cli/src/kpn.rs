//! `thalweg demo kpn`.

use std::time::Instant;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand, ValueEnum};
use thalweg_kpn::{
    H264, Job, Layers, Mode, Order, aes, h264, layered, ping_pong, ping_pong_coroutines, pipeline, ring,
    scatter_gather,
};

use crate::engine::{Engine, Graphs};
use crate::interrupt::Interrupt;
use crate::memory::has_room_for_threads;
use crate::misuse::Misuse;
use crate::{size, standard};

/// Run a process network of the Nornir paper, and check its result.
///
/// The networks are those of "The Nornir run-time system" (Vrba et al.), sections 4.5 and 5: Kahn processes that exchange
/// messages and do a given amount of work for each. The result is compared with that of a sequential loop that does the
/// same work, so it does not depend on threads or policy.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo kpn ping-pong --rounds 100000 --threads 1
  thalweg demo kpn ring --processes 10000 --rounds 10 --report
  thalweg demo kpn pipeline --stages 50 --messages 1000 --work 1000
  thalweg demo kpn scatter-gather --workers 100 --rounds 100 --one-to-one
  thalweg demo kpn h264 --frames 30 --work 10000000 --save-report report.json")]
pub(crate) struct Kpn {
    #[command(subcommand)]
    network: Network,
}

#[derive(Debug, Subcommand)]
enum Network {
    /// Two processes send a message back and forth: the cost of a send, a switch and a receive (section 4.5).
    #[command(after_long_help = "Example:
  thalweg demo kpn ping-pong --rounds 100000 --threads 1")]
    PingPong(PingPong),
    /// A token goes round a ring of processes.
    #[command(after_long_help = "Example:
  thalweg demo kpn ring --processes 10000 --rounds 10 --report")]
    Ring(Ring),
    /// A chain of processes, each of which works on every message (section 5.3.4).
    #[command(after_long_help = "Example:
  thalweg demo kpn pipeline --stages 50 --messages 1000 --work 1000")]
    Pipeline(Pipeline),
    /// A process sends a task to each of many workers, and waits for all answers (section 5.2.1).
    #[command(after_long_help = "Example:
  thalweg demo kpn scatter-gather --workers 100 --rounds 100 --one-to-one")]
    ScatterGather(ScatterGather),
    /// Layers of processes with random channels, some of them backwards (section 5.2.2).
    #[command(after_long_help = "Example:
  thalweg demo kpn layered --messages 100 --work 100000 --report")]
    Layered(Layered),
    /// Workers encrypt parts of a text (section 5.3.2).
    #[command(after_long_help = "Example:
  thalweg demo kpn aes --bytes 1MiB --workers 100 --counter")]
    Aes(Aes),
    /// The processes and feedback channels of an H.264 encoder, with work in place of a codec (section 5.3.1).
    #[command(after_long_help = "Example:
  thalweg demo kpn h264 --frames 30 --work 10000000 --save-report report.json")]
    H264(Encoder),
}

#[derive(Debug, Args)]
struct PingPong {
    /// Times that the message goes there and back
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rounds: u64,
    /// Run plain functions on stacks of their own, instead of asynchronous ones
    #[arg(long)]
    coroutines: bool,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Ring {
    /// Processes of the ring
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    processes: u32,
    /// Times that the token goes round
    #[arg(long, value_name = "N", default_value_t = 100)]
    rounds: u64,
    /// Create the processes in a random order with this seed, so that neighbours are not neighbours in memory
    #[arg(long, value_name = "SEED")]
    shuffle: Option<u64>,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Pipeline {
    /// Processes of the chain
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    stages: u32,
    /// Messages that go through the chain
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    messages: u64,
    /// Bytes of a message
    #[arg(long, value_enum, default_value_t = Bytes::B8)]
    bytes: Bytes,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    run: Run,
}

/// The sizes of messages for which the pipeline is compiled.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Bytes {
    #[value(name = "8")]
    B8,
    #[value(name = "64")]
    B64,
    #[value(name = "512")]
    B512,
    #[value(name = "4096")]
    B4096,
}

#[derive(Debug, Args)]
struct ScatterGather {
    /// Times that all workers get a task
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    rounds: u64,
    /// Workers
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    workers: u32,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Layered {
    /// Messages that go through the network
    #[arg(long, value_name = "N", default_value_t = 1000)]
    messages: u64,
    /// Layers between the source and the sink; the default network has the size of the paper's
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    layers: u32,
    /// The most processes of a layer
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    most: u32,
    /// The most channels that lead backwards
    #[arg(long, value_name = "N", default_value_t = 13, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    back: u32,
    /// The seed of the network
    #[arg(long, value_name = "SEED", default_value_t = 689)]
    seed: u64,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, Args)]
struct Aes {
    /// Bytes of the text, at most 1G
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = text_bytes)]
    bytes: usize,
    /// Workers, each of which encrypts a part
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    workers: u32,
    /// Times that the text is encrypted
    #[arg(long, value_name = "N", default_value_t = 4)]
    passes: u32,
    /// Encrypt with a counter (CTR), instead of each block by itself (ECB)
    #[arg(long)]
    counter: bool,
    #[command(flatten)]
    run: Run,
}

/// Parses the length of a text.
fn text_bytes(text: &str) -> Result<usize, String> {
    let bytes = size::parse(text)?;
    let fits = usize::try_from(bytes).ok().filter(|bytes| *bytes as u64 <= 1 << 30);
    fits.ok_or_else(|| format!("expected at most 1G, not {text}"))
}

#[derive(Debug, Args)]
struct Encoder {
    /// Frames
    #[arg(long, value_name = "N", default_value_t = 30)]
    frames: u64,
    /// Messages of a frame; the paper's frames are whole
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    rows: u64,
    /// Workers of each parallel stage
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    workers: u32,
    /// Units of work for a frame, of about a nanosecond each
    #[arg(long, value_name = "UNITS", default_value_t = 10_000_000)]
    work: u64,
    #[command(flatten)]
    run: Run,
}

#[derive(Clone, Copy, Debug, Args)]
struct Work {
    /// Units of work that a process does for a message, of about a nanosecond each; in the layered network, units that each
    /// layer shares
    #[arg(long, value_name = "UNITS", default_value_t = 100)]
    work: u64,
}

/// How the network runs.
#[derive(Debug, Args)]
struct Run {
    /// Run each process on a thread of its own, which the operating system schedules, for comparison: at most 4096
    #[arg(long, conflicts_with_all = ["threads", "policy", "pools", "plan", "machine"])]
    one_to_one: bool,
    /// Do not compute the result by a sequential loop too
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    engine: Engine,
}

/// Does units of work. The result depends on `value`.
fn work(units: u64, value: u64) -> u64 {
    (0..units).fold(value, |value, _| (value ^ value >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Kpn {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let (name, run) = match &self.network {
            Network::PingPong(network) => ("ping-pong", &network.run),
            Network::Ring(network) => ("ring", &network.run),
            Network::Pipeline(network) => ("pipeline", &network.run),
            Network::ScatterGather(network) => ("scatter-gather", &network.run),
            Network::Layered(network) => ("layered", &network.run),
            Network::Aes(network) => ("aes", &network.run),
            Network::H264(network) => ("h264", &network.run),
        };
        run.check_one_to_one(self.network.processes())?;
        run.execute(name, || self.network.job(), interrupt)
    }
}

/// The most processes with threads of their own: as many as the engine has threads at most.
const MOST_ONE_TO_ONE: u64 = 4096;

impl Network {
    /// How many processes the network has, or may have.
    fn processes(&self) -> u64 {
        match self {
            Network::PingPong(_) => 2,
            Network::Ring(Ring { processes, .. }) => (*processes).into(),
            Network::Pipeline(Pipeline { stages, .. }) => (*stages).into(),
            Network::ScatterGather(ScatterGather { workers, .. }) => u64::from(*workers) + 1,
            Network::Layered(Layered { layers, most, .. }) => u64::from(*layers) * u64::from(*most) + 2,
            Network::Aes(Aes { workers, .. }) => u64::from(*workers) + 1,
            // Three of the 11 stages are hubs with workers.
            Network::H264(Encoder { workers, .. }) => 3 * u64::from(*workers) + 11,
        }
    }

    /// The network, with its result.
    fn job(&self) -> Job {
        match self {
            Network::PingPong(PingPong { rounds, coroutines: true, .. }) => ping_pong_coroutines(*rounds),
            Network::PingPong(PingPong { rounds, .. }) => ping_pong(*rounds),
            Network::Ring(Ring { processes, rounds, shuffle, .. }) => {
                ring(*processes as usize, *rounds, shuffle.map_or(Order::Creation, Order::Shuffled))
            }
            Network::Pipeline(pipeline) => pipeline.job(),
            Network::ScatterGather(ScatterGather { rounds, workers, work: Work { work: units }, .. }) => {
                let units = *units;
                scatter_gather(*rounds, *workers as usize, move |value| work(units, value))
            }
            Network::Layered(Layered { messages, layers, most, back, seed, work: of_message, .. }) => {
                let layers = Layers::new(*layers as usize, *most as usize, *back as usize, *seed);
                layered(&layers, *messages, of_message.work, work)
            }
            Network::Aes(Aes { bytes, workers, passes, counter, .. }) => {
                aes(*bytes, *workers as usize, *passes, if *counter { Mode::Ctr(0) } else { Mode::Ecb })
            }
            Network::H264(Encoder { frames, rows, workers, work: of_frame, .. }) => {
                h264(H264 { frames: *frames, rows: *rows, workers: *workers as usize }, *of_frame, work)
            }
        }
    }
}

impl Pipeline {
    fn job(&self) -> Job {
        let (stages, messages, units) = (self.stages as usize, self.messages, self.work.work);
        let work = move |value| work(units, value);
        match self.bytes {
            Bytes::B8 => pipeline::<1>(stages, messages, work),
            Bytes::B64 => pipeline::<8>(stages, messages, work),
            Bytes::B512 => pipeline::<64>(stages, messages, work),
            Bytes::B4096 => pipeline::<512>(stages, messages, work),
        }
    }
}

impl Run {
    /// Refuses more threads than the engine has at most, or the address space has room for. (A million would use up the
    /// system's.)
    fn check_one_to_one(&self, processes: u64) -> Result<()> {
        if !self.one_to_one {
            return Ok(());
        }
        ensure!(
            processes <= MOST_ONE_TO_ONE,
            Misuse::new(format!(
                "--one-to-one: {processes} processes are more than {MOST_ONE_TO_ONE} threads\n\
                 help: choose fewer processes, or leave out --one-to-one"
            ))
        );
        ensure!(
            has_room_for_threads(processes),
            "--one-to-one: the address space of this process has no room for the stacks of {processes} threads\n\
             help: choose fewer processes, raise the limit (ulimit -v), or leave out --one-to-one"
        );
        Ok(())
    }

    /// Runs a network, and prints its size, result and time.
    fn execute(&self, name: &str, job: impl Fn() -> Job, interrupt: &Interrupt) -> Result<()> {
        let options = self.engine.options(Graphs::One, interrupt)?;
        let options = if self.one_to_one { options.thread_per_node() } else { options };
        self.engine.check(&[], [])?;
        let progress = self.engine.steps(None);
        let started = Instant::now();
        let ran = job().run(&options);
        let took = started.elapsed();
        progress.end(&ran);
        let (result, report) = ran?;
        let (nodes, channels) = (report.graph().nodes().len(), report.graph().channels().len());
        standard::print(&format!(
            "network   {name}, {nodes} processes, {channels} channels\nresult    {result}\ntime      {:.3} s\n",
            took.as_secs_f64()
        ))?;
        if !self.no_check {
            let begun = Instant::now();
            let expected = job().expected();
            ensure!(result == expected, "the result of {name} is {result}, a sequential loop has {expected}");
            let took = begun.elapsed().as_secs_f64();
            standard::print(&format!("checked   by a sequential loop, in {took:.3} s\n"))?;
        }
        self.engine.results.finish(&report, || format!("{nodes} processes, {channels} channels"), interrupt)
    }
}
