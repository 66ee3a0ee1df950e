//! Runs that are disturbed at random moments: the file is a prefix of the right one, and a resumed run gives the whole. Each
//! process is this program again, with an environment variable that says which it is.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use thalweg::Options;
use thalweg_cluster::{Cluster, Error};

use crate::chains::{Case, End, Op, add, chained, next, scan};
use crate::files::Folder;
use crate::processes::outputs;
use crate::support::{clusters, result};

/// The seed, which process of which addresses this is, and the path.
const VARIABLE: &str = "THALWEG_CLUSTER_RESUME";

/// How a run is disturbed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Disturbance {
    Kill,
    Stop,
    Error,
    Panic,
    FullDisk,
}

/// A chain, its settings, and what happens to its first run.
#[derive(Debug)]
struct Trial {
    case: Case,
    disturbance: Disturbance,
    /// Of the first run, and of the second.
    processes: [usize; 2],
    victim: usize,
    batch: usize,
    log_every: Duration,
    /// The call at which a function fails.
    call: u64,
    after: Duration,
    /// Blocks of the disk.
    blocks: u64,
}

impl Trial {
    fn new(seed: u64) -> Trial {
        let mut state = seed ^ 0x5eed;
        let mut below = |n: u64| next(&mut state) % n;
        let mut case = Case::new(seed);
        // Long enough to be disturbed.
        case.parts = (below(3) > 0).then(|| (0..12).map(|_| [90, 200, 333][below(3) as usize]).collect());
        case.items = 2400;
        // Many without states, which begin at a ticket; and a `fold` or `combine` writes nothing before its end.
        if below(2) == 0 {
            case.ops.retain(|op| matches!(op, Op::Map | Op::FilterMap | Op::FlatMap | Op::TryMap));
            case.end = [End::Collect, End::Collect, End::Map, End::Scan(100)][below(4) as usize];
        }
        use Disturbance::{Error, FullDisk, Kill, Panic, Stop};
        let disturbance =
            [Kill, FullDisk, Kill, Error, Kill, Stop, Kill, Panic, Kill, FullDisk][(seed % 10) as usize];
        let processes = [1 + below(4) as usize, 1 + below(4) as usize];
        // One that is stopped is noticed by others alone.
        let processes = if disturbance == Stop { [processes[0].max(2), processes[1]] } else { processes };
        Trial {
            case,
            disturbance,
            processes,
            victim: below(processes[0] as u64) as usize,
            batch: [1, 5, 16, 64][below(4) as usize],
            log_every: Duration::from_millis([0, 3, 20][below(3) as usize]),
            call: 1 + below(700),
            after: Duration::from_millis(20 + below(80)),
            blocks: 1 + below(5),
        }
    }

    /// The run of one process.
    fn run(&self, cluster: Cluster, path: &Path, disturbed: bool) -> Result<Option<()>, Error> {
        let cluster = cluster.batch(self.batch).log_every(self.log_every).window(24).resume(!disturbed);
        let (calls, victim) = (AtomicU64::new(0), cluster.process() == self.victim);
        let disturb = |item: u64| {
            let call = calls.fetch_add(1, Relaxed);
            if disturbed && call.is_multiple_of(12 / self.processes[0] as u64) {
                std::thread::sleep(Duration::from_millis(1));
            }
            match self.disturbance {
                Disturbance::Error if disturbed && victim && call == self.call => Err("told to fail"),
                Disturbance::Panic if disturbed && victim && call == self.call => panic!("told to panic"),
                _ => Ok(item),
            }
        };
        let chain = self.case.stages(self.case.source(&cluster).try_par_map(disturb));
        let mut sum = 0u64;
        let output = match self.case.end {
            End::Collect => chain.write_file(path, |out, item| writeln!(out, "{item}")),
            End::Map => chain
                .map(move |item| chained(&mut sum, item))
                .write_file(path, |out, sum| writeln!(out, "{sum}")),
            End::Scan(keys) => {
                let sums = chain.key_by(move |item| item % keys).scan(|_| 0.1, scan);
                sums.write_file(path, |out, sum| writeln!(out, "{sum}"))
            }
            End::Fold(keys) => {
                let keyed = chain.key_by(move |item| item % keys);
                let sums = keyed.fold(|| 0.1, |state, item| _ = scan(state, item));
                sums.write_file(path, |out, (key, sum)| writeln!(out, "{key} {sum}"))
            }
            End::Combine(keys) => {
                let sums = chain.key_by(move |item| item % keys).combine(|| 0, add, add);
                sums.write_file(path, |out, (key, sum)| writeln!(out, "{key} {sum}"))
            }
        };
        output.run_with(&Options::new().threads(2))
    }

    /// Starts the processes of the first run.
    fn start(&self, path: &Path) -> Vec<Child> {
        let listeners: Vec<_> =
            (0..self.processes[0]).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let addresses: Vec<_> = listeners.iter().map(|it| it.local_addr().unwrap().to_string()).collect();
        drop(listeners);
        let child = |process| {
            let program = std::env::current_exe().unwrap();
            let mut command = if self.disturbance == Disturbance::FullDisk && process == 0 {
                // A write behind the limit fails, as the signal that would come with it is ignored.
                let mut limited = Command::new("sh");
                let limit = format!("trap '' XFSZ; ulimit -f {}; exec \"$@\"", self.blocks);
                limited.args(["-c", &limit, "sh"]).arg(program);
                limited
            } else {
                Command::new(program)
            };
            command
                .args(["--exact", "resume::a_process_that_writes", "--nocapture"])
                .env(
                    VARIABLE,
                    format!("{} {process} {} {}", self.case.seed, path.display(), addresses.join(" ")),
                )
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        };
        (0..self.processes[0]).map(child).collect()
    }

    /// Disturbs a run and resumes it. Returns whether the first run has failed, and the entries of its log.
    fn check(&self) -> (bool, usize) {
        let folder = Folder::new(&format!("resume-{}", self.case.seed));
        let path = folder.at("out");
        let mut children = self.start(&path);
        let signal = match self.disturbance {
            Disturbance::Kill => Some("-KILL"),
            Disturbance::Stop => Some("-STOP"),
            _ => None,
        };
        let victim = signal.map(|signal| {
            std::thread::sleep(self.after);
            let victim = children.remove(self.victim);
            Command::new("kill").args([signal, &victim.id().to_string()]).status().unwrap();
            victim
        });
        let ended = outputs("resume", children, Duration::from_secs(20));
        if let Some(mut victim) = victim {
            _ = victim.kill();
            victim.wait().unwrap();
        }
        let codes: Vec<_> = ended.iter().map(|it| it.status.code()).collect();
        let failed = !path.exists();
        assert!(codes.iter().all(|code| *code == Some(if failed { 3 } else { 0 })), "{self:?}: {ended:?}");
        let expected: String = self.case.expected().iter().map(|line| format!("{line}\n")).collect();
        let written =
            fs::read(if failed { folder.at("out.partial") } else { path.clone() }).unwrap_or_default();
        assert!(expected.as_bytes().starts_with(&written), "{self:?}: no prefix");
        assert!(failed || written.len() == expected.len(), "{self:?}: not whole");
        for output in ended.iter().filter(|_| failed) {
            let text = String::from_utf8_lossy(&output.stderr);
            let names = match self.disturbance {
                Disturbance::Error => "told to fail",
                Disturbance::Panic => "told to panic",
                Disturbance::FullDisk => "File too large",
                Disturbance::Kill => &format!("process {} ", self.victim),
                // On a busy machine, another may be silent for so short a time.
                Disturbance::Stop => "process ",
            };
            assert!(text.contains(names), "{self:?}: {text}");
            assert!(self.disturbance != Disturbance::FullDisk || text.contains("/out."), "{text}");
        }
        let logged = fs::read(folder.at("out.resume")).map_or(0, |log| entries(&log));

        result(clusters(self.processes[1]), |cluster| self.run(cluster, &path, false));
        assert!(fs::read(&path).unwrap() == expected.as_bytes(), "{self:?}: the resumed file is another");
        assert_eq!(folder.names(), ["out"], "{self:?}");
        (failed, logged)
    }
}

/// The entries of a log: 32 bytes each, behind the magic, a length, as many bytes, and a hash.
fn entries(log: &[u8]) -> usize {
    let head = u32::from_le_bytes(log[8..12].try_into().unwrap()) as usize;
    (log.len() - (8 + 4 + head + 32)) / 32
}

/// What a child runs: no test by itself.
#[test]
fn a_process_that_writes() {
    let Ok(text) = std::env::var(VARIABLE) else { return };
    let mut words = text.split(' ');
    let trial = Trial::new(words.next().unwrap().parse().unwrap());
    let process = words.next().unwrap().parse().unwrap();
    let path = Path::new(words.next().unwrap());
    std::panic::set_hook(Box::new(|_| ()));
    let silence = if trial.disturbance == Disturbance::Stop { 300 } else { 5_000 };
    let cluster = Cluster::new(words, process).unwrap().silence(Duration::from_millis(silence));
    if let Err(error) = trial.run(cluster.patience(Duration::from_secs(10)), path, true) {
        eprintln!("error: {error}");
        std::process::exit(3);
    }
}

/// 20 runs; `THALWEG_CASES=N` makes N, `THALWEG_SEED=N` begins with seed N.
#[test]
fn a_disturbed_run_leaves_a_prefix_and_resumes() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (first, cases) = (number("THALWEG_SEED").unwrap_or(0), number("THALWEG_CASES").unwrap_or(20));
    let (mut failed, mut logged) = (0, 0);
    for seed in first..first + cases {
        let (has_failed, entries) = Trial::new(seed).check();
        failed += u64::from(has_failed);
        logged += u64::from(has_failed && entries > 0);
    }
    println!("{failed} of {cases} runs failed, {logged} with something to go on with");
    assert!(cases < 20 || (2 * failed > cases && 5 * logged > cases), "{failed} failed, {logged} logged");
}
