//! Processes that are killed or stopped. Each is this program again, with an environment variable that says which it is.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use thalweg_cluster::{Cluster, Hosts, RemoteShell, launch_on};

/// Says which process of which addresses this is, and where the output goes.
const VARIABLE: &str = "THALWEG_CLUSTER_TEST";

/// Says how a process fails by itself: see [`Failure`].
const FAILURE: &str = "THALWEG_CLUSTER_TEST_FAILURE";

/// Items in all: more than a process that is killed lets through.
const ITEMS: u64 = 40_000;

/// What a child runs: no test by itself.
#[test]
fn a_process_of_a_cluster() {
    let Ok(text) = std::env::var(VARIABLE) else { return };
    let mut words = text.split(' ');
    let process = words.next().unwrap().parse().unwrap();
    let path = words.next().unwrap();
    let addresses: Vec<&str> = words.collect();
    let cluster = Cluster::new(addresses, process).unwrap().silence(Duration::from_millis(300));
    let cluster = cluster.patience(Duration::from_secs(3)).batch(50).window(16);
    let failure = std::env::var(FAILURE).unwrap_or_default();
    let (kind, at) = failure.split_once(' ').unwrap_or((&failure, "0"));
    let (kind, at): (_, u64) = (kind.to_owned(), at.parse().unwrap());
    let cluster = if kind == "Refused" { cluster.job("another") } else { cluster };
    let mut file = (process == 0).then(|| std::fs::File::create(path).unwrap());
    let ended = cluster
        .from_parts(40, |part| part as u64 * ITEMS / 40..(part as u64 + 1) * ITEMS / 40)
        .try_par_map(|n| {
            if n % 50 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
            assert!(n != at || kind != "Panic", "told to");
            if n == at && kind == "Error" { Err("told to") } else { Ok(n) }
        })
        .key_by(|n| n % 5)
        .scan(
            |_| 0u64,
            |sum, n| {
                *sum += n;
                *sum
            },
        )
        .try_for_each(move |sum| file.as_mut().unwrap().write_all(&sum.to_le_bytes()))
        .run();
    if let Err(error) = ended {
        eprintln!("error: {error}");
        std::process::exit(3);
    }
}

struct Running {
    children: Vec<Child>,
    output: std::path::PathBuf,
}

/// What a launched child runs: no test by itself. It prints the sum of its numbers in process 0.
#[test]
fn a_launched_process() {
    if std::env::var_os("THALWEG_LAUNCH").is_none() {
        return;
    }
    let cluster = Cluster::from_env().unwrap_or_else(|error| {
        eprintln!("error: {error}");
        std::process::exit(4)
    });
    let sum = cluster
        .from_parts(10, |part| [part as u64])
        .end(|stream| stream.fold(0, |sum, n| sum + n))
        .run()
        .unwrap();
    assert_eq!(sum, (cluster.process() == 0).then_some(45));
    assert_eq!(cluster.processes(), 3);
}

#[test]
fn launched_processes_meet() {
    let command = |name: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", name, "--nocapture"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let ended = thalweg_cluster::launch(3, |_| command("processes::a_launched_process"), || false).unwrap();
    assert!(ended.len() == 3 && ended.iter().all(|it| it.status.success()), "{ended:?}");
    // One ends before it has called: the others do not wait for it, and say nothing.
    let began = Instant::now();
    let odd = |program: &'static str| {
        move |process| match process {
            1 => Command::new(program),
            _ => command("processes::a_launched_process"),
        }
    };
    let error = thalweg_cluster::launch(3, odd("true"), || false).unwrap_err().to_string();
    assert!(
        error.starts_with("process 1 has ended, and process ") && error.ends_with("has waited for it"),
        "{error}"
    );
    let ended = thalweg_cluster::launch(3, odd("false"), || false).unwrap();
    assert_eq!((ended[0].process, ended[0].status.code(), ended.len()), (1, Some(1), 3));
    assert!(ended[1..].iter().all(|it| it.was_terminated && it.status.signal() == Some(15)), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
    // One that does not heed SIGTERM is killed.
    let deaf = |_| {
        let mut it = Command::new("sh");
        it.args(["-c", "trap '' TERM; while :; do sleep 0.1; done"]);
        it
    };
    let began = Instant::now();
    let ended = thalweg_cluster::launch(2, deaf, || began.elapsed() > Duration::from_millis(300)).unwrap();
    assert!(ended.iter().all(|it| it.status.signal() == Some(9)), "{ended:?}");
    assert!((2..6).contains(&began.elapsed().as_secs()));
    let began = Instant::now();
    let sleepers = thalweg_cluster::launch(
        2,
        |_| {
            let mut it = Command::new("sleep");
            it.arg("60");
            it
        },
        || began.elapsed() > Duration::from_secs(1),
    );
    assert!(sleepers.unwrap().iter().all(|it| it.was_terminated && !it.status.success()));
    let missing = thalweg_cluster::launch(2, |_| Command::new("/no/such/program"), || false).unwrap_err();
    assert!(missing.to_string().starts_with("process 0: cannot start `/no/such/program`"), "{missing}");
}

#[test]
fn process_0_writes_the_report_that_the_environment_asks_for() {
    let path = |process| {
        std::env::temp_dir().join(format!("thalweg-cluster-{}-report{process}", std::process::id()))
    };
    let command = |process| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "processes::a_launched_process", "--nocapture"]);
        let file = std::fs::File::create(path(process)).unwrap();
        command.env("THALWEG_REPORT", "1").stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        command
    };
    let ended = thalweg_cluster::launch(3, command, || false).unwrap();
    assert!(ended.iter().all(|it| it.status.success()), "{ended:?}");
    let texts: Vec<String> = (0..3).map(|process| std::fs::read_to_string(path(process)).unwrap()).collect();
    assert!(texts[0].starts_with("link ") && texts[0].lines().count() == 10, "{texts:?}");
    assert!(texts[0].contains("\n2 -> 1 ") && texts[0].contains("\nsource of 2 waited "), "{texts:?}");
    assert!(texts[1].is_empty() && texts[2].is_empty(), "{texts:?}");
    (0..3).for_each(|process| std::fs::remove_file(path(process)).unwrap());
}

/// Addresses of this machine that are free. Linux chooses ports above these for connections and for listeners that name none, so
/// no other test has one of them before the process that it is for listens there.
pub fn free(count: usize) -> Vec<String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let port = || 10_000 + (std::process::id() * 97 + NEXT.fetch_add(1, Relaxed)) % 20_000;
    let addresses = std::iter::repeat_with(|| format!("127.0.0.1:{}", port()));
    addresses.filter(|address| TcpListener::bind(address).is_ok()).take(count).collect()
}

/// A script takes the place of `ssh`: it gives the command line to a shell of this machine.
#[test]
fn processes_on_hosts_meet() {
    let path = std::env::temp_dir().join(format!("thalweg-cluster-hosts-{}", std::process::id()));
    std::fs::write(&path, free(3).join(" # one\n")).unwrap();
    let hosts = Hosts::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let shell = RemoteShell::parse(r#"sh -c 'test "$0" = 127.0.0.1 && exec sh -c "$1"'"#).unwrap();
    let program = std::env::current_exe().unwrap().into_os_string();
    let run = |arguments: &[&str]| {
        let program: Vec<_> = [program.clone()].into_iter().chain(arguments.iter().map(Into::into)).collect();
        launch_on(&hosts, &shell, &program, || false).unwrap()
    };
    let ended = run(&["--exact", "processes::a_launched_process", "-q"]);
    assert!(ended.len() == 3 && ended.iter().all(|it| it.status.success()), "{ended:?}");
    // What a test program ends with that does not know its arguments.
    assert!(run(&["--no-such-argument"]).iter().all(|it| it.status.code() == Some(101)));
    let missing = RemoteShell::parse("/no/such/ssh").unwrap();
    let error = launch_on(&hosts, &missing, &[program], || false).unwrap_err().to_string();
    assert!(error.starts_with("process 0: cannot start `/no/such/ssh` for 127.0.0.1: "), "{error}");
}

/// What happens to a process of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    Nothing,
    Killed,
    Stopped,
    Panic,
    Error,
    Refused,
    FullDisk,
    /// It starts when the others wait already: the run is whole.
    Late,
}

/// Starts the processes of a run, of which one fails by itself. Its time is a function of `moment`.
fn start(name: &str, processes: usize, victim: usize, failure: Failure, moment: u64) -> Running {
    let addresses = free(processes);
    let mut output = std::env::temp_dir().join(format!("thalweg-cluster-{}-{name}", std::process::id()));
    if failure == Failure::FullDisk {
        output = "/dev/full".into();
    }
    // In a part that the process reads.
    let part = victim as u64 + processes as u64 * (moment % 8);
    let at = part * ITEMS / 40 + moment % (ITEMS / 40);
    let child = |process| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child
            .args(["--exact", "processes::a_process_of_a_cluster", "--nocapture"])
            .env(VARIABLE, format!("{process} {} {}", output.display(), addresses.join(" ")))
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        if process == victim {
            child.env(FAILURE, format!("{failure:?} {at}"));
            if failure == Failure::Late {
                std::thread::sleep(Duration::from_millis(moment % 400));
            }
        }
        child.spawn().unwrap()
    };
    Running { children: (0..processes).map(child).collect(), output }
}

/// The results of processes, which end within a time.
pub fn outputs(what: &str, children: Vec<Child>, limit: Duration) -> Vec<Output> {
    let began = Instant::now();
    let mut ended = Vec::new();
    for mut child in children {
        while child.try_wait().unwrap().is_none() {
            if began.elapsed() > limit {
                child.kill().unwrap();
                panic!("{what}: a process still runs after {limit:?}");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        ended.push(child.wait_with_output().unwrap());
    }
    ended
}

/// The results of a run that nothing disturbs.
fn expected() -> Vec<u8> {
    let mut sums = [0; 5];
    let sum = |n: u64| {
        let sum = &mut sums[(n % 5) as usize];
        *sum += n;
        sum.to_le_bytes()
    };
    (0..ITEMS).flat_map(sum).collect()
}

#[test]
fn an_undisturbed_run_is_whole() {
    is_whole(start("whole", 3, 0, Failure::Nothing, 0));
}

fn is_whole(run: Running) {
    for output in outputs("whole", run.children, Duration::from_secs(60)) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(std::fs::read(&run.output).unwrap() == expected());
    std::fs::remove_file(run.output).unwrap();
}

/// What happens to one process of four at a random moment; the others end with a cause that names it.
fn fail(seed: u64) {
    use Failure::*;
    let failure = [Killed, Stopped, Panic, Error, Killed, Late, Refused, FullDisk][(seed % 8) as usize];
    let victim = if failure == FullDisk { 0 } else { (seed / 8 % 4) as usize };
    let moment = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let mut run = start(&seed.to_string(), 4, victim, failure, moment);
    if failure == Late {
        return is_whole(run);
    }
    let mut victim_process = run.children.remove(victim);
    let signal = match failure {
        Killed => Some("-KILL"),
        Stopped => Some("-STOP"),
        _ => None,
    };
    if let Some(signal) = signal {
        std::thread::sleep(Duration::from_millis(20 + moment % 200));
        let sent = Command::new("kill").args([signal, &victim_process.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }
    let what = format!("seed {seed}, process {victim}, {failure:?}");
    let ended = outputs(&what, run.children, Duration::from_secs(10));
    if signal.is_some() {
        victim_process.kill().unwrap();
        victim_process.wait().unwrap();
    } else {
        let output = &outputs(&what, vec![victim_process], Duration::from_secs(10))[0];
        assert_eq!(output.status.code(), Some(3), "seed {seed}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for output in ended {
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "seed {seed}: {text}");
        // A process that starts when the others have ended finds none.
        let is_alone = failure == Refused && text.contains("no connection within 3s");
        let names = text.contains(&format!("process {victim} ("))
            || text.contains(&format!("with process {victim} "));
        assert!(names || is_alone, "seed {seed}, process {victim}, {failure:?}: {text}");
        let cause = match failure {
            Panic => "stage try_par_map, batch ",
            Error => "failed: told to",
            Refused => "it runs another program",
            FullDisk => "No space left on device",
            _ => "",
        };
        assert!(text.contains(cause) || is_alone, "seed {seed}, {failure:?}: {text}");
        assert!(text.starts_with("error: ") && text.lines().count() == 1, "more than the cause: {text}");
    }
    if failure != FullDisk {
        let written = std::fs::read(&run.output).unwrap_or_default();
        assert!(expected().starts_with(&written), "seed {seed}: the output is no prefix");
        _ = std::fs::remove_file(run.output);
    }
}

/// 40 failures, two at a time; `THALWEG_CASES=N` makes N, `THALWEG_SEED=N` begins with seed N.
#[test]
fn random_failures_end_all_processes_with_their_cause() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("THALWEG_SEED").unwrap_or(0);
    let seeds = first..first + number("THALWEG_CASES").unwrap_or(40);
    std::thread::scope(|scope| {
        for lane in 0..2 {
            let seeds = seeds.clone().skip(lane).step_by(2);
            scope.spawn(move || seeds.for_each(fail));
        }
    });
}
