//! `kpn.bytes.*`: memory that a process takes, all told, in a ring of which each process has run and waits.
//!
//! Memory is what the system says is resident, and so is measured in a child process, in which nothing else
//! happens: this program, called with `--resident`.

use std::process::Command;

use thalweg::{BlockingRx, BlockingTx, Builder, Feedback, Options, Rx, Stream, Tx, input, output};

use crate::line::Measure;
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::Session;

/// How the processes are written.
const STYLES: [(&str, usize); 2] = [("coroutines", 100_000), ("futures", 1_000_000)];

/// What the child prints, in this order: bytes for each process.
const MOMENTS: [&str; 3] = ["ours", "prepared", "page tables"];

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    for (style, nodes) in STYLES {
        let name = format!("kpn.bytes.{style}");
        if !session.wants(&name) {
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

/// What a child has measured at one of the [`MOMENTS`].
fn measured(style: &str, nodes: usize, at: usize) -> Outcome {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program).args(["--resident", style, &nodes.to_string()]).output();
    let output = output.map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let value = text.split_whitespace().nth(at).and_then(|word| word.parse().ok());
    match value {
        Some(seconds) => Ok(Some(Row { seconds, checksum: 0 })),
        None => Err(format!("{}: {text:?} {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// The child: measures a ring, and prints.
///
/// # Errors
/// The run fails, or the system does not tell what is resident.
pub fn child(style: &str, nodes: usize) -> Result<(), String> {
    let before = Memory::now()?;
    let (sender, receiver) = std::sync::mpsc::channel();
    let measure = move |token: u64| drop(sender.send((token, Memory::now())));
    let network = ring(style, nodes, measure).build().map_err(|error| error.to_string())?;
    let prepared =
        network.prepare(&Options::new().threads(1).capacity(1)).map_err(|error| error.to_string())?;
    let ready = Memory::now()?;
    prepared.run().map_err(|error| error.to_string())?;
    let (token, waiting) = receiver.recv().map_err(|error| error.to_string())?;
    if token != nodes as u64 {
        return Err(format!("the token says {token} of {nodes}"));
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

/// A ring of which the first process calls `measure` when its token has come round: then all the others wait.
fn ring(style: &str, nodes: usize, measure: impl FnOnce(u64) + Send + 'static) -> Builder<'static> {
    let mut graph = Builder::new();
    let (back, stream): (Feedback<u64>, Stream<u64>) = graph.feedback([]);
    let coroutines = style == "coroutines";
    let mut stream = match coroutines {
        true => graph.coroutine("start", input("in", stream), output("out"), |mut rx, mut tx| {
            tx.send(1);
            measure(rx.recv().unwrap_or(0));
        }),
        false => graph.process("start", input("in", stream), output("out"), |mut rx, mut tx| async move {
            tx.send(1).await;
            measure(rx.recv().await.unwrap_or(0));
        }),
    };
    for _ in 1..nodes {
        let (inputs, outputs) = (input("in", stream), output("out"));
        stream = match coroutines {
            true => graph.coroutine("pass", inputs, outputs, pass_on),
            false => graph.process("pass", inputs, outputs, pass),
        };
    }
    graph.close(back, stream);
    graph
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
    /// Those that only the kernel sees, and does not count as resident.
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
