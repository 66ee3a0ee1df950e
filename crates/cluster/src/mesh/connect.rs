//! Connects every pair of processes, or says which one is missing.

use std::collections::BTreeMap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::control::{self, Control, Limits, Mesh, OwnPulse};
use super::hello::{self, Failed, Identity, Kind};
use super::wire::Wire;
use crate::ending::Ending;
use crate::error::Error;

/// Time between two attempts to connect to a process that does not listen yet.
const PAUSE: Duration = Duration::from_millis(2);

/// The longest that a greeting may take.
const GREETING: Duration = Duration::from_secs(1);

/// The most greetings at a time: further connections wait.
const GREETINGS: usize = 256;

/// Where the processes of a run are.
pub(crate) struct Seats<'a> {
    pub addresses: &'a [String],
    /// That of this process, if it has one already.
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
        for stream in meeting.found.control.values_mut() {
            control::tell(&error, me.process as usize, stream);
        }
        return Err(error);
    }
    let found = std::mem::take(&mut meeting.found);
    // Strangers stay outside.
    drop(meeting);
    let control = found.control.into_iter().map(|(peer, stream)| Control { peer, stream }).collect();
    let number = me.process as usize;
    let cannot = |error| {
        let text = format!("process {number}: cannot watch over the connections: {error}");
        Error::of(number, text)
    };
    let mesh =
        Mesh::new(number, seats.addresses, control, seats.limits, own_pulse, ending).map_err(cannot)?;
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
            mesh.finish();
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
    /// Why a connection was refused last.
    refused: Option<&'static str>,
}

/// A connection from a process or a stranger. Each has a thread, so that one that says nothing holds up no other.
struct Greeting {
    stream: TcpStream,
    since: Instant,
    thread: JoinHandle<(TcpStream, Result<(u32, Kind), Failed>)>,
}

impl Greeting {
    fn begin(stream: TcpStream, me: &Identity, until: Instant) -> io::Result<Greeting> {
        stream.set_nonblocking(false)?;
        prepare(&stream, until)?;
        let (mut greeted, me) = (stream.try_clone()?, me.clone());
        let greet = move || {
            let result = hello::accept(&mut greeted, &me);
            (greeted, result)
        };
        let thread = thread::Builder::new().name("greeting".to_owned()).spawn(greet)?;
        Ok(Greeting { stream, since: Instant::now(), thread })
    }
}

#[derive(Default)]
struct Found {
    data: BTreeMap<u32, TcpStream>,
    control: BTreeMap<u32, TcpStream>,
}

impl Found {
    fn of(&mut self, kind: Kind) -> &mut BTreeMap<u32, TcpStream> {
        match kind {
            Kind::Data => &mut self.data,
            Kind::Control => &mut self.control,
        }
    }

    fn has(&self, peer: u32) -> bool {
        self.data.contains_key(&peer) && self.control.contains_key(&peer)
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
            None => TcpListener::bind(address),
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
            refused: None,
        })
    }

    fn gather(&mut self) -> Result<(), Error> {
        let others: Vec<u32> = (0..self.me.processes).filter(|peer| *peer != self.me.process).collect();
        while !others.iter().all(|peer| self.found.has(*peer)) {
            for peer in 0..self.me.process {
                self.reach(peer)?;
                self.sign();
            }
            self.answer();
            self.sign();
            for (peer, stream) in &mut self.found.control {
                let name = format!("process {peer} ({})", self.seats.addresses[*peer as usize]);
                control::look(*peer as usize, &name, stream)?;
            }
            if others.iter().all(|peer| self.found.has(*peer)) {
                break;
            }
            if Instant::now() >= self.until {
                return Err(self.missing(&others));
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Connects to a process that may not listen yet.
    fn reach(&mut self, peer: u32) -> Result<(), Error> {
        for kind in [Kind::Data, Kind::Control] {
            if self.found.of(kind).contains_key(&peer) {
                continue;
            }
            let address = &self.seats.addresses[peer as usize];
            let Ok(mut stream) = open(address, self.until) else { return Ok(()) };
            match prepare(&stream, self.until)
                .map_err(Failed::from)
                .and_then(|()| hello::connect(&mut stream, self.me, peer, kind))
            {
                Ok(()) => _ = self.found.of(kind).insert(peer, stream),
                Err(Failed::Refused(why)) => {
                    let text = format!(
                        "process {} refuses process {peer} ({address}): {}",
                        self.me.process,
                        why.text()
                    );
                    return Err(Error::of(peer as usize, text));
                }
                // It has ended, or has not begun: the next attempt may succeed.
                Err(Failed::Broken) => return Ok(()),
            }
        }
        Ok(())
    }

    /// Takes connections that wait, and those whose greeting has ended.
    fn answer(&mut self) {
        while self.greetings.len() < GREETINGS
            && let Ok((stream, _)) = self.listener.accept()
        {
            // One that breaks is one that did not come.
            self.greetings.extend(Greeting::begin(stream, self.me, self.until));
        }
        for greeting in self.greetings.iter().filter(|it| it.since.elapsed() > GREETING) {
            _ = greeting.stream.shutdown(Shutdown::Both);
        }
        for greeting in self.greetings.extract_if(.., |it| it.thread.is_finished()) {
            let Ok((stream, greeted)) = greeting.thread.join() else { continue };
            match greeted {
                Ok((peer, kind)) if peer > self.me.process => _ = self.found.of(kind).insert(peer, stream),
                // A stranger, or a process that says itself why it ends.
                Err(Failed::Refused(why)) => self.refused = Some(why.text()),
                Ok(_) | Err(Failed::Broken) => {}
            }
        }
    }

    /// Gives signs of life to the processes whose run may have begun.
    fn sign(&mut self) {
        if self.signed.elapsed() >= self.seats.limits.silence / control::SIGNS {
            self.signed = Instant::now();
            self.found.control.values_mut().for_each(control::sign);
        }
    }

    fn missing(&self, others: &[u32]) -> Error {
        let missing: Vec<u32> = others.iter().copied().filter(|peer| !self.found.has(*peer)).collect();
        let names: Vec<String> =
            missing.iter().map(|peer| format!("{peer} ({})", self.seats.addresses[*peer as usize])).collect();
        let refused = self.refused.map_or(String::new(), |why| format!("; one was refused: {why}"));
        let text = format!(
            "process {}: no connection within {:?} with process {}{refused}",
            self.me.process,
            self.seats.patience,
            names.join(", ")
        );
        Error::of(missing[0] as usize, text)
            .with_help("start all processes of a run with the same program and hosts")
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

fn open(address: &str, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    for address in addresses {
        match TcpStream::connect_timeout(&address, greeting(until)) {
            // Where no one listens, a connection can get the port that it goes to, and reach itself.
            Ok(stream) if stream.local_addr()? == stream.peer_addr()? => {}
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Settings of a connection until it is greeted.
fn prepare(stream: &TcpStream, until: Instant) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(greeting(until)))?;
    stream.set_write_timeout(Some(greeting(until)))
}

/// How long a greeting may take.
fn greeting(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now()).clamp(Duration::from_millis(1), GREETING)
}
