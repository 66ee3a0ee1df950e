//! Connects every pair of processes, or says which one is missing.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::control::{self, Control, Limits, Mesh, OwnPulse};
use super::frame::Early;
use super::hello::{self, Failed, Identity, Kind};
use super::wire::Wire;
use crate::ending::Ending;
use crate::error::Error;
use crate::report::Counts;

/// Time between two attempts to connect to a process that does not listen yet.
const PAUSE: Duration = Duration::from_millis(2);

/// The longest that a greeting may take.
const GREETING: Duration = Duration::from_secs(1);

/// How long a process that has ended is no cause: a better one may come.
const GRACE: Duration = Duration::from_millis(500);

/// The longest that a process which fails goes on to greet others, to tell them.
const TELLING: Duration = Duration::from_millis(300);

/// Maximum number of greetings at a time: further connections wait.
const GREETINGS: usize = 256;

/// Where the processes of a run are.
pub(crate) struct Seats<'a> {
    pub addresses: &'a [String],
    /// The same as numbers.
    pub places: &'a [Vec<SocketAddr>],
    /// The socket of this process, if it has one already.
    pub listener: Option<&'a TcpListener>,
    /// How long to wait for the others.
    pub patience: Duration,
    pub limits: Limits,
}

/// Connects this process with all others. A connection is made by the process with the larger number.
pub(crate) fn connect(
    seats: Seats<'_>,
    me: &Identity,
    own_pulse: OwnPulse,
    ending: &Arc<Ending>,
) -> Result<(Arc<Mesh>, Vec<Option<Wire>>), Error> {
    let mut meeting = Meeting::new(&seats, me)?;
    if let Err(error) = meeting.gather() {
        meeting.tell(&error);
        return Err(error);
    }
    let found = std::mem::take(&mut meeting.found);
    // Strangers stay outside.
    drop(meeting);
    let number = me.process as usize;
    let cannot = |error| {
        let text = format!("process {number}: cannot watch over the connections: {error}");
        Error::of(number, text)
    };
    let mesh =
        Mesh::new(number, seats.addresses, found.control, seats.limits, own_pulse, ending).map_err(cannot)?;
    let wires = || -> Result<Vec<Option<Wire>>, Error> {
        mesh.start().map_err(cannot)?;
        let mut wires: Vec<Option<Wire>> = seats.addresses.iter().map(|_| None).collect();
        for (peer, stream) in found.data {
            wires[peer as usize] = Some(Wire::new(stream, number, peer as usize, mesh.clone())?);
        }
        Ok(wires)
    };
    match wires() {
        Ok(wires) => Ok((mesh, wires)),
        Err(error) => {
            let own = error.to_others();
            ending.fail(error);
            mesh.finish(Counts::default());
            Err(ending.take().unwrap_or(own))
        }
    }
}

/// The search for all connections.
struct Meeting<'a> {
    seats: &'a Seats<'a>,
    me: &'a Identity,
    listener: TcpListener,
    until: Instant,
    found: Found,
    /// Connections whose greeting is under way.
    greetings: Vec<Greeting>,
    /// When this process gave the last sign of life.
    signed: Instant,
    /// A process that has ended, and when this was seen.
    ended: Option<(Instant, u32)>,
    /// Why a connection was refused last.
    refused: Option<&'static str>,
    /// Why the last connection to a process could not be made.
    unreached: BTreeMap<u32, io::Error>,
}

/// A connection, and the process at its other end.
type Greeted = (TcpStream, Result<(u32, Kind), Failed>);

/// A connection to a process, or from a process or a stranger. Each has a thread, so that one that says nothing holds up
/// no other, and this process goes on with its signs of life.
struct Greeting {
    /// Where this process has connected.
    to: Option<(u32, Kind)>,
    stream: TcpStream,
    until: Instant,
    thread: JoinHandle<Greeted>,
}

impl Greeting {
    fn begin(
        stream: TcpStream,
        to: Option<(u32, Kind)>,
        me: &Identity,
        limit: Duration,
    ) -> io::Result<Greeting> {
        stream.set_nonblocking(false)?;
        prepare(&stream, limit)?;
        let (mut greeted, me) = (stream.try_clone()?, me.clone());
        let greet = move || {
            let result = match to {
                Some((peer, kind)) => hello::connect(&mut greeted, &me, peer, kind).map(|()| (peer, kind)),
                None => hello::accept(&mut greeted, &me),
            };
            (greeted, result)
        };
        let thread = thread::Builder::new().name("greeting".to_owned()).spawn(greet)?;
        Ok(Greeting { to, stream, until: Instant::now() + limit, thread })
    }
}

#[derive(Default)]
struct Found {
    data: BTreeMap<u32, TcpStream>,
    control: BTreeMap<u32, Control>,
}

impl Found {
    fn add(&mut self, peer: u32, kind: Kind, stream: TcpStream) {
        match kind {
            Kind::Data => _ = self.data.insert(peer, stream),
            Kind::Control => _ = self.control.insert(peer, Control { stream, early: Early::default() }),
        }
    }

    fn has_kind(&self, peer: u32, kind: Kind) -> bool {
        match kind {
            Kind::Data => self.data.contains_key(&peer),
            Kind::Control => self.control.contains_key(&peer),
        }
    }

    fn has(&self, peer: u32) -> bool {
        self.has_kind(peer, Kind::Data) && self.has_kind(peer, Kind::Control)
    }
}

impl<'a> Meeting<'a> {
    fn new(seats: &'a Seats<'a>, me: &'a Identity) -> Result<Meeting<'a>, Error> {
        let address = &seats.addresses[me.process as usize];
        let cannot = |error: io::Error| {
            Error::of(
                me.process as usize,
                format!("process {}: cannot listen on {address}: {error}", me.process),
            )
            .with_help(
                "the line of this process in the hosts must be an address of this machine with a free port",
            )
        };
        let listener = match &seats.listener {
            Some(listener) => listener.try_clone(),
            None => TcpListener::bind(&*seats.places[me.process as usize]),
        };
        let listener = listener.map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let until = Instant::now() + seats.patience;
        Ok(Meeting {
            seats,
            me,
            listener,
            until,
            found: Found::default(),
            greetings: Vec::new(),
            signed: Instant::now(),
            ended: None,
            refused: None,
            unreached: BTreeMap::new(),
        })
    }

    fn gather(&mut self) -> Result<(), Error> {
        let others: Vec<u32> = (0..self.me.processes).filter(|peer| *peer != self.me.process).collect();
        loop {
            for peer in 0..self.me.process {
                self.reach(peer);
                self.sign();
            }
            self.greet()?;
            self.sign();
            self.look()?;
            if self.ended.is_none() && others.iter().all(|peer| self.found.has(*peer)) {
                return Ok(());
            }
            if Instant::now() >= self.until {
                let ended = self.ended.map(|(_, peer)| self.has_ended(peer));
                return Err(ended.unwrap_or_else(|| self.missing(&others)));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Looks what the processes say that this one is connected with. One that fails may end before it knows that the
    /// connection exists, so the cause may come from another, or be found here.
    fn look(&mut self) -> Result<(), Error> {
        for (peer, control) in &mut self.found.control {
            if !control::look(*peer as usize, control)? {
                self.ended.get_or_insert((Instant::now(), *peer));
            }
        }
        match self.ended {
            Some((since, peer)) if since.elapsed() > GRACE => Err(self.has_ended(peer)),
            _ => Ok(()),
        }
    }

    fn has_ended(&self, peer: u32) -> Error {
        let address = &self.seats.addresses[peer as usize];
        Error::of(peer as usize, format!("process {peer} ({address}) ended while the run began"))
    }

    /// Tells all others why this process ends, those too whose greeting is under way: else they would see an end without a
    /// cause.
    fn tell(&mut self, error: &Error) {
        let until = Instant::now() + TELLING;
        loop {
            _ = self.greet();
            for (_, mut control) in std::mem::take(&mut self.found.control) {
                control::tell(error, self.me.process as usize, &mut control.stream);
            }
            if self.greetings.is_empty() || Instant::now() >= until {
                return;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Connects to a process that may not listen yet.
    fn reach(&mut self, peer: u32) {
        let left = self.until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        for kind in [Kind::Data, Kind::Control] {
            let to = Some((peer, kind));
            if self.found.has_kind(peer, kind) || self.greetings.iter().any(|it| it.to == to) {
                continue;
            }
            let soon = (self.seats.limits.silence / control::SIGNS).min(left).min(GREETING);
            match open(&self.seats.places[peer as usize], soon) {
                Ok(stream) => {
                    self.unreached.remove(&peer);
                    self.greetings.extend(Greeting::begin(stream, to, self.me, left));
                }
                Err(error) => {
                    self.unreached.insert(peer, error);
                    return;
                }
            }
        }
    }

    /// Takes connections that wait, and those whose greeting has ended.
    fn greet(&mut self) -> Result<(), Error> {
        while self.greetings.len() < GREETINGS
            && let Ok((stream, _)) = self.listener.accept()
        {
            // One that breaks is one that did not come.
            self.greetings.extend(Greeting::begin(stream, None, self.me, GREETING));
        }
        for greeting in self.greetings.iter().filter(|it| Instant::now() > it.until) {
            _ = greeting.stream.shutdown(Shutdown::Both);
        }
        let ended: Vec<Greeting> = self.greetings.extract_if(.., |it| it.thread.is_finished()).collect();
        let mut refusal = Ok(());
        for greeting in ended {
            let Ok((stream, result)) = greeting.thread.join() else { continue };
            match (result, greeting.to) {
                (Ok((peer, kind)), to) if peer > self.me.process || to.is_some() => {
                    if prepare(&stream, GREETING).is_ok() {
                        self.found.add(peer, kind, stream);
                    }
                }
                (Err(Failed::Refused(why)), Some((peer, _))) | (Err(Failed::Differs(peer, why)), _) => {
                    // The processes that this one is still greeting get the cause too.
                    refusal = Err(self.refuses(peer, why.text()));
                }
                // A stranger, or a process that says itself why it ends.
                (Err(Failed::Refused(why)), None) => self.refused = Some(why.text()),
                // It has ended, or has not begun: the next attempt may succeed.
                (Ok(_) | Err(Failed::Broken), _) => {}
            }
        }
        refusal
    }

    fn refuses(&self, peer: u32, why: &str) -> Error {
        let me = self.me.process;
        let address =
            self.seats.addresses.get(peer as usize).map_or(String::new(), |address| format!(" ({address})"));
        Error::of(peer as usize, format!("process {me} refuses process {peer}{address}: {why}"))
            .with_help("start all processes of a run with the same program, arguments and hosts")
    }

    /// Gives signs of life to the processes whose run may have begun.
    fn sign(&mut self) {
        if self.signed.elapsed() >= self.seats.limits.silence / control::SIGNS {
            self.signed = Instant::now();
            self.found.control.values_mut().for_each(|control| control::sign(&mut control.stream));
        }
    }

    fn missing(&self, others: &[u32]) -> Error {
        let missing: Vec<u32> = others.iter().copied().filter(|peer| !self.found.has(*peer)).collect();
        let name = |peer: &u32| {
            let why = self.unreached.get(peer).map_or(String::new(), |why| format!(": {why}"));
            format!("{peer} ({}{why})", self.seats.addresses[*peer as usize])
        };
        let names: Vec<String> = missing.iter().map(name).collect();
        let refused = self.refused.map_or(String::new(), |why| format!("; one was refused: {why}"));
        let text = format!(
            "process {}: no connection within {:?} with process {}{refused}",
            self.me.process,
            self.seats.patience,
            names.join(", ")
        );
        let error = Error::of(missing[0] as usize, text)
            .with_help("start all processes of a run with the same program and hosts");
        match missing.iter().find(|peer| self.is_reached_by_its_own_machine_alone(**peer)) {
            Some(peer) => {
                let address = &self.seats.addresses[*peer as usize];
                error.and_help(format!("{address} is an address that other machines do not reach"))
            }
            None => error,
        }
    }

    /// Whether a process has an address of the loopback interface, in a run on several machines.
    fn is_reached_by_its_own_machine_alone(&self, peer: u32) -> bool {
        let is_loopback =
            |place: &Vec<SocketAddr>| place.iter().all(|it| it.ip().to_canonical().is_loopback());
        is_loopback(&self.seats.places[peer as usize]) && !self.seats.places.iter().all(is_loopback)
    }
}

impl Drop for Meeting<'_> {
    fn drop(&mut self) {
        for greeting in self.greetings.drain(..) {
            _ = greeting.stream.shutdown(Shutdown::Both);
            _ = greeting.thread.join();
        }
    }
}

fn open(addresses: &[SocketAddr], limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(address, limit) {
            // Where no process listens, a connection can get the port that it goes to, and reach itself.
            Ok(stream) if stream.local_addr()? == stream.peer_addr()? => {}
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Settings of a connection until its run begins. `limit`: how long it may take to answer.
fn prepare(stream: &TcpStream, limit: Duration) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(limit))?;
    stream.set_write_timeout(Some(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ports of outgoing connections are chosen in turn, so some attempts reach themselves.
    #[test]
    fn a_connection_never_reaches_itself() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // Linux has even ports for connections and odd ones for listeners.
        let port = listener.local_addr().unwrap().port() & !1;
        drop(listener);
        let address = ([127, 0, 0, 1], port).into();
        for _ in 0..30_000 {
            assert!(open(&[address], GREETING).is_err());
        }
    }
}
