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
//! A look at an outbox sends all pieces in it as one message for each process, by the capability that the station has: its time may
//! be earlier than that of their tickets, and none is later.
//!
//! A station of a stage that this process does not have gives up its capability at once: otherwise the frontier would stay.

use std::any::Any;
use std::cell::Cell;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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
    let inboxes: Vec<_> = stations.iter().filter_map(|station| station.inbox.clone()).collect();
    let (epoch, moved) = (window.epoch(), Moved::default());
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        let mut stream = source::<_, Builder, _, _>(scope, "source", |capability, info| {
            let counters = counters.clone();
            let sender =
                Sender { outbox: from, capability: Some(capability), epoch, counters, moved: moved.clone() };
            let mut sender = sender.woken_by(scope.worker(), &info);
            move |output| {
                sender
                    .send(|capability, pieces| output.session_with_builder(capability).give_iterator(pieces))
            }
        });
        for station in stations {
            stream = exchange(stream, scope.worker(), station, epoch, counters.clone(), moved.clone());
        }
        stream.probe().0
    });
    let mut pace = Pace::new(moved);
    while !ending.is_stopped() && worker.has_dataflows() {
        worker.step_or_park(Some(NAP));
        let under_way = window.pass(probe.with_frontier(|frontier| frontier.first().copied()));
        inboxes.iter().for_each(|inbox| inbox.look());
        pace.rest(under_way);
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
    moved: Moved,
) -> Stream<'scope, u64, Pieces> {
    let by_process = ExchangeCore::<Builder, _>::new_core(|piece: &Piece| u64::from(piece.to));
    stream.unary_frontier::<Builder, _, _, _>(by_process, "station", move |capability, info| {
        let Station { inbox, outbox } = station;
        let capability = inbox.is_some().then_some(capability);
        let sender = Sender { outbox, capability, epoch, counters, moved: moved.clone() };
        let mut sender = sender.woken_by(worker, &info);
        move |(input, frontier), output| {
            input.for_each(|_, pieces| {
                let pieces = pieces.drain();
                moved.set(moved.get() + pieces.len());
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
    moved: Moved,
}

impl Sender {
    /// Lets the outbox make the operator look at it.
    fn woken_by(self, worker: &Worker, info: &OperatorInfo) -> Sender {
        let activator = worker.sync_activator_for(info.address.to_vec());
        // It fails where the dataflow has ended, which needs no pieces.
        self.outbox.wake_by(move || _ = activator.activate());
        self
    }

    /// `send` gets all pieces that there are. Their time is that of the first ticket that was to come, not their own, which may be
    /// later: so they are one message for each process, and one change of the capability. The receiver does not
    /// look at it, and the frontier stays behind it only until the receiver has the message.
    fn send(&mut self, send: impl FnOnce(&Capability<u64>, &mut dyn Iterator<Item = Piece>)) {
        let Some(capability) = &mut self.capability else { return };
        let (pieces, position) = self.outbox.take();
        if !pieces.is_empty() {
            self.moved.set(self.moved.get() + pieces.len());
            let count = |piece: &Piece| {
                if let Some(counters) = &self.counters {
                    counters.send(piece.to, piece.more);
                }
            };
            send(capability, &mut pieces.into_iter().inspect(count));
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

/// The pieces that the operators have taken and sent.
type Moved = Rc<Cell<usize>>;

/// Lets pieces gather where they come fast: a step costs about the same for many, and so do the messages and wake-ups that
/// come of it. Where pieces come faster than one in [`FAST`], the thread rests between steps, and no thread needs to wake it
/// for that long.
///
/// Else a step moves what there is at once. So it does where few batches are under way: the next ones would wait for the rest.
struct Pace {
    moved: Moved,
    since: Instant,
    is_fast: bool,
}

/// The time of a piece below which pieces come fast.
const FAST: Duration = Duration::from_micros(100);
/// The number of pieces by which that is decided, or else their time.
const MANY: u32 = 16;
/// The batches under way from which on it is worth it. A process that reads none has none.
const CROWDED: usize = 4;
/// How long the thread rests.
const REST: Duration = Duration::from_micros(150);

impl Pace {
    fn new(moved: Moved) -> Pace {
        Pace { moved, since: Instant::now(), is_fast: false }
    }

    /// Rests, if it is time to.
    fn rest(&mut self, under_way: usize) {
        let (moved, time) = (self.moved.get() as u32, self.since.elapsed());
        if moved >= MANY || time > FAST * MANY {
            self.is_fast = time < FAST * moved;
            self.moved.set(0);
            self.since = Instant::now();
        }
        if self.is_fast && (under_way == 0 || under_way >= CROWDED) {
            thread::sleep(REST);
        }
    }
}

/// Pieces on their way, as the dataflow stores them. What goes to other processes are bytes already.
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

/// Words before the bytes of a piece: part and batch; from and to; length, more and last.
const WORDS: usize = 3;

/// Bytes after the items of a piece, so that the next begins at a multiple of 8.
fn padding(length: usize) -> usize {
    length.next_multiple_of(8) - length
}

/// The format between processes: pieces one after the other, each with a head of three little-endian words. The bytes come from
/// a process of this run, which has proved that it knows the secret and runs this program.
impl ContainerBytes for Pieces {
    fn from_bytes(mut bytes: Bytes) -> Pieces {
        let mut pieces = Vec::new();
        while bytes.len() >= 8 * WORDS {
            let head = bytes.extract_to(8 * WORDS);
            let word = |at: usize| {
                head[8 * at..8 * at + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
            };
            let high = |at: usize| (word(at) >> 32) as u32;
            let length = ((word(2) >> 2) as usize).min(bytes.len());
            let body = bytes.extract_to(length.next_multiple_of(8).min(bytes.len()));
            let body = match length {
                0 => Body::Empty,
                _ => Body::Received(Box::new(Shared(body, length))),
            };
            pieces.push(Piece {
                ticket: Ticket { part: high(0), batch: word(0) as u32 },
                last: word(2) & 1 != 0,
                more: word(2) & 2 != 0,
                from: high(1),
                to: word(1) as u32,
                body,
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
            let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
            let words = [
                both(piece.ticket.part, piece.ticket.batch),
                both(piece.from, piece.to),
                (body.len() as u64) << 2 | u64::from(piece.more) << 1 | u64::from(piece.last),
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
