//! Where the processes of a run are: addresses as users write them, and the file that lists them.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::Path;

use crate::cluster::Cluster;
use crate::error::Error;
use crate::secret;

/// The processes of a run, by a file.
///
/// Each line is the address of a process, `HOST:PORT`, where it listens while a run begins; the first is that of process 0.
/// What follows a `#` is a comment, and blank lines count nothing. Several processes of one host have different ports.
///
/// ```text
/// # rack 3
/// node1:7000        # process 0 reads and writes the files
/// node2:7000
/// node2:7001
/// 10.0.3.7:7000
/// ```
#[derive(Clone, Debug)]
pub struct Hosts {
    addresses: Vec<String>,
}

impl Hosts {
    /// Reads a file of hosts.
    ///
    /// # Errors
    /// The file cannot be read, a line is no address, stands for all interfaces, or is there twice, or no line is an
    /// address. The error names the file and the line.
    pub fn read(path: impl AsRef<Path>) -> Result<Hosts, Error> {
        let name = path.as_ref().display();
        let text = std::fs::read_to_string(&path).map_err(|error| Error::new(format!("{name}: {error}")))?;
        Hosts::parse(&name, &text)
    }

    fn parse(name: &dyn fmt::Display, text: &str) -> Result<Hosts, Error> {
        let mut lines: Vec<(usize, &str)> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let address = line.split('#').next().unwrap_or_default().trim();
            if address.is_empty() {
                continue;
            }
            let refused =
                |why: &dyn fmt::Display| Error::new(format!("{name}:{}: {address}: {why}", number + 1));
            let (host, _) = split(address).map_err(|why| refused(&why).with_help(FORM))?;
            refuse_wildcard(host).map_err(|why| refused(&why))?;
            if let Some((before, _)) = lines.iter().find(|(_, other)| other.eq_ignore_ascii_case(address)) {
                let why = format!("line {} has this address too", before + 1);
                return Err(refused(&why).with_help("give each process a port of its own"));
            }
            lines.push((number, address));
        }
        if lines.is_empty() {
            return Err(Error::new(format!("{name}: no line is the address of a process")).with_help(FORM));
        }
        Ok(Hosts { addresses: lines.into_iter().map(|(_, address)| address.to_owned()).collect() })
    }

    /// The addresses of the processes, by number.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// The host of each process, by number: its address without the port.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.addresses.iter().map(|address| split(address).map_or(address.as_str(), |(host, _)| host))
    }
}

const FORM: &str = "write a line HOST:PORT for each process, node1:7000 or [fd00::1]:7000 for example";

impl Cluster {
    /// Process `process` of those in a [file of hosts](Hosts). With one line the process is [alone](Cluster::alone).
    ///
    /// Each process is started by hand, or by a script, with the same file and its number. A program that has flags of its
    /// own passes on what they say:
    ///
    /// ```
    /// use thalweg_cluster::{Cluster, Error};
    ///
    /// struct Flags {
    ///     hosts: Option<String>,       // --hosts FILE
    ///     process: usize,              // --process N
    ///     secret_file: Option<String>, // --secret-file FILE
    /// }
    ///
    /// fn cluster(flags: &Flags) -> Result<Cluster, Error> {
    ///     let Some(hosts) = &flags.hosts else {
    ///         return Cluster::from_env(); // by `thalweg launch`, or alone
    ///     };
    ///     let cluster = Cluster::from_hosts(hosts, flags.process)?;
    ///     match &flags.secret_file {
    ///         Some(file) => cluster.secret_file(file),
    ///         None => Ok(cluster),
    ///     }
    /// }
    /// # let cluster = cluster(&Flags { hosts: None, process: 0, secret_file: None })?;
    /// # assert_eq!(cluster.processes(), 1);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`Hosts::read`], or the file has no such process.
    pub fn from_hosts(path: impl AsRef<Path>, process: usize) -> Result<Cluster, Error> {
        let hosts = Hosts::read(&path)?;
        let count = hosts.addresses.len();
        if process >= count {
            let text =
                format!("process {process}: {} has processes 0 to {}", path.as_ref().display(), count - 1);
            return Err(Error::new(text).with_help("processes are numbered from 0, by line"));
        }
        Cluster::new(hosts.addresses, process)
    }
}

/// The host and the port of an address.
fn split(address: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = address.rsplit_once(':').ok_or("no address of the form HOST:PORT")?;
    let port = port.parse().ok().filter(|port| *port > 0).ok_or("no address of the form HOST:PORT")?;
    if let Some(host) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        return host.parse::<Ipv6Addr>().map(|_| (host, port)).map_err(|_| "no IPv6 address in brackets");
    }
    if host.parse::<Ipv6Addr>().is_ok() {
        return Err("an IPv6 address is in brackets");
    }
    // A name that begins with a hyphen would be an option of `ssh`.
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    if host.is_empty() || host.starts_with('-') || !host.chars().all(is_part) {
        return Err("no address of the form HOST:PORT");
    }
    Ok((host, port))
}

fn refuse_wildcard(host: &str) -> Result<(), &'static str> {
    match host.parse::<IpAddr>() {
        Ok(address) if is_wildcard(address) => Err("it stands for all interfaces; name one"),
        _ => Ok(()),
    }
}

fn is_wildcard(address: IpAddr) -> bool {
    address.to_canonical().is_unspecified()
}

/// Refuses what is no address that a process can have, and addresses that two have.
pub(crate) fn check(addresses: &[String]) -> Result<(), Error> {
    for (process, address) in addresses.iter().enumerate() {
        let (host, _) = split(address).map_err(|why| refused(process, address, why).with_help(FORM))?;
        refuse_wildcard(host).map_err(|why| refused(process, address, why))?;
        if let Some(other) = addresses[..process].iter().position(|other| other.eq_ignore_ascii_case(address))
        {
            return Err(one_address(other, process, address));
        }
    }
    Ok(())
}

fn refused(process: usize, address: &str, why: &str) -> Error {
    Error::of(process, format!("process {process}: {address}: {why}"))
}

fn one_address(first: usize, second: usize, address: &str) -> Error {
    let text = format!("processes {first} and {second} have one address: {address}");
    Error::new(text).with_help("give each process a port of its own")
}

/// Refuses an address that stands for all interfaces, and one of other machines without a secret. Returns whether it is of
/// this machine alone.
pub(crate) fn is_safe(process: usize, text: &str, ip: IpAddr, secret: &[u8]) -> Result<bool, Error> {
    if is_wildcard(ip) {
        return Err(refused(process, text, &format!("{ip} stands for all interfaces; name one")));
    }
    if ip.to_canonical().is_loopback() {
        return Ok(true);
    }
    let why = match secret.len() {
        0 => "there is no secret".to_owned(),
        length if length < secret::LEAST => format!("the secret has {length} bytes"),
        _ => return Ok(false),
    };
    let text = refused(process, text, &format!("{ip} is not of a loopback interface, and {why}"));
    Err(text.with_help(secret::HELP))
}

/// The addresses of processes as numbers, and whether all are of this machine.
#[derive(Debug)]
pub(crate) struct Places {
    pub by_process: Vec<Vec<SocketAddr>>,
    pub are_here: bool,
}

impl Places {
    /// Looks up all names. Addresses of other machines need a secret.
    pub fn resolve(addresses: &[String], secret: &[u8]) -> Result<Places, Error> {
        let mut places = Places { by_process: Vec::new(), are_here: true };
        for (process, address) in addresses.iter().enumerate() {
            let found = address.to_socket_addrs().map_err(|error| {
                refused(process, address, &format!("cannot find the host: {error}"))
                    .with_help("each process must know the names of all hosts, or have their numbers")
            })?;
            places.add(process, address, found.collect(), secret)?;
        }
        Ok(places)
    }

    fn add(
        &mut self,
        process: usize,
        text: &str,
        found: Vec<SocketAddr>,
        secret: &[u8],
    ) -> Result<(), Error> {
        for address in &found {
            self.are_here &= is_safe(process, text, address.ip(), secret)?;
            if let Some(other) = self.by_process.iter().position(|other| other.contains(address)) {
                return Err(one_address(other, process, &address.to_string()));
            }
        }
        self.by_process.push(found);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<String>, String> {
        Hosts::parse(&"f", text).map(|hosts| hosts.addresses).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_a_process() {
        let text = "# all\n\nnode1:7000  # reads\r\n node2:7000\nnode2:7001\n\t[fd00::1]:1\n10.0.0.1:65535";
        let all = ["node1:7000", "node2:7000", "node2:7001", "[fd00::1]:1", "10.0.0.1:65535"];
        assert_eq!(parse(text).unwrap(), all);
        let hosts = Hosts::parse(&"f", text).unwrap();
        assert_eq!(hosts.hosts().collect::<Vec<_>>(), ["node1", "node2", "node2", "fd00::1", "10.0.0.1"]);
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        for (text, error) in [
            ("a:1\n\nb", "f:3: b: no address of the form HOST:PORT"),
            ("a:1 b:2", "f:1: a:1 b:2: no address of the form HOST:PORT"),
            ("a:0", "f:1: a:0: no address of the form HOST:PORT"),
            ("a:65536", "f:1: a:65536: no address of the form HOST:PORT"),
            (":1", "f:1: :1: no address of the form HOST:PORT"),
            ("user@a:1", "f:1: user@a:1: no address of the form HOST:PORT"),
            ("-oProxyCommand=x:1", "f:1: -oProxyCommand=x:1: no address of the form HOST:PORT"),
            ("fd00::1:7000", "f:1: fd00::1:7000: an IPv6 address is in brackets"),
            ("[a]:1", "f:1: [a]:1: no IPv6 address in brackets"),
            ("a:1\n0.0.0.0:1", "f:2: 0.0.0.0:1: it stands for all interfaces; name one"),
            ("[::]:1", "f:1: [::]:1: it stands for all interfaces; name one"),
            ("[::ffff:0.0.0.0]:1", "f:1: [::ffff:0.0.0.0]:1: it stands for all interfaces; name one"),
            ("a:1\n#\nA:1", "f:3: A:1: line 1 has this address too"),
            ("# none\n", "f: no line is the address of a process"),
        ] {
            assert_eq!(parse(text).unwrap_err(), error);
        }
        let missing = Hosts::read("/no/such/file").unwrap_err().to_string();
        assert!(missing.starts_with("/no/such/file: "), "{missing}");
    }

    #[test]
    fn each_address_that_a_name_has_counts() {
        let resolve = |addresses: &[&str], secret: &[u8]| {
            let addresses: Vec<String> = addresses.iter().map(|it| (*it).to_owned()).collect();
            Places::resolve(&addresses, secret)
        };
        assert!(resolve(&["localhost:1", "127.0.0.2:1", "[::1]:2"], b"").unwrap().are_here);
        assert!(!resolve(&["127.0.0.1:1", "192.0.2.1:1"], &[7; 16]).unwrap().are_here);
        let mut places = Places { by_process: Vec::new(), are_here: true };
        let found = ["127.0.0.1:1", "192.0.2.1:1"].map(|it| it.parse().unwrap()).to_vec();
        let error = places.add(3, "both:1", found, b"").unwrap_err();
        let text = "process 3: both:1: 192.0.2.1 is not of a loopback interface, and there is no secret";
        assert_eq!((error.to_string().as_str(), error.process()), (text, Some(3)));
        let label = format!("{}:1", "a".repeat(64));
        let too_long = format!("process 1: {label}: cannot find the host: ");
        for (addresses, secret, error) in [
            (["127.0.0.1:1", "192.0.2.1:1"], &b"short"[..], "and the secret has 5 bytes"),
            (["127.0.0.1:1", &label], b"", &too_long),
            (["127.0.0.1:1", "localhost:1"], b"", "processes 0 and 1 have one address: 127.0.0.1:1"),
            // What the system's parser of numbers takes for a wildcard.
            (["127.0.0.1:1", "0:1"], b"", "0.0.0.0 stands for all interfaces"),
        ] {
            let got = resolve(&addresses, secret).unwrap_err().to_string();
            assert!(got.contains(error), "{got}");
        }
    }
}
