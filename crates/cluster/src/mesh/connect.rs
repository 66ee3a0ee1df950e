//! Connects every pair of processes, or says which one is missing.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::control::{self, Control, Limits, Mesh, OwnPulse};
use super::hello::{self, Failed, Identity, Kind};
use super::wire::Wire;
use crate::ending::Ending;
use crate::error::Error;

/// Time between two attempts to connect to a process that does not listen yet.
const PAUSE: Duration = Duration::from_millis(2);

/// The longest that a greeting may take: a stranger that connects and says nothing holds up the others this long.
const GREETING: Duration = Duration::from_secs(1);

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
    let found = meeting.found;
    let control = found.control.into_iter().map(|(peer, stream)| Control { peer, stream }).collect();
    let mesh = Mesh::start(me.process as usize, seats.addresses, control, seats.limits, own_pulse, ending)
        .map_err(|error| Error::new(format!("cannot watch over the connections: {error}")))?;
    let mut wires: Vec<Option<Wire>> = seats.addresses.iter().map(|_| None).collect();
    for (peer, stream) in found.data {
        wires[peer as usize] = Some(Wire::new(stream, me.process as usize, peer as usize, mesh.clone())?);
    }
    Ok((mesh, wires))
}

/// The search for all connections.
struct Meeting<'a> {
    seats: &'a Seats<'a>,
    me: &'a Identity,
    listener: TcpListener,
    until: Instant,
    found: Found,
    /// Why a process was refused last, by its number.
    refused: BTreeMap<u32, &'static str>,
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
        Ok(Meeting { seats, me, listener, until, found: Found::default(), refused: BTreeMap::new() })
    }

    fn gather(&mut self) -> Result<(), Error> {
        let others: Vec<u32> = (0..self.me.processes).filter(|peer| *peer != self.me.process).collect();
        while !others.iter().all(|peer| self.found.has(*peer)) {
            for peer in 0..self.me.process {
                self.reach(peer)?;
            }
            while self.answer() {}
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

    /// Takes a connection, if one waits.
    fn answer(&mut self) -> bool {
        let Ok((mut stream, _)) = self.listener.accept() else { return false };
        let greeted = stream
            .set_nonblocking(false)
            .and_then(|()| prepare(&stream, self.until))
            .map_err(Failed::from)
            .and_then(|()| hello::accept(&mut stream, self.me));
        match greeted {
            Ok((peer, kind)) if peer > self.me.process => _ = self.found.of(kind).insert(peer, stream),
            // A stranger, or a process that says itself why it ends.
            Err(Failed::Refused(why)) => {
                self.refused.insert(u32::MAX, why.text());
            }
            Ok(_) | Err(Failed::Broken) => {}
        }
        true
    }

    fn missing(&self, others: &[u32]) -> Error {
        let missing: Vec<u32> = others.iter().copied().filter(|peer| !self.found.has(*peer)).collect();
        let names: Vec<String> =
            missing.iter().map(|peer| format!("{peer} ({})", self.seats.addresses[*peer as usize])).collect();
        let refused =
            self.refused.values().next().map_or(String::new(), |why| format!("; one was refused: {why}"));
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

fn open(address: &str, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    for address in addresses {
        match TcpStream::connect_timeout(&address, greeting(until)) {
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
