//! The dataflow of a process: the one file that names timely's types.
//!
//! ```text
//!  outbox of the source ─▶ [by process] ─▶ inbox ┄ stage ┄ outbox ─▶ [by process] ─▶ inbox ┄ stage ┄ outbox ─▶ probe
//! ```
//!
//! The dataflow knows nothing of items: it moves pieces and tracks how far the stages have come. Each *station* hands its
//! pieces to a stage of this process, which runs on Thalweg's threads, and sends on what the stage makes. A station holds a
//! capability for the time of the first ticket of which its stage may still make pieces, so the frontier behind the last
//! station is the time of the first ticket that the last stage has not taken, and moves the window of the source.
//!
//! A station of a stage that this process does not have gives up its capability at once: otherwise the frontier would stay.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use timely::WorkerConfig;
use timely::bytes::arc::Bytes;
use timely::communication::Hooks;
use timely::communication::WorkerGuards;
use timely::communication::allocator::thread::ThreadBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::container::{Accountable, CapacityContainerBuilder, DrainContainer, PushInto, SizableContainer};
use timely::dataflow::Stream;
use timely::dataflow::channels::ContainerBytes;
use timely::dataflow::channels::pact::ExchangeCore;
use timely::dataflow::operators::generic::OperatorInfo;
use timely::dataflow::operators::generic::operator::{Operator, source};
use timely::dataflow::operators::{Capability, Probe};
use timely::execute::execute_from;
use timely::worker::Worker;

use crate::chain::message;
use crate::ending::Ending;
use crate::error::Error;
use crate::inbox::Inbox;
use crate::mesh::{Mesh, Wire};
use crate::outbox::{Outbox, Position};
use crate::piece::{Body, Piece, caught};
use crate::report::Counters;
use crate::ticket::Ticket;
use crate::window::Window;

/// The longest that the dataflow's thread sleeps: it looks whether the run ends early.
const NAP: Duration = Duration::from_millis(100);

/// What the dataflow of a process connects. All processes have the same stations.
pub(crate) struct Flow {
    pub source: Arc<Outbox>,
    pub stations: Vec<Station>,
    pub window: Arc<Window>,
}

/// A place where pieces are exchanged between processes, for a stage.
pub(crate) struct Station {
    /// `None`: this process does not have the stage.
    pub inbox: Option<Arc<Inbox>>,
    pub outbox: Arc<Outbox>,
}

/// A dataflow on a thread of its own.
pub(crate) struct Running(WorkerGuards<()>);

/// Starts a dataflow, which runs until it is complete, or the run ends early.
pub(crate) fn start(
    flow: Flow,
    process: usize,
    wires: Vec<Option<Wire>>,
    mesh: Option<Arc<Mesh>>,
    ending: Arc<Ending>,
) -> Result<Running, Error> {
    let cannot =
        |why: String| Error::of(process, format!("process {process}: cannot start its threads: {why}"));
    let (builder, threads) = allocator(process, wires).map_err(|error| cannot(error.to_string()))?;
    let name = mesh.as_ref().map_or(format!("process {process}"), |mesh| mesh.name(process).to_owned());
    let flow = Mutex::new(Some(flow));
    let work = move |worker: &mut Worker| {
        let _leaving = Leaving(mesh.clone());
        let Some(flow) = flow.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let counters = mesh.as_ref().map(|mesh| mesh.counters().clone());
        let mut run = guard(&ending, process, &name, || run(flow, worker, &ending, counters));
        while run.is_err() {
            // A dataflow that is left would be run once more.
            run = guard(&ending, process, &name, || drop_dataflows(worker));
        }
    };
    execute_from(vec![builder], threads, WorkerConfig::default(), work).map(Running).map_err(cannot)
}

impl Running {
    /// Waits for the end of the dataflow and of timely's threads, which send what is left. Returns false if one panicked.
    pub fn join(self) -> bool {
        let ended = || self.0.join().into_iter().all(|result| result.is_ok());
        catch_unwind(AssertUnwindSafe(ended)).unwrap_or(false)
    }
}

/// Runs a part of the dataflow. A panic of it or of an item that it has dropped ends the run.
fn guard(ending: &Ending, process: usize, name: &str, part: impl FnOnce()) -> Result<(), ()> {
    let failed = |what: String, help: &str| {
        ending.fail(Error::of(process, format!("{name}, dataflow: {what}")).with_help(help));
    };
    let ended = catch_unwind(AssertUnwindSafe(part));
    if let Some(message) = caught() {
        failed(format!("an item panicked when it was dropped: {message}"), "drop what may fail in a stage");
    }
    ended.map_err(|panic| {
        failed(
            format!("panicked: {}", message(&*panic)),
            "this is a defect of thalweg-cluster: please report it",
        );
    })
}

/// Says at the end, also that of a panic, that no worker reads what comes.
struct Leaving(Option<Arc<Mesh>>);

impl Drop for Leaving {
    fn drop(&mut self) {
        if let Some(mesh) = &self.0 {
            mesh.leave();
        }
    }
}

/// What moves pieces to other processes; within one process, no socket and no further thread.
fn allocator(
    process: usize,
    wires: Vec<Option<Wire>>,
) -> std::io::Result<(AllocatorBuilder, Box<dyn Any + Send>)> {
    if wires.len() <= 1 {
        return Ok((AllocatorBuilder::Thread(ThreadBuilder), Box::new(())));
    }
    let hooks = Hooks::default();
    let inner = ProcessBuilder::new_typed_vector(1, hooks.refill.clone(), None);
    let (builders, threads) = initialize_networking_from_sockets(inner, wires, process, 1, hooks)?;
    let builder = builders.into_iter().next().ok_or_else(|| std::io::Error::other("no worker"))?;
    Ok((AllocatorBuilder::Tcp(builder), Box::new(threads)))
}

fn run(flow: Flow, worker: &mut Worker, ending: &Arc<Ending>, counters: Option<Arc<Counters>>) {
    let me = thread::current();
    ending.on_stop(move |_| me.unpark());
    let Flow { source: from, stations, window } = flow;
    let epoch = window.epoch();
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        let mut stream = source::<_, Builder, _, _>(scope, "source", |capability, info| {
            let counters = counters.clone();
            let mut sender = Sender::new(scope.worker(), &info, from, Some(capability), epoch, counters);
            move |output| {
                sender
                    .send(|capability, pieces| output.session_with_builder(capability).give_iterator(pieces))
            }
        });
        for station in stations {
            stream = exchange(stream, scope.worker(), station, epoch, counters.clone());
        }
        stream.probe().0
    });
    while !ending.is_stopped() && worker.has_dataflows() {
        worker.step_or_park(Some(NAP));
        window.pass(probe.with_frontier(|frontier| frontier.first().copied()));
    }
    drop_dataflows(worker);
}

fn drop_dataflows(worker: &mut Worker) {
    for dataflow in worker.installed_dataflows() {
        worker.drop_dataflow(dataflow);
    }
}

type Builder = CapacityContainerBuilder<Pieces>;

fn exchange<'scope>(
    stream: Stream<'scope, u64, Pieces>,
    worker: &Worker,
    station: Station,
    epoch: u32,
    counters: Option<Arc<Counters>>,
) -> Stream<'scope, u64, Pieces> {
    let by_process = ExchangeCore::<Builder, _>::new_core(|piece: &Piece| u64::from(piece.to));
    stream.unary_frontier::<Builder, _, _, _>(by_process, "station", move |capability, info| {
        let Station { inbox, outbox } = station;
        let capability = inbox.is_some().then_some(capability);
        let mut sender = Sender::new(worker, &info, outbox, capability, epoch, counters);
        move |(input, frontier), output| {
            input.for_each(|_, pieces| {
                let pieces = pieces.drain();
                if let Some(inbox) = &inbox {
                    inbox.add(pieces);
                }
            });
            if let Some(inbox) = inbox.as_ref().filter(|_| frontier.is_empty()) {
                inbox.end();
            }
            sender.send(|capability, pieces| output.session_with_builder(capability).give_iterator(pieces));
        }
    })
}

/// Sends what a stage has made.
struct Sender {
    outbox: Arc<Outbox>,
    /// For the time of the first ticket of which pieces may still come.
    capability: Option<Capability<u64>>,
    epoch: u32,
    counters: Option<Arc<Counters>>,
}

impl Sender {
    fn new(
        worker: &Worker,
        info: &OperatorInfo,
        outbox: Arc<Outbox>,
        capability: Option<Capability<u64>>,
        epoch: u32,
        counters: Option<Arc<Counters>>,
    ) -> Sender {
        let activator = worker.sync_activator_for(info.address.to_vec());
        // It fails where the dataflow has ended, which needs no pieces.
        outbox.wake_by(move || _ = activator.activate());
        Sender { outbox, capability, epoch, counters }
    }

    /// `send` gets the pieces of each time.
    fn send(&mut self, mut send: impl FnMut(&Capability<u64>, &mut dyn Iterator<Item = Piece>)) {
        let Some(capability) = &mut self.capability else { return };
        let (epoch, counters) = (self.epoch, &self.counters);
        let (pieces, position) = self.outbox.take();
        let mut pieces = pieces.into_iter().peekable();
        while let Some(first) = pieces.peek() {
            let time = first.ticket.time(epoch);
            if time > *capability.time() {
                capability.downgrade(&time);
            }
            let next = || pieces.next_if(|piece| piece.ticket.time(epoch) <= time);
            let count = |piece: &Piece| {
                if let Some(counters) = counters {
                    counters.send(piece.to, piece.more);
                }
            };
            send(capability, &mut std::iter::from_fn(next).inspect(count));
        }
        match position {
            Position::Closed => self.capability = None,
            Position::At(ticket) if ticket.time(self.epoch) > *capability.time() => {
                capability.downgrade(&ticket.time(self.epoch));
            }
            Position::At(_) => {}
        }
    }
}

/// Pieces of one time, as the dataflow stores them. What goes to other processes are bytes already.
#[derive(Default)]
struct Pieces(Vec<Piece>);

/// Maximum number of pieces in one message.
const TOGETHER: usize = 64;

impl Accountable for Pieces {
    fn record_count(&self) -> i64 {
        self.0.len() as i64
    }
}

impl DrainContainer for Pieces {
    type Item<'a> = Piece;
    type DrainIter<'a> = std::vec::Drain<'a, Piece>;
    fn drain(&mut self) -> Self::DrainIter<'_> {
        self.0.drain(..)
    }
}

impl SizableContainer for Pieces {
    fn at_capacity(&self) -> bool {
        self.0.len() >= TOGETHER
    }
    fn ensure_capacity(&mut self, stash: &mut Option<Self>) {
        if self.0.capacity() == 0 {
            *self = stash.take().unwrap_or_default();
            self.0.clear();
        }
    }
}

impl PushInto<Piece> for Pieces {
    fn push_into(&mut self, piece: Piece) {
        self.0.push(piece);
    }
}

/// Bytes of a received piece, in the buffer in which they came.
struct Shared(Bytes, usize);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

/// Words before the bytes of a piece: part, batch, last and more, from, to, length.
const WORDS: usize = 6;

/// Bytes after the items of a piece, so that the next begins at a multiple of 8.
fn padding(length: usize) -> usize {
    length.next_multiple_of(8) - length
}

/// The format between processes: pieces one after the other, each with a head of six little-endian words. The bytes come from
/// a process of this run, which has proved that it knows the secret and runs this program.
impl ContainerBytes for Pieces {
    fn from_bytes(mut bytes: Bytes) -> Pieces {
        let mut pieces = Vec::new();
        while bytes.len() >= 8 * WORDS {
            let head = bytes.extract_to(8 * WORDS);
            let word = |at: usize| {
                head[8 * at..8 * at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
            };
            let length = (word(5) as usize).min(bytes.len());
            let body = bytes.extract_to(length.next_multiple_of(8).min(bytes.len()));
            pieces.push(Piece {
                ticket: Ticket { part: word(0) as u32, batch: word(1) as u32 },
                last: word(2) & 1 != 0,
                more: word(2) & 2 != 0,
                from: word(3) as u32,
                to: word(4) as u32,
                body: Body::Received(Box::new(Shared(body, length))),
            });
        }
        Pieces(pieces)
    }

    fn length_in_bytes(&self) -> usize {
        self.0.iter().map(|piece| 8 * WORDS + piece.body.encoded_len().next_multiple_of(8)).sum()
    }

    fn into_bytes<W: Write>(&self, writer: &mut W) {
        for piece in &self.0 {
            let body = piece.body.encoded();
            let words = [
                u64::from(piece.ticket.part),
                u64::from(piece.ticket.batch),
                u64::from(piece.last) | u64::from(piece.more) << 1,
                u64::from(piece.from),
                u64::from(piece.to),
                body.len() as u64,
            ];
            // The writer is memory of timely, of the length above.
            let written = words
                .iter()
                .try_for_each(|word| writer.write_all(&word.to_le_bytes()))
                .and_then(|()| writer.write_all(body))
                .and_then(|()| writer.write_all(&[0; 8][..padding(body.len())]));
            assert!(written.is_ok(), "memory for a message is too short");
        }
    }
}
