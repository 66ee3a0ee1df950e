//! A data connection as timely sees it.
//!
//! Timely panics in threads of its own where a connection breaks. So a broken connection ends the run with a cause, and
//! timely's thread gets what it takes for a whole message and the last one, as soon as no worker is left to read them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use super::control::Mesh;
use super::track::{Ends, HEADER, Track};
use crate::error::Error;

/// One end of a data connection. Timely clones it, for a thread that reads and one that writes; a clone takes no
/// descriptor, since timely panics where it cannot have one.
pub(crate) struct Wire {
    stream: Arc<TcpStream>,
    mesh: Arc<Mesh>,
    /// The process at the other end, and this one.
    ends: Ends,
    /// Where the bytes are that timely has received.
    track: Track,
    /// Bytes of a header that is not whole: timely gets none before they are checked.
    held: Vec<u8>,
    /// Checked bytes for which timely had no room.
    ready: Vec<u8>,
    /// Where the bytes are that this process sends.
    sent: Track,
    /// Bytes with sealed headers.
    sealed: Vec<u8>,
    broken: bool,
}

/// Maximum number of bytes that are copied to seal the headers among them. The rest of a long body has none, and is not copied.
const PART: usize = 1 << 16;

impl Wire {
    pub fn new(stream: TcpStream, me: usize, peer: usize, mesh: Arc<Mesh>) -> Result<Wire, Error> {
        let cannot = |error: io::Error| Error::of(peer, format!("{}: {error}", mesh.name(peer)));
        stream.set_read_timeout(None).map_err(cannot)?;
        stream.set_write_timeout(None).map_err(cannot)?;
        let stream = Arc::new(stream);
        let closing = stream.clone();
        mesh.ending().on_stop(move |_| _ = closing.shutdown(Shutdown::Both));
        Ok(Wire::with(stream, mesh, Ends { from: peer, to: me }))
    }

    fn with(stream: Arc<TcpStream>, mesh: Arc<Mesh>, ends: Ends) -> Wire {
        let back = Ends { from: ends.to, to: ends.from };
        Wire {
            stream,
            mesh,
            ends,
            track: Track::new(ends),
            held: Vec::new(),
            ready: Vec::new(),
            sent: Track::new(back),
            sealed: Vec::new(),
            broken: false,
        }
    }

    fn peer(&self) -> usize {
        self.ends.from
    }

    /// Bytes of the connection. Returns `None` if it broke.
    fn read_stream(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        if self.ready.is_empty() {
            if buffer.len() > HEADER {
                return self.read_checked(buffer);
            }
            let mut whole = [0; 2 * HEADER];
            match self.read_checked(&mut whole)? {
                Ok(count) => self.ready.extend_from_slice(&whole[..count]),
                error => return Some(error),
            }
        }
        let count = self.ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.ready[..count]);
        self.ready.drain(..count);
        Some(Ok(count))
    }

    /// [`Wire::read_stream`] for a buffer that is longer than a header: bytes of bodies and of whole headers.
    fn read_checked(&mut self, buffer: &mut [u8]) -> Option<io::Result<usize>> {
        loop {
            let held = self.held.len();
            buffer[..held].copy_from_slice(&self.held);
            let count = match (&*self.stream).read(&mut buffer[held..]) {
                Ok(0) if self.track.has_ended() => return Some(Ok(0)),
                Ok(0) => return None,
                Ok(count) => held + count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Some(Err(error)),
                Err(_) => return None,
            };
            let Ok(checked) = self.track.receive(&buffer[..count]) else {
                let name = self.mesh.name(self.peer());
                self.mesh.ending().fail(Error::of(self.peer(), format!("{name}: a message is damaged")));
                return None;
            };
            self.held.clear();
            self.held.extend_from_slice(&buffer[checked..count]);
            if checked > 0 {
                return Some(Ok(checked));
            }
        }
    }

    /// Sends some of the bytes, and seals the headers among them. Returns how many.
    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let damaged = |_| io::Error::from(io::ErrorKind::InvalidData);
        let part = bytes.len().min(PART);
        let body = self.sent.body().min(bytes.len());
        if body >= part {
            let count = (&*self.stream).write(&bytes[..body])?;
            self.sent.pass(&bytes[..count]).map_err(damaged)?;
            return Ok(count);
        }
        self.sealed.clear();
        self.sealed.extend_from_slice(&bytes[..part]);
        self.sent.seal(&mut self.sealed).map_err(damaged)?;
        (&*self.stream).write_all(&self.sealed)?;
        Ok(part)
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.broken {
            if let Some(result) = self.read_stream(buffer) {
                return result;
            }
            self.broken = true;
            self.mesh.lost(self.peer());
        }
        if self.track.has_ended() {
            return Ok(0);
        }
        Ok(self.track.pad(buffer))
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.broken || self.mesh.ending().is_stopped() {
            return Ok(bytes.len());
        }
        let began = Instant::now();
        match self.send(bytes) {
            Ok(count) => {
                self.mesh.counters().write(self.peer(), count, began.elapsed());
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(_) => {
                self.broken = true;
                self.mesh.lost(self.peer());
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl timely::communication::allocator::zero_copy::stream::Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        Ok(Wire::with(self.stream.clone(), self.mesh.clone(), self.ends))
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.stream.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        _ = self.stream.shutdown(how);
        Ok(())
    }
}
