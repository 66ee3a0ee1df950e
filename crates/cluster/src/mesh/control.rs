//! The connections by which processes tell each other that they live, why a run fails, and that they are done.
//!
//! ```text
//! run ──▶ done here ──▶ all are done ──▶ Ok
//!   └────────┴──── an error here, or of another process ──▶ told to all others, once ──▶ Err
//! ```
//!
//! A process that fails tells all others before it closes a connection, and a process that hears of a failure tells it on
//! before it ends. So each process hears the cause before it sees the end of a process that has failed. A process that
//! ends without a word was killed; one that is silent for too long has stopped, or its machine or the network has.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::frame::{Early, LONGEST_TEXT, Word, frame, read};
use crate::ending::Ending;
use crate::error::Error;
use crate::report::{Counters, Counts};
use crate::watch::{Pulse, Pulses};

/// How often a process gives a sign of life in the time in which it must.
pub(super) const SIGNS: u32 = 4;

/// A connection before its run.
pub(crate) struct Control {
    pub stream: TcpStream,
    /// What has come already.
    pub early: Early,
}

/// What a process knows of its own run.
pub(crate) type OwnPulse = Box<dyn Fn() -> Pulse + Send + Sync>;

/// How long a process may be silent, and a run still.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub silence: Duration,
    pub stall: Duration,
}

/// All other processes of a run, as seen by this one.
pub(crate) struct Mesh {
    me: usize,
    names: Vec<String>,
    ending: Arc<Ending>,
    peers: Vec<Peer>,
    state: Mutex<State>,
    changed: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
    limits: Limits,
    own_pulse: OwnPulse,
    /// The dataflow has ended on this process's side: no worker reads what comes.
    left: AtomicBool,
    counters: Arc<Counters>,
}

struct Peer {
    process: usize,
    stream: Mutex<TcpStream>,
    early: Mutex<Early>,
}

struct State {
    /// By process.
    done: Vec<bool>,
    /// By process: what it has counted, once it is done.
    counts: Vec<Counts>,
    pulses: Pulses,
    /// Shared values that have come from process 0.
    shared: Vec<Vec<u8>>,
    closing: bool,
}

impl Mesh {
    /// All other processes, of which nothing is heard before [`start`](Mesh::start).
    pub fn new(
        me: usize,
        addresses: &[String],
        controls: BTreeMap<u32, Control>,
        limits: Limits,
        own_pulse: OwnPulse,
        ending: &Arc<Ending>,
    ) -> io::Result<Arc<Mesh>> {
        let Limits { silence, .. } = limits;
        let mut peers = Vec::new();
        for (peer, Control { stream, early }) in controls {
            stream.set_read_timeout(Some(silence))?;
            stream.set_write_timeout(Some(silence))?;
            let (stream, early) = (Mutex::new(stream), Mutex::new(early));
            peers.push(Peer { process: peer as usize, stream, early });
        }
        let mesh = Arc::new(Mesh {
            me,
            names: addresses
                .iter()
                .enumerate()
                .map(|(n, address)| format!("process {n} ({address})"))
                .collect(),
            ending: ending.clone(),
            peers,
            state: Mutex::new(State {
                done: vec![false; addresses.len()],
                counts: vec![Counts::default(); addresses.len()],
                pulses: Pulses::new(addresses.len()),
                shared: Vec::new(),
                closing: false,
            }),
            changed: Condvar::new(),
            threads: Mutex::default(),
            limits,
            own_pulse,
            left: AtomicBool::new(false),
            counters: Arc::new(Counters::new(addresses.len())),
        });
        ending.on_stop({
            let mesh = mesh.clone();
            move |error| {
                mesh.tell_failed(error);
                // Under the lock, so that `finish` cannot miss it.
                drop(mesh.lock());
                mesh.changed.notify_all();
            }
        });
        if me == 0 {
            let mesh = mesh.clone();
            ending.on_enough(move || mesh.tell(Word::Enough, &[]));
        }
        Ok(mesh)
    }

    /// Starts a thread for each connection, and one that gives signs of life.
    pub fn start(self: &Arc<Mesh>) -> io::Result<()> {
        let Limits { silence, stall } = self.limits;
        for peer in &self.peers {
            let early = std::mem::take(&mut *peer.early.lock().unwrap_or_else(PoisonError::into_inner));
            let stream = early.before(self.stream(peer).try_clone()?);
            let (peer, listening) = (peer.process, self.clone());
            self.spawn(&format!("control-{peer}"), move || listening.listen(peer, stream, silence))?;
        }
        let beating = self.clone();
        self.spawn("control-beat", move || beating.beat(silence.min(stall) / SIGNS))
    }

    fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// The process, with its address.
    pub fn name(&self, process: usize) -> &str {
        &self.names[process]
    }

    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    /// The worker of the dataflow has ended: what still comes is not read.
    pub fn leave(&self) {
        self.left.store(true, Ordering::Release);
        drop(self.lock());
        self.changed.notify_all();
    }

    /// A data connection broke. Its process may just have said why on the other connection, so this waits a moment for the
    /// cause, and then until no worker reads what comes.
    pub fn lost(&self, peer: usize) {
        let until = Instant::now() + Duration::from_secs(1);
        let mut state = self.lock();
        while !self.ending.is_stopped() && Instant::now() < until {
            state = self.wait(state, Duration::from_millis(50));
        }
        drop(state);
        if !self.ending.is_stopped() {
            self.ending.fail(Error::of(peer, format!("{}: its connection broke", self.names[peer])));
        }
        let mut state = self.lock();
        while !self.left.load(Ordering::Acquire) {
            state = self.wait(state, Duration::from_millis(50));
        }
    }

    /// What this process counts.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// What all processes have counted, after a run that has succeeded.
    pub fn counts(&self) -> Vec<Counts> {
        self.lock().counts.clone()
    }

    /// Waits until all others are done, or the run ends early: what process 0 does before it says so itself, they wait for.
    pub fn wait_for_others(&self) {
        let mut state = self.lock();
        let others_done = |state: &State| (0..state.done.len()).all(|n| n == self.me || state.done[n]);
        while !self.ending.is_stopped() && !others_done(&state) {
            state = self.wait(state, Duration::from_millis(500));
        }
    }

    /// Says that this process is done, with what it has counted, and waits until all are: all of them succeed, or none does.
    /// Then ends all threads.
    pub fn finish(&self, counts: Counts) {
        if !self.ending.is_stopped() {
            // First, since this process looks for stalls only while it is not done: none of them may follow the word.
            let told = postcard::to_stdvec(&counts).unwrap_or_default();
            let mut state = self.lock();
            state.done[self.me] = true;
            state.counts[self.me] = counts;
            drop(state);
            self.tell(Word::Done, &told);
            let mut state = self.lock();
            while !self.ending.is_stopped() && state.done.contains(&false) {
                state = self.wait(state, Duration::from_millis(500));
            }
        }
        self.lock().closing = true;
        self.changed.notify_all();
        // The end of the run is the end of both directions, each closed by its writer. A failed one may not come.
        let how = if self.ending.is_stopped() { Shutdown::Both } else { Shutdown::Write };
        for peer in &self.peers {
            _ = self.stream(peer).shutdown(how);
        }
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            _ = thread.join();
        }
    }

    /// Sends a shared value to all others.
    pub fn share(&self, bytes: &[u8]) {
        self.tell(Word::Shared, bytes);
    }

    /// Waits for this many shared values of process 0. Returns fewer if the run ends early.
    pub fn shared(&self, count: usize) -> Vec<Vec<u8>> {
        let mut state = self.lock();
        while state.shared.len() < count && !self.ending.is_stopped() {
            state = self.wait(state, Duration::from_millis(500));
        }
        std::mem::take(&mut state.shared)
    }

    /// Reads what another process says, until it ends.
    fn listen(&self, peer: usize, mut stream: impl Read, silence: Duration) {
        let error = loop {
            let (word, text) = match read(&mut stream) {
                Ok(said) => said,
                Err(_) if self.is_over(peer) => return,
                Err(error) if is_late(&error) => {
                    let text = format!("{}: no sign of life for {silence:?}", self.names[peer]);
                    break Error::of(peer, text).with_help(STOPPED);
                }
                Err(_) => {
                    let text = format!("{} ended without a word", self.names[peer]);
                    break Error::of(peer, text).with_help("it was killed, or had no memory left");
                }
            };
            match word {
                Word::Alive => {
                    // One whose run has not begun has none.
                    if let Ok(pulse) = postcard::from_bytes(&text) {
                        self.lock().pulses.note(peer, pulse);
                    }
                }
                Word::Enough => self.ending.enough(),
                Word::Shared => {
                    self.lock().shared.push(text);
                    self.changed.notify_all();
                }
                Word::Done => {
                    let mut state = self.lock();
                    state.done[peer] = true;
                    state.counts[peer] = postcard::from_bytes(&text).unwrap_or_default();
                    drop(state);
                    self.changed.notify_all();
                }
                Word::Failed => break error_of(&text, peer),
            }
        };
        self.ending.fail(error);
    }

    /// Whether the end of a connection is none of a run: the process has said that it is done, or this one closes.
    fn is_over(&self, peer: usize) -> bool {
        let state = self.lock();
        state.closing || state.done[peer]
    }

    /// Gives signs of life, and looks whether the run moves.
    fn beat(&self, pause: Duration) {
        let mut state = self.lock();
        while !state.closing {
            drop(state);
            let pulse = (self.own_pulse)();
            self.tell(Word::Alive, &postcard::to_stdvec(&pulse).unwrap_or_default());
            state = self.lock();
            state.pulses.note(self.me, pulse);
            if self.me == 0
                && !state.done[0]
                && let Some(text) = state.pulses.stalled(self.limits.stall, &self.names)
            {
                drop(state);
                self.ending.fail(
                    Error::new(text).with_help("this is a defect of thalweg-cluster: please report it"),
                );
                state = self.lock();
            }
            if !state.closing {
                state = self.wait(state, pause);
            }
        }
    }

    fn tell_failed(&self, error: &Error) {
        self.tell(Word::Failed, &text_of(error, self.me));
    }

    /// Sends to all. The reader of a connection notices if its process has ended.
    ///
    /// A connection on which another thread sends comes last: a large shared value for one process delays nothing for the
    /// others. It needs no sign of life, since what is sent on it is one.
    fn tell(&self, word: Word, payload: &[u8]) {
        let frame = frame(word, payload);
        let mut busy = Vec::new();
        for peer in &self.peers {
            match peer.stream.try_lock() {
                Ok(stream) => self.send(peer.process, stream, &frame),
                Err(TryLockError::Poisoned(stream)) => self.send(peer.process, stream.into_inner(), &frame),
                Err(TryLockError::WouldBlock) => busy.push(peer),
            }
        }
        for peer in busy.into_iter().filter(|_| word != Word::Alive) {
            self.send(peer.process, self.stream(peer), &frame);
        }
    }

    fn send(&self, process: usize, mut stream: MutexGuard<'_, TcpStream>, frame: &[u8]) {
        let Err(error) = stream.write_all(frame) else { return };
        // A part of the frame may have gone: what followed would be taken for the rest.
        _ = stream.shutdown(Shutdown::Write);
        drop(stream);
        if is_late(&error) && !self.is_over(process) {
            let (name, silence) = (&self.names[process], self.limits.silence);
            let error = Error::of(process, format!("{name}: has taken no message for {silence:?}"));
            self.ending.fail(error.with_help(STOPPED));
        }
    }

    fn stream<'a>(&self, peer: &'a Peer) -> MutexGuard<'a, TcpStream> {
        debug_assert!(peer.process != self.me);
        peer.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, time: Duration) -> MutexGuard<'a, State> {
        self.changed.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

const STOPPED: &str = "the process was stopped, or its machine or the network has failed";

fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// What this process says to the others of an error.
fn text_of(error: &Error, me: usize) -> Vec<u8> {
    let process = error.process().unwrap_or(me) as u32;
    let text = error.to_string();
    let help = error.help().map(shortened);
    postcard::to_stdvec(&(process, shortened(&text), help)).unwrap_or_default()
}

/// As much of a text as a message has room for beside another.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT / 2 - 16);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Tells an error to a process that this one is connected with, while connections to others are missing.
pub(super) fn tell(error: &Error, me: usize, stream: &mut TcpStream) {
    // A process that does not take it has ended itself.
    _ = stream.write_all(&frame(Word::Failed, &text_of(error, me)));
}

/// Gives a sign of life to a process that this one is connected with, while connections to others are missing.
pub(super) fn sign(stream: &mut TcpStream) {
    _ = stream.write_all(&frame(Word::Alive, &[]));
}

/// What a process says that has failed, or has heard of a failure.
fn error_of(text: &[u8], peer: usize) -> Error {
    let told = postcard::from_bytes::<(u32, String, Option<String>)>(text);
    let (process, text, help) = told.unwrap_or((peer as u32, format!("process {peer} failed"), None));
    let error = Error::of(process as usize, text);
    match help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// Looks whether a process has failed that this one is connected with, while connections to others are missing. What belongs
/// to the run stays for it. Returns false if the process has ended without a word.
pub(super) fn look(peer: usize, control: &mut Control) -> Result<bool, Error> {
    let Control { stream, early } = control;
    let mut bytes = [0; 1 << 14];
    // No more at a time, so that signs of life go on.
    for _ in 0..64 {
        let count = stream.set_nonblocking(true).and_then(|()| stream.read(&mut bytes));
        let prepared = stream.set_nonblocking(false);
        match prepared.and(count) {
            Ok(0) => return Ok(false),
            Ok(count) => match early.add(&bytes[..count]) {
                Ok(None) => {}
                Ok(Some(text)) => return Err(error_of(text, peer)),
                Err(_) => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Ok(error.kind() == io::ErrorKind::WouldBlock),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Watch;
    use std::net::TcpListener;

    /// A process that takes a large shared value slowly holds up no sign of life for another.
    #[test]
    fn signs_of_life_go_on_while_a_shared_value_is_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let pair = || {
            let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (Control { stream: ours, early: Early::default() }, listener.accept().unwrap().0)
        };
        let ((first, mut slow), (second, mut quick)) = (pair(), pair());
        let long = Duration::from_secs(20);
        let limits = Limits { silence: Duration::from_secs(2), stall: long };
        let ending = Arc::default();
        let names = ["a", "b", "c"].map(str::to_owned);
        let controls = BTreeMap::from([(1, first), (2, second)]);
        let mesh = Mesh::new(0, &names, controls, limits, Box::new(Pulse::default), &ending).unwrap();
        quick.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        thread::scope(|scope| {
            let sharing = scope.spawn(|| mesh.share(&vec![7; 20_000_000]));
            // It has begun, and the connection does not hold all.
            assert_eq!(slow.peek(&mut [0]).unwrap(), 1);
            mesh.tell(Word::Alive, &[1]);
            assert!(!sharing.is_finished());
            assert_eq!(read(&mut quick).unwrap(), (Word::Alive, vec![1]));
            scope.spawn(move || assert_eq!(read(&mut slow).unwrap().0, Word::Shared));
            assert_eq!(read(&mut quick).unwrap().0, Word::Shared);
        });
        drop(ending.take());
    }

    /// A defect that none of the tests of whole runs can cause.
    #[test]
    fn a_run_that_does_not_move_ends_with_what_its_stages_wait_for() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut other = listener.accept().unwrap().0;
        let waits = |text: &str| Watch::default().pulse((0, false), text.to_owned());
        let own = move || waits("sink waits for batch 3 of part 2");
        let limits = Limits { silence: Duration::from_secs(5), stall: Duration::from_millis(60) };
        let ending = Arc::default();
        let controls = BTreeMap::from([(1, Control { stream: ours, early: Early::default() })]);
        let names = ["a", "b"].map(str::to_owned);
        let mesh = Mesh::new(0, &names, controls, limits, Box::new(own), &ending).unwrap();
        mesh.start().unwrap();
        let pulse = postcard::to_stdvec(&waits("source waits with batch 7 of part 1")).unwrap();
        other.write_all(&frame(Word::Alive, &pulse)).unwrap();
        let received = loop {
            match read(&mut other).unwrap() {
                (Word::Alive, _) => {}
                (word, text) => break (word, error_of(&text, 0).to_string()),
            }
        };
        let text = "no batch has moved for 60ms and no function runs; process 0 (a): sink waits for batch 3 of part 2; \
                    process 1 (b): source waits with batch 7 of part 1";
        assert_eq!(received, (Word::Failed, text.to_owned()));
        mesh.finish(Counts::default());
        assert_eq!(ending.take().unwrap().to_string(), text);
    }

    #[test]
    fn long_texts_are_shortened_and_read_back() {
        let error = Error::of(3, "ä".repeat(LONGEST_TEXT)).with_help("h".repeat(LONGEST_TEXT));
        let sent = frame(Word::Failed, &text_of(&error, 0));
        let (word, text) = read(&mut &sent[..]).unwrap();
        let got = error_of(&text, 1);
        assert_eq!((word, got.process()), (Word::Failed, Some(3)));
        assert!(got.to_string().starts_with("ää") && got.help().unwrap().starts_with("hh"));
        assert!(got.to_string().len() > LONGEST_TEXT / 4 && got.help().unwrap().len() > LONGEST_TEXT / 4);
    }
}
