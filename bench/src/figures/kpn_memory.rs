//! `kpn.bytes.*`: the memory of a process in a ring in which all processes have run and wait.
//!
//! It is the resident memory that the system reports, so it is measured in a child process that does nothing else: this
//! program, called with `--resident`.

use std::process::Command;

use thalweg::node::{BlockingRx, BlockingTx};
use thalweg::{Graph, Options, Output, Rx, Tx, Value, output};

use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::Session;

/// The ways to write a process, and the number of processes.
const STYLES: [(&str, usize); 2] = [("coroutines", 100_000), ("futures", 1_000_000)];

/// The values that the child prints, in this order: bytes per process.
const MOMENTS: [&str; 3] = ["ours", "prepared", "page tables"];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for (style, nodes) in STYLES {
        let name = format!("kpn.bytes.{style}");
        if !session.selects(&name) {
            continue;
        }
        let nodes = if session.options.quick { nodes / 10 } else { nodes };
        let roles = [Role::Ours, Role::Aside, Role::Aside];
        let contestants = MOMENTS
            .iter()
            .zip(roles)
            .enumerate()
            .map(|(at, (name, role))| Contestant::new(name, role, 1, move || measured(style, nodes, at)));
        session.figure(&name, Measure::Bytes, 1, contestants.collect());
    }
}

/// The value that a child measures at one of the [`MOMENTS`].
fn measured(style: &str, nodes: usize, at: usize) -> Outcome {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args(["--resident", style, &nodes.to_string()]).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let value = text.split_whitespace().nth(at).and_then(|word| word.parse().ok());
    match value {
        Some(seconds) => Ok(Some(Row::new(seconds, 0))),
        None => Err(format!("{}: {text:?} {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// The child: measures a ring and prints the values.
///
/// # Errors
/// If the run fails, or the system does not report the resident memory.
pub fn child(style: &str, nodes: usize) -> Result<(), String> {
    let before = Memory::now()?;
    let returned = ring(style, nodes);
    let network = returned.graph().build().map_err(|error| error.to_string())?;
    let prepared =
        network.prepare(&Options::new().threads(1).capacity(1)).map_err(|error| error.to_string())?;
    let ready = Memory::now()?;
    let run = prepared.run().map_err(|error| error.to_string())?;
    let (token, waiting) = run.take(returned).map_err(|error| error.to_string())?;
    if token != nodes as u64 {
        return Err(format!("wrong token: expected {nodes}, got {token}"));
    }
    let each = |bytes: usize, before: usize| bytes.saturating_sub(before) as f64 / nodes as f64;
    let waiting = waiting?;
    println!(
        "{:.1} {:.1} {:.1}",
        each(waiting.resident, before.resident),
        each(ready.resident, before.resident),
        each(waiting.tables, before.tables),
    );
    Ok(())
}

/// The value of the ring's first process when its token has returned and all other processes wait: the token, and the
/// memory at that time.
type Returned = (u64, Result<Memory, String>);

/// A ring of processes with one token.
fn ring(style: &str, nodes: usize) -> Output<'static, Returned> {
    let graph = Graph::new();
    let (back, stream) = graph.feedback([]);
    let coroutines = style == "coroutines";
    let (mut stream, returned) = match coroutines {
        true => graph.coroutine("start", stream, output("out"), |mut rx, mut tx| {
            tx.send(1u64);
            Value((rx.recv().unwrap_or(0), Memory::now()))
        }),
        false => graph.process("start", stream, output("out"), |mut rx, mut tx| async move {
            tx.send(1).await;
            Value((rx.recv().await.unwrap_or(0), Memory::now()))
        }),
    };
    for _ in 1..nodes {
        stream = match coroutines {
            true => graph.coroutine("pass", stream, output("out"), pass_on),
            false => graph.process("pass", stream, output("out"), pass),
        };
    }
    stream.feed(back);
    returned
}

fn pass_on(rx: BlockingRx<u64>, mut tx: BlockingTx<u64>) {
    for token in rx {
        tx.send(token + 1);
    }
}

async fn pass(mut rx: Rx<u64>, mut tx: Tx<u64>) {
    while let Some(token) = rx.recv().await {
        tx.send(token + 1).await;
    }
}

/// Bytes of this process.
struct Memory {
    resident: usize,
    /// The kernel's page tables, which do not count as resident.
    tables: usize,
}

impl Memory {
    fn now() -> Result<Memory, String> {
        let text = std::fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
        let bytes = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<usize>().ok().map(|kib| kib << 10)
        };
        let found = |name| bytes(name).ok_or_else(|| format!("/proc/self/status has no {name}"));
        Ok(Memory { resident: found("VmRSS:")?, tables: found("VmPTE:")? })
    }
}
