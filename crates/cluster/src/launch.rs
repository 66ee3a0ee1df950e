//! Starts the processes of a run on this machine.
//!
//! ```text
//! launcher                                       process p
//!     ── environment: launcher's address, p, n, token ──▶   listens on a free port
//!     ◀── token, p, port ──────────────────────────────────
//!     ── the ports of all ─────────────────────────────▶    connects to the others
//! ```
//!
//! Each process chooses its port itself, so none is taken by another program in between. The token is the secret of the run
//! too: no other user of the machine can join it.
//!
//! If a process ends before all have said where they listen, the run cannot begin. Then the launcher ends those that have
//! called, or call later, since they wait in vain; it keeps their connections until they have ended, so none of them finds
//! and reports a failure of its own. Processes that never call may be of a program that uses no cluster, and go on.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use blake3::Hash;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::running::{Ended, Running};

/// The variable by which a launcher tells a process what it is.
pub(crate) const VARIABLE: &str = "THALWEG_LAUNCH";

/// The environment variable by which a user, or a launcher, asks for a report: see [`Cluster::report`].
pub const REPORT: &str = "THALWEG_REPORT";

/// How long a process may take to say where it listens.
const JOINING: Duration = Duration::from_secs(30);

/// How long a connection may take to say what process it comes from.
const CALL: Duration = Duration::from_secs(1);

/// Maximum number of connections that are heard at a time: further ones wait.
const CALLERS: usize = 256;

/// Bytes of a token.
const TOKEN: usize = blake3::OUT_LEN;

/// Runs `processes` processes on this machine, each by the command that a function returns for its number, and waits for all. A
/// process that calls [`Cluster::from_env`] gets a cluster of them. Process 0 inherits the standard input as the command says; give
/// the others none.
///
/// If one fails, the others have 10 s to end; all are to end as soon as `stop` returns true, and those that wait for one that
/// has ended before all had called [`Cluster::from_env`]. A process that is to end gets `SIGTERM`, and 2 s later `SIGKILL`.
/// (On systems without signals it is killed.) Returns how the processes have ended, in this order.
///
/// # Errors
/// A process cannot be started: those that were started are ended. Or some processes wait for one that has
/// ended, with success, and never called [`Cluster::from_env`].
pub fn launch(
    processes: usize,
    command: impl Fn(usize) -> Command,
    stop: impl Fn() -> bool,
) -> Result<Vec<Ended>, Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(cannot)?;
    listener.set_nonblocking(true).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let token = new_token()?;

    let mut running = Running::here();
    for process in 0..processes {
        let mut command = command(process);
        command.env(VARIABLE, format!("{address} {process} {processes} {}", token.to_hex()));
        let child = command.spawn().map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            Error::of(process, format!("process {process}: cannot start `{program}`: {error}"))
        })?;
        running.add(child);
    }
    let mut reception = Reception::new(listener, token, processes);
    let ended = running.wait(&stop, |running| reception.attend(running)).map_err(cannot)?;
    reception.waited_in_vain(&ended).map_or(Ok(ended), Err)
}

pub(crate) fn cannot(error: io::Error) -> Error {
    Error::new(format!("cannot launch: {error}"))
}

/// The secret of a run.
pub(crate) fn new_token() -> Result<Hash, Error> {
    let mut token = [0; TOKEN];
    getrandom::fill(&mut token).map_err(|error| cannot(io::Error::other(error)))?;
    Ok(Hash::from_bytes(token))
}

/// Tells each process where the others listen, as soon as all have said so.
struct Reception {
    listener: TcpListener,
    token: Hash,
    callers: Vec<Caller>,
    /// By process: its connection, and the port where it listens.
    joined: Vec<Option<(TcpStream, u16)>>,
    /// All know where the others are.
    is_done: bool,
}

impl Reception {
    fn new(listener: TcpListener, token: Hash, processes: usize) -> Reception {
        let joined = (0..processes).map(|_| None).collect();
        Reception { listener, token, callers: Vec::new(), joined, is_done: false }
    }

    /// Reads what callers say. Introduces the processes when all have called, or ends those that wait in vain.
    fn attend(&mut self, running: &mut Running) {
        if self.is_done {
            return;
        }
        self.read_callers();
        if running.has_ended() {
            for (process, _) in self.joined.iter().enumerate().filter(|(_, joined)| joined.is_some()) {
                running.terminate(process);
            }
        } else if self.joined.iter().all(Option::is_some) {
            self.introduce();
        }
    }

    fn read_callers(&mut self) {
        while self.callers.len() < CALLERS
            && let Ok((stream, _)) = self.listener.accept()
        {
            self.callers.extend(Caller::new(stream));
        }
        for caller in self.callers.extract_if(.., |caller| caller.has_ended()) {
            if let Some((process, port, stream)) = caller.joins(&self.token)
                && let Some(place) = self.joined.get_mut(process)
            {
                *place = Some((stream, port));
            }
        }
    }

    fn introduce(&mut self) {
        let joined = self.joined.iter().flatten();
        let ports: Vec<u8> = joined.flat_map(|(_, port)| port.to_be_bytes()).collect();
        for (mut stream, _) in self.joined.drain(..).flatten() {
            // One that has ended is noticed by its exit.
            _ = stream.write_all(&ports);
        }
        self.is_done = true;
    }

    /// What no process says: some have waited for one that ended without a failure.
    fn waited_in_vain(&self, ended: &[Ended]) -> Option<Error> {
        let waiting = self.joined.iter().position(Option::is_some)?;
        let first = ended.first().filter(|it| !self.is_done && it.status.success())?.process;
        let text = format!("process {first} has ended, and process {waiting} has waited for it");
        Some(Error::of(first, text).with_help("all processes of a program call `Cluster::from_env`, or none"))
    }
}

/// A connection to the launcher, of a process or a stranger. One that says nothing holds up no other.
struct Caller {
    stream: TcpStream,
    since: Instant,
    said: [u8; TOKEN + 6],
    /// Bytes that have come, or `None` if the connection has ended.
    count: Option<usize>,
}

impl Caller {
    fn new(stream: TcpStream) -> io::Result<Caller> {
        stream.set_nonblocking(true)?;
        Ok(Caller { stream, since: Instant::now(), said: [0; TOKEN + 6], count: Some(0) })
    }

    /// Reads what has come. Returns whether no more is to come.
    fn has_ended(&mut self) -> bool {
        let Some(count) = self.count else { return true };
        match self.stream.read(&mut self.said[count..]) {
            Ok(more) if more > 0 => self.count = Some(count + more),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Ok(_) | Err(_) => self.count = None,
        }
        self.count.is_none_or(|count| count == self.said.len()) || self.since.elapsed() > CALL
    }

    /// What a process says of itself. A stranger does not know the token.
    fn joins(self, token: &Hash) -> Option<(usize, u16, TcpStream)> {
        self.count.filter(|count| *count == self.said.len())?;
        let (its_token, rest) = self.said.split_at(TOKEN);
        if Hash::from_slice(its_token).ok()? != *token {
            return None; // compared in constant time
        }
        self.stream.set_nonblocking(false).ok()?;
        let process = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        Some((process, u16::from_be_bytes([rest[4], rest[5]]), self.stream))
    }
}

impl Cluster {
    /// The cluster that this process was [launched](launch) in, by `thalweg launch` for example; else this process
    /// [alone](Cluster::alone).
    ///
    /// ```
    /// let cluster = thalweg_cluster::Cluster::from_env()?;
    /// assert_eq!(cluster.processes(), 1); // not launched
    /// # Ok::<(), thalweg_cluster::Error>(())
    /// ```
    ///
    /// # Errors
    /// The launcher has ended, or cannot be reached.
    pub fn from_env() -> Result<Cluster, Error> {
        let cluster = Cluster::launched()?;
        let prints_report = std::env::var_os(REPORT).is_some_and(|text| text != "0");
        Ok(cluster.printing_report(prints_report).resume_by_env())
    }

    /// The number of this process, if a launcher has started it. It knows it before the others have joined: a program can let process
    /// 0 alone say what is wrong with the arguments of all.
    pub fn launched_as() -> Option<usize> {
        let text = std::env::var(VARIABLE).ok()?;
        placed(&text).map(|(process, ..)| process).or_else(|| Seat::read(&text).map(|seat| seat.process))
    }

    fn launched() -> Result<Cluster, Error> {
        let Ok(text) = std::env::var(VARIABLE) else { return Ok(Cluster::alone()) };
        if let Some((process, token, addresses)) = placed(&text) {
            return Ok(Cluster::new(addresses, process)?.secret(*token.as_bytes()));
        }
        let seat = Seat::read(&text)
            // Without the text, which may have a secret.
            .ok_or_else(|| Error::new(format!("{VARIABLE}: not what a launcher sets")))?;
        let (process, processes) = (seat.process, seat.processes);
        let joined = seat.join().map_err(|error| {
            let text = format!("process {process} of {processes}: the others did not join: {error}");
            Error::of(process, text).with_help("the launcher has ended, or another process before it joined")
        })?;
        let addresses = joined.0.iter().map(|port| format!("127.0.0.1:{port}"));
        Ok(Cluster::new(addresses, process)?.listener(joined.1).secret(*seat.token.as_bytes()))
    }
}

/// What a launcher tells a process that it has started on a host: its number, the secret, and the addresses of all.
fn placed(text: &str) -> Option<(usize, Hash, Vec<&str>)> {
    let mut words = text.strip_prefix("hosts ")?.split(' ');
    let process = words.next()?.parse().ok()?;
    let token = Hash::from_hex(words.next()?).ok()?;
    Some((process, token, words.collect()))
}

/// What a launcher has told this process.
struct Seat {
    launcher: SocketAddr,
    process: usize,
    processes: usize,
    token: Hash,
}

impl Seat {
    fn read(text: &str) -> Option<Seat> {
        let mut words = text.split(' ');
        let seat = Seat {
            launcher: words.next()?.parse().ok()?,
            process: words.next()?.parse().ok()?,
            processes: words.next()?.parse().ok()?,
            token: Hash::from_hex(words.next()?).ok()?,
        };
        (words.next().is_none() && seat.process < seat.processes).then_some(seat)
    }

    /// Listens, and gets the ports of all.
    fn join(&self) -> io::Result<(Vec<u16>, TcpListener)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let mut stream = TcpStream::connect_timeout(&self.launcher, JOINING)?;
        stream.set_read_timeout(Some(JOINING))?;
        let mut said = self.token.as_bytes().to_vec();
        said.extend((self.process as u32).to_be_bytes());
        said.extend(listener.local_addr()?.port().to_be_bytes());
        stream.write_all(&said)?;
        let mut ports = vec![0; 2 * self.processes.min(1 << 16)];
        stream.read_exact(&mut ports)?;
        Ok((ports.chunks_exact(2).map(|port| u16::from_be_bytes([port[0], port[1]])).collect(), listener))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caller_that_says_nothing_holds_up_no_other() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let call = || {
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            (stream, Caller::new(listener.accept().unwrap().0).unwrap())
        };
        let ((silent, mut stranger), (mut stream, mut caller)) = (call(), call());
        let token = Hash::from_bytes([7; TOKEN]);
        let began = Instant::now();
        for part in [token.as_bytes(), &[0, 0, 0, 3, 1, 2][..]] {
            assert!(!stranger.has_ended() && !caller.has_ended());
            stream.write_all(part).unwrap();
        }
        while !caller.has_ended() {}
        assert!(began.elapsed() < CALL && !stranger.has_ended());
        let joined = caller.joins(&token).unwrap();
        assert_eq!((joined.0, joined.1), (3, 258));
        drop(silent);
        while !stranger.has_ended() {}
        assert!(stranger.joins(&token).is_none());
    }

    #[test]
    fn what_a_launcher_tells_is_read_back() {
        let token = Hash::from_bytes(std::array::from_fn(|n| n as u8 * 7));
        let text = format!("hosts 1 {} a:1 [::1]:2", token.to_hex());
        assert_eq!(placed(&text), Some((1, token, vec!["a:1", "[::1]:2"])));
        for wrong in ["", "hosts", "hosts 1", "hosts x 00", "hosts 1 00 a:1"] {
            assert!(placed(wrong).is_none(), "{wrong}");
        }
        let text = format!("127.0.0.1:77 2 3 {}", token.to_hex());
        let seat = Seat::read(&text).unwrap();
        assert_eq!((seat.process, seat.processes, seat.token), (2, 3, token));
        for wrong in [
            "",
            "x",
            "127.0.0.1:77 3 3 00",
            &text[..text.len() - 1],
            &format!("{text} x"),
            &text.replace("2 3", "3 3"),
        ] {
            assert!(Seat::read(wrong).is_none(), "{wrong}");
        }
    }
}
