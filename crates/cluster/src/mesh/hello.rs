//! The first bytes of each connection: both ends prove that they know the secret, and say which process of which program
//! they are.
//!
//! ```text
//! connector                                             acceptor
//!     ── hello: kind, process, processes, program, nonce ──▶
//!     ◀── hello, and proof: a keyed hash of both hellos ────
//!     ── proof ────────────────────────────────────────────▶
//!     ◀── a byte: accepted, or why not ─────────────────────
//! ```
//!
//! A proof hashes the role of its maker and both hellos, with the secret as key. Each hello has a nonce of its maker, so
//! that a proof of another connection (replay) is none here; and the role differs, so that a proof sent back to its maker
//! (reflection) is none. The secret itself is never sent. All frames have a fixed length, so a stranger makes the process
//! allocate nothing.
//!
//! What differs between the hellos is looked at when both proofs hold. So a process that knows the secret and runs another
//! program ends the run of both at once, and a stranger ends none.

use std::io::{self, Read, Write};

const MAGIC: [u8; 8] = *b"thalweg2";
const HELLO: usize = 8 + 4 + 4 + 4 + 32 + 32;
const PROOF: usize = 32;

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The messages of the dataflow.
    Data = 1,
    /// Signs of life, failures, and the end.
    Control = 2,
}

/// Which process of which run this is.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub process: u32,
    pub processes: u32,
    /// Hash of the program, its graph and its arguments: processes that run different things must not meet.
    pub program: [u8; 32],
    /// The key of proofs, derived from the secret.
    pub key: [u8; 32],
}

/// Why a connection was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The bytes are no hello, or it comes from a process of another number.
    NotOfThisRun = 1,
    /// The other runs another program, another graph, or with other arguments.
    OtherProgram = 2,
    /// The proof is wrong: the other has another secret.
    OtherSecret = 3,
    /// The other's run has another number of processes.
    OtherSize = 4,
    /// What listens at the address of a process is another one, or no process at all.
    OtherListener = 5,
}

impl Refusal {
    /// What the other process is, from the point of view of the one that refuses it.
    pub fn text(self) -> &'static str {
        match self {
            Refusal::NotOfThisRun => "it is no process of this run",
            Refusal::OtherProgram => "it runs another program, or the same with other arguments",
            Refusal::OtherSecret => "it has another secret",
            Refusal::OtherSize => "its run has another number of processes",
            Refusal::OtherListener => "another program, or a process of another number or run, listens there",
        }
    }

    fn of(byte: u8) -> Option<Refusal> {
        use Refusal::*;
        [NotOfThisRun, OtherProgram, OtherSecret, OtherSize, OtherListener]
            .into_iter()
            .find(|it| *it as u8 == byte)
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub(crate) enum Failed {
    /// It broke, or the other does not answer in time.
    Broken,
    /// By this process or by the other, of which nothing is known.
    Refused(Refusal),
    /// By this process: a process with this number has proved that it knows the secret, and is of another run.
    Differs(u32, Refusal),
}

impl From<io::Error> for Failed {
    fn from(_: io::Error) -> Failed {
        Failed::Broken
    }
}

#[derive(Clone, Copy)]
enum Role {
    Connector = 1,
    Acceptor = 2,
}

type Hello = [u8; HELLO];

/// Greets the process that listens at the other end.
pub(crate) fn connect(
    stream: &mut (impl Read + Write),
    me: &Identity,
    peer: u32,
    kind: Kind,
) -> Result<(), Failed> {
    let mine = hello(me, kind)?;
    stream.write_all(&mine)?;
    let theirs: Hello = read(stream)?;
    let proof: [u8; PROOF] = read(stream)?;
    let other = Failed::Refused(Refusal::OtherListener);
    let Ok(found) = check(&theirs, me) else { return Err(other) };
    if proof_of(me, Role::Acceptor, &mine, &theirs) != blake3::Hash::from_bytes(proof) {
        // No proof: the other sees what differs.
        _ = stream.write_all(&[0; PROOF]);
        return Err(Failed::Refused(Refusal::OtherSecret));
    }
    if found != (peer, kind) {
        return Err(other);
    }
    stream.write_all(proof_of(me, Role::Connector, &mine, &theirs).as_bytes())?;
    match read::<1>(stream)? {
        [0] => Ok(()),
        [byte] => Err(Failed::Refused(Refusal::of(byte).unwrap_or(Refusal::NotOfThisRun))),
    }
}

/// Greets the process that has connected. Returns its number, and what it wants.
pub(crate) fn accept(stream: &mut (impl Read + Write), me: &Identity) -> Result<(u32, Kind), Failed> {
    let theirs: Hello = read(stream)?;
    let (peer, kind) = match check(&theirs, me) {
        Ok(it) => it,
        Err(refusal) => {
            // The other sees from our hello what differs.
            let kind = kind_of(&theirs).unwrap_or(Kind::Control);
            _ = stream.write_all(&hello(me, kind)?).and_then(|()| stream.write_all(&[0; PROOF]));
            return Err(refusal);
        }
    };
    let mine = hello(me, kind)?;
    stream.write_all(&mine)?;
    stream.write_all(proof_of(me, Role::Acceptor, &theirs, &mine).as_bytes())?;
    let proof: [u8; PROOF] = read(stream)?;
    if proof_of(me, Role::Connector, &theirs, &mine) != blake3::Hash::from_bytes(proof) {
        _ = stream.write_all(&[Refusal::OtherSecret as u8]);
        return Err(Failed::Refused(Refusal::OtherSecret));
    }
    if let Some(refusal) = difference(&theirs, me) {
        _ = stream.write_all(&[refusal as u8]);
        return Err(Failed::Differs(peer, refusal));
    }
    stream.write_all(&[0])?;
    Ok((peer, kind))
}

fn hello(me: &Identity, kind: Kind) -> io::Result<Hello> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    let mut bytes = [0; HELLO];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&(kind as u32).to_be_bytes());
    bytes[12..16].copy_from_slice(&me.process.to_be_bytes());
    bytes[16..20].copy_from_slice(&me.processes.to_be_bytes());
    bytes[20..52].copy_from_slice(&me.program);
    bytes[52..].copy_from_slice(&nonce);
    Ok(bytes)
}

fn word(hello: &Hello, at: usize) -> u32 {
    u32::from_be_bytes([hello[at], hello[at + 1], hello[at + 2], hello[at + 3]])
}

fn kind_of(hello: &Hello) -> Option<Kind> {
    [Kind::Data, Kind::Control].into_iter().find(|kind| *kind as u32 == word(hello, 8))
}

/// The process that a hello comes from, and what it wants.
fn check(hello: &Hello, me: &Identity) -> Result<(u32, Kind), Failed> {
    let process = word(hello, 12);
    let kind = kind_of(hello).filter(|_| hello[..8] == MAGIC && process != me.process);
    kind.map(|kind| (process, kind)).ok_or(Failed::Refused(Refusal::NotOfThisRun))
}

/// What differs between two runs.
fn difference(hello: &Hello, me: &Identity) -> Option<Refusal> {
    if word(hello, 16) != me.processes || word(hello, 12) >= me.processes {
        return Some(Refusal::OtherSize);
    }
    (hello[20..52] != me.program).then_some(Refusal::OtherProgram)
}

fn proof_of(me: &Identity, maker: Role, connector: &Hello, acceptor: &Hello) -> blake3::Hash {
    let mut hash = blake3::Hasher::new_keyed(&me.key);
    hash.update(&[maker as u8]).update(connector).update(acceptor);
    hash.finalize() // compared in constant time
}

fn read<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The key for a secret.
pub(crate) fn key_of(secret: &[u8]) -> [u8; 32] {
    blake3::derive_key("thalweg-cluster 1: proofs of the secret", secret)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    fn identity(process: u32, secret: &str, program: u8) -> Identity {
        Identity { process, processes: 2, program: [program; 32], key: key_of(secret.as_bytes()) }
    }

    /// What both ends say, of a connection with process 0.
    fn greet(connector: Identity, acceptor: Identity) -> (Result<(), Failed>, Result<(u32, Kind), Failed>) {
        greet_at(0, connector, acceptor)
    }

    /// The same, where process `peer` is expected to listen.
    fn greet_at(
        peer: u32,
        connector: Identity,
        acceptor: Identity,
    ) -> (Result<(), Failed>, Result<(u32, Kind), Failed>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connecting = std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            connect(&mut stream, &connector, peer, Kind::Data)
        });
        let mut stream = listener.accept().unwrap().0;
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let accepted = accept(&mut stream, &acceptor);
        drop(stream);
        (connecting.join().unwrap(), accepted)
    }

    #[test]
    fn processes_of_one_run_meet() {
        let (connected, accepted) = greet(identity(1, "s", 1), identity(0, "s", 1));
        connected.unwrap();
        assert_eq!(accepted.unwrap(), (1, Kind::Data));
    }

    #[test]
    fn others_are_refused_at_both_ends() {
        use Refusal::*;
        for (other, why) in [
            (identity(1, "t", 1), OtherSecret),
            (identity(1, "t", 2), OtherSecret),
            (identity(1, "s", 2), OtherProgram),
            (Identity { processes: 3, ..identity(1, "s", 1) }, OtherSize),
            (identity(0, "s", 1), NotOfThisRun),
        ] {
            let number = other.process;
            let (connected, accepted) = greet(other, identity(0, "s", 1));
            let said = if matches!(why, NotOfThisRun) { OtherListener } else { why };
            assert!(matches!(connected, Err(Failed::Refused(it)) if it == said), "{connected:?}");
            match why {
                NotOfThisRun | OtherSecret => {
                    assert!(matches!(accepted, Err(Failed::Refused(it)) if it == why));
                }
                _ => assert!(matches!(accepted, Err(Failed::Differs(of, it)) if (of, it) == (number, why))),
            }
        }
    }

    #[test]
    fn what_listens_in_place_of_a_process_is_refused() {
        let listens = |bytes: &[u8]| {
            let mut stream = Played { input: io::Cursor::new(bytes.to_vec()), output: Vec::new() };
            connect(&mut stream, &identity(2, "s", 1), 1, Kind::Data)
        };
        let refused = |said, why| matches!(said, Err(Failed::Refused(it)) if it == why);
        assert!(refused(listens(&[b'x'; HELLO + PROOF]), Refusal::OtherListener));
        assert!(matches!(listens(b"HTTP/1.1 400 Bad Request"), Err(Failed::Broken)));
        // A process of another number, which knows the secret or not.
        for (secret, why) in [("s", Refusal::OtherListener), ("t", Refusal::OtherSecret)] {
            let (connected, accepted) = greet_at(1, identity(2, "s", 1), identity(0, secret, 1));
            assert!(refused(connected, why) && accepted.is_err());
        }
    }

    /// A peer that plays recorded bytes.
    struct Played {
        input: io::Cursor<Vec<u8>>,
        output: Vec<u8>,
    }

    impl Read for Played {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.input.read(into)
        }
    }

    impl Write for Played {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.output.extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn replayed_and_reflected_proofs_are_refused() {
        let (me, peer) = (identity(0, "s", 1), identity(1, "s", 1));
        // What a connector sent once, with a proof that held then.
        let mut recorded = hello(&peer, Kind::Data).unwrap().to_vec();
        let mine = hello(&me, Kind::Data).unwrap();
        let first: Hello = recorded[..].try_into().unwrap();
        recorded.extend(proof_of(&peer, Role::Connector, &first, &mine).as_bytes());
        let mut replay = Played { input: io::Cursor::new(recorded.clone()), output: Vec::new() };
        assert!(matches!(accept(&mut replay, &me), Err(Failed::Refused(Refusal::OtherSecret))));
        // The proof of the acceptor, sent back to it.
        let mut probe = Played { input: io::Cursor::new(first.to_vec()), output: Vec::new() };
        assert!(accept(&mut probe, &me).is_err());
        let mut reflected = first.to_vec();
        reflected.extend(&probe.output[HELLO..HELLO + PROOF]);
        let mut reflect = Played { input: io::Cursor::new(reflected), output: Vec::new() };
        assert!(matches!(accept(&mut reflect, &me), Err(Failed::Refused(Refusal::OtherSecret))));
    }

    #[test]
    fn damaged_hellos_are_refused() {
        let me = identity(0, "s", 1);
        let whole = hello(&identity(1, "s", 1), Kind::Control).unwrap();
        for at in 0..HELLO {
            for bit in [1, 128] {
                let mut bytes = whole.to_vec();
                bytes[at] ^= bit;
                bytes.extend([7; PROOF]);
                let mut stream = Played { input: io::Cursor::new(bytes), output: Vec::new() };
                assert!(accept(&mut stream, &me).is_err(), "byte {at}");
            }
        }
        for length in 0..HELLO + PROOF {
            let bytes = whole.iter().copied().chain([7; PROOF]).take(length).collect();
            assert!(accept(&mut Played { input: io::Cursor::new(bytes), output: Vec::new() }, &me).is_err());
        }
    }
}
