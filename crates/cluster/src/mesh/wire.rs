//! A data connection as timely sees it.
//!
//! Timely panics in threads of its own where a connection breaks. So a broken connection ends the run with a cause, and
//! timely's thread gets what it takes for a whole message and the last one, as soon as no worker is left to read them.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use super::control::Mesh;
use super::track::{Ends, Track};
use crate::error::Error;

/// One end of a data connection. Timely clones it, for a thread that reads and one that writes; a clone takes no
/// descriptor, since timely panics where it cannot have one.
pub(crate) struct Wire {
    stream: Arc<TcpStream>,
    mesh: Arc<Mesh>,
    /// The process at the other end, and this one.
    ends: Ends,
    track: Track,
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
        match (&*self.stream).read(buffer) {
            Ok(0) if self.track.has_ended() => Some(Ok(0)),
            Ok(0) => None,
            Ok(count) => {
                let before = self.track.clone();
                if self.track.pass(&buffer[..count]).is_err() {
                    // Timely gets none of these bytes.
                    self.track = before;
                    let name = self.mesh.name(self.peer());
                    let error = Error::of(self.peer(), format!("{name}: a message is damaged"));
                    self.mesh.ending().fail(error);
                    return None;
                }
                Some(Ok(count))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Some(Err(error)),
            Err(_) => None,
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
