//! Chains that end with a file: what is written, and how a later run goes on with it.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use thalweg_cluster::{Cluster, Error};

use crate::support::{clusters, run};

/// A folder of a test, which is removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    /// In memory if the system has such a place: the tests sync thousands of times.
    pub fn new(name: &str) -> Folder {
        let memory = PathBuf::from("/dev/shm");
        let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let path = place.join(format!("thalweg-cluster-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The names in it.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// Processes that write to the log at the end of each epoch, and are not far ahead of it.
fn eager(processes: usize) -> Vec<Cluster> {
    let eager = |it: Cluster| it.batch(4).window(4).log_every(Duration::ZERO);
    clusters(processes).into_iter().map(eager).collect()
}

fn resuming(processes: usize) -> Vec<Cluster> {
    eager(processes).into_iter().map(|it| it.resume(true)).collect()
}

/// What a chain of the tests below does: 20 parts of 10 numbers.
struct Numbers {
    path: PathBuf,
    /// The first number at which the run fails.
    bad: u64,
    opened: Mutex<Vec<usize>>,
    mapped: AtomicUsize,
    /// A folder that is made in the midst of the run.
    obstacle: Option<PathBuf>,
}

impl Numbers {
    fn new(folder: &Folder, bad: u64) -> Numbers {
        let (opened, mapped) = (Mutex::default(), AtomicUsize::new(0));
        Numbers { path: folder.at("out"), bad, opened, mapped, obstacle: None }
    }

    fn check(&self, n: u64) -> Result<u64, String> {
        self.mapped.fetch_add(1, Relaxed);
        if n < self.bad { Ok(n) } else { Err(format!("{n} is bad")) }
    }

    fn encode(&self, out: &mut Vec<u8>, n: u64) -> std::io::Result<()> {
        if let Some(obstacle) = self.obstacle.as_ref().filter(|_| n == 100) {
            fs::create_dir_all(obstacle)?;
        }
        writeln!(out, "{n}")
    }

    fn parts(&self, all: Vec<Cluster>) -> Vec<Result<Option<()>, Error>> {
        run(all, |cluster| {
            cluster
                .from_parts(20, |part| {
                    self.opened.lock().unwrap().push(part);
                    10 * part as u64..10 * (part as u64 + 1)
                })
                .try_par_map(|n| self.check(n))
                .write_file(&self.path, |out, n| self.encode(out, n))
                .run()
        })
    }

    fn iter(&self, all: Vec<Cluster>) -> Vec<Result<Option<()>, Error>> {
        run(all, |cluster| {
            cluster
                .from_iter(0..200u64)
                .try_par_map(|n| self.check(n))
                .write_file(&self.path, |out, n| self.encode(out, n))
                .run()
        })
    }

    fn scan(&self, all: Vec<Cluster>) -> Vec<Result<Option<()>, Error>> {
        run(all, |cluster| {
            cluster
                .from_iter(0..200u64)
                .try_par_map(|n| self.check(n))
                .key_by(|n| n % 3)
                .scan(|_| (), |_, n| n)
                .write_file(&self.path, |out, n| self.encode(out, n))
                .run()
        })
    }
}

fn lines(count: u64) -> String {
    (0..count).map(|n| format!("{n}\n")).collect()
}

fn all_ok(results: Vec<Result<Option<()>, Error>>) {
    for (process, result) in results.into_iter().enumerate() {
        assert_eq!(result.unwrap_or_else(|e| panic!("{e}")), (process == 0).then_some(()));
    }
}

#[test]
fn a_file_has_its_name_when_it_is_whole() {
    for processes in [1, 3] {
        for write in [Numbers::parts, Numbers::iter, Numbers::scan] {
            let folder = Folder::new("whole");
            fs::write(folder.at("out"), "old").unwrap();
            let failed = Numbers::new(&folder, 150);
            for (process, result) in write(&failed, eager(processes)).into_iter().enumerate() {
                let error = result.unwrap_err();
                assert!(error.to_string().ends_with(" is bad"), "{error}");
                let help = "`thalweg launch --resume`";
                assert!(
                    process > 0 || error.help().is_some_and(|it| it.contains(help)),
                    "{:?}",
                    error.help()
                );
            }
            assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), "old");
            let partial = fs::read_to_string(folder.at("out.partial")).unwrap();
            assert!(lines(150).starts_with(&partial), "{partial}");
            // It begins anew without `resume`.
            all_ok(write(&Numbers::new(&folder, 200), eager(processes)));
            assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(200));
            assert_eq!(folder.names(), ["out"]);
        }
    }
}

#[test]
fn a_chain_without_items_writes_an_empty_file() {
    for all in [eager, resuming] {
        for processes in [1, 3] {
            let folder = Folder::new("empty");
            let path = folder.at("out");
            let encode = |out: &mut Vec<u8>, n| writeln!(out, "{n}");
            let parts = |cluster: Cluster| cluster.from_parts(0, |part| [part as u64]);
            all_ok(run(all(processes), |cluster| parts(cluster).write_file(&path, encode).run()));
            assert_eq!(fs::read(&path).unwrap(), b"");
            let iter = |cluster: Cluster| cluster.from_iter(0..0u64).key_by(|n| *n);
            all_ok(run(all(processes), |cluster| {
                iter(cluster).scan(|_| (), |_, n| n).write_file(&path, encode).run()
            }));
            // One part, and more processes.
            all_ok(run(all(processes), |cluster| {
                let chain = cluster.from_parts(1, |_| [7u64, 7]).key_by(|n| *n);
                let counts = chain.combine(|| 0u64, |a, _| *a += 1, |a, more| *a += more);
                counts.write_file(&path, |out, (n, count)| writeln!(out, "{n} {count}")).run()
            }));
            assert_eq!(
                (fs::read(&path).unwrap(), folder.names()),
                (b"7 2\n".to_vec(), vec!["out".to_owned()])
            );
        }
    }
}

#[test]
fn a_resumed_run_does_not_make_again_what_is_done() {
    for (before, after) in [(1, 1), (1, 3), (3, 2), (2, 4)] {
        let folder = Folder::new("parts");
        // All before part 15 is written: its batch comes behind them.
        Numbers::new(&folder, 155).parts(eager(before));
        let rest = Numbers::new(&folder, 200);
        let bytes = fs::metadata(folder.at("out.partial")).unwrap().len();
        all_ok(rest.parts(resuming(after)));
        assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(200));
        let done = lines(200)[..bytes as usize].lines().count();
        let opened = rest.opened.into_inner().unwrap();
        assert_eq!(opened.iter().min(), Some(&(done / 10)), "{before} {after}");
        assert_eq!((opened.len(), rest.mapped.into_inner()), (20 - done / 10, 200 - done));

        Numbers::new(&folder, 155).iter(eager(before));
        let rest = Numbers::new(&folder, 200);
        let done = fs::read_to_string(folder.at("out.partial")).unwrap().lines().count();
        all_ok(rest.iter(resuming(after)));
        assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(200));
        assert!(done > 0 && rest.mapped.into_inner() <= 200 - done, "{done}");
        assert_eq!(folder.names(), ["out"]);
    }
}

#[test]
fn a_run_of_which_all_is_written_resumes() {
    type Write = fn(&Numbers, Vec<Cluster>) -> Vec<Result<Option<()>, Error>>;
    for (write, by_ticket) in
        [(Numbers::parts as Write, true), (Numbers::iter as Write, true), (Numbers::scan as Write, false)]
    {
        for processes in [1, 2] {
            let folder = Folder::new("all");
            // The file cannot get its name.
            let blocked = Numbers { obstacle: Some(folder.at("out/full")), ..Numbers::new(&folder, 200) };
            for result in write(&blocked, eager(processes)) {
                let text = result.unwrap_err().to_string();
                assert!(text.contains("stage write_file: failed: renaming the finished output to"), "{text}");
            }
            fs::remove_dir_all(folder.at("out")).unwrap();
            let rest = Numbers::new(&folder, 200);
            all_ok(write(&rest, resuming(processes)));
            assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(200));
            let (opened, mapped) = (rest.opened.into_inner().unwrap(), rest.mapped.into_inner());
            assert!(!by_ticket || (opened.len(), mapped) == (0, 0), "{opened:?} {mapped}");
            // The log is gone: another run begins anew.
            all_ok(write(&Numbers::new(&folder, 200), resuming(processes)));
            assert_eq!(folder.names(), ["out"]);
        }
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_the_source_is_read() {
    let folder = Folder::new("refused");
    fs::create_dir(folder.at("folder")).unwrap();
    fs::write(folder.at("file"), "").unwrap();
    for (path, why) in [
        (folder.at("folder"), "folder already exists, and a file replaces only a file"),
        (folder.at("missing/out"), "missing/out.partial: No such file or directory"),
        (folder.at("file/out"), "file/out.partial: Not a directory"),
        ("/dev/null".into(), "/dev/null already exists, and a file replaces only a file"),
    ] {
        for processes in [1, 2] {
            let numbers = Numbers { path: path.clone(), ..Numbers::new(&folder, 200) };
            for result in numbers.parts(eager(processes)) {
                let text = result.unwrap_err().to_string();
                assert!(text.starts_with("process 0 (") && text.contains("stage write_file: "), "{text}");
                assert!(text.contains(why), "{text}");
            }
            assert_eq!(numbers.opened.into_inner().unwrap(), [0; 0]);
        }
    }
    assert_eq!(folder.names(), ["file", "folder"]);
}

#[test]
fn a_chain_without_a_file_cannot_resume() {
    for processes in [1, 2] {
        for result in run(resuming(processes), |cluster| cluster.from_parts(3, |part| [part]).collect().run())
        {
            let text = result.unwrap_err().to_string();
            assert_eq!(
                text,
                "this chain has no file to go on with: from_parts 3 in batches of 4 items or 65536 bytes | gather"
            );
        }
    }
    // Nor one that only some processes resume.
    let folder = Folder::new("some");
    let mut all = eager(2);
    all.push(all[1].clone().resume(true));
    all.remove(1);
    let all = all.into_iter().map(|it| it.patience(Duration::from_millis(300))).collect();
    let results = Numbers::new(&folder, 200).parts(all);
    let text = results[1].as_ref().unwrap_err().to_string();
    assert!(text.contains("another program, or the same with other arguments"), "{text}");
}

/// What a child runs: no test by itself.
#[test]
fn a_process_that_resumes_by_its_environment() {
    let Some(value) = std::env::var_os(thalweg_cluster::RESUME) else { return };
    let result = Cluster::from_env().unwrap().from_parts(3, |part| [part]).collect().run();
    assert_eq!(result.is_err(), value == "1", "{result:?}");
}

#[test]
fn the_environment_says_that_a_run_resumes() {
    for value in ["1", "0"] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "files::a_process_that_resumes_by_its_environment"]);
        let output = child.env(thalweg_cluster::RESUME, value).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn what_differs_from_the_run_before_is_named() {
    let folder = Folder::new("differs");
    fs::write(folder.at("input"), "12345").unwrap();
    let input = |it: Cluster| it.input(folder.at("input")).job("a");
    let failed = |all: Vec<Cluster>| {
        Numbers::new(&folder, 155).parts(all.into_iter().map(input).collect());
        fs::read(folder.at("out.partial")).unwrap()
    };
    let partial = failed(eager(2));
    let check = |change: &dyn Fn(Cluster) -> Cluster, says: &str| {
        let numbers = Numbers::new(&folder, 200);
        for result in numbers.parts(resuming(2).into_iter().map(input).map(change).collect()) {
            let error = result.unwrap_err();
            let text = error.to_string();
            assert!(text.contains("cannot resume: ") && text.contains("out.resume: "), "{text}");
            assert!(text.contains(says) && error.help().unwrap().contains("without `resume`"), "{text}");
        }
        assert_eq!(numbers.opened.into_inner().unwrap(), [0; 0]);
        assert_eq!(fs::read(folder.at("out.partial")).unwrap(), partial, "what is written stays");
    };
    check(&|it| it.job("b"), "the job or the types of the shared values have changed");
    check(&|it| it.batch(5), "the chain was `from_parts 20 in batches of 4 items or 65536 bytes");
    check(&|it| it.input("/dev/null"), "the inputs were ");
    let modified = fs::metadata(folder.at("input")).unwrap().modified().unwrap();
    let touch = |time| fs::File::options().append(true).open(folder.at("input")).unwrap().set_modified(time);
    touch(modified + Duration::from_nanos(1000)).unwrap();
    check(&|it| it, "input was modified since then");
    fs::write(folder.at("input"), "123456").unwrap();
    check(&|it| it, "input had 5 bytes and has 6");
    fs::write(folder.at("input"), "12345").unwrap();
    touch(modified).unwrap();
    // Another chain, by another end.
    for result in Numbers::new(&folder, 200).scan(resuming(2).into_iter().map(input).collect()) {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(" bytes | try_par_map | write_file` and is `from_iter in batches"), "{text}");
    }
    // Windows and epochs may be others.
    let other = |it: Cluster| input(it).window(3).epoch(1).log_every(Duration::from_secs(1));
    all_ok(Numbers::new(&folder, 200).parts(resuming(3).into_iter().map(other).collect()));
    assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(200));
}

#[test]
fn an_input_that_is_missing_is_named() {
    let folder = Folder::new("input");
    let all = eager(2).into_iter().map(|it| it.input(folder.at("none"))).collect();
    for result in Numbers::new(&folder, 200).parts(all) {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("looking at the input") && text.contains("none: No such file"), "{text}");
    }
}

#[test]
fn a_source_or_a_program_that_has_changed_is_noticed() {
    let folder = Folder::new("changed");
    Numbers::new(&folder, 155).iter(eager(1));
    for result in run(resuming(2), |cluster| {
        let chain = cluster.from_iter(0..20u64).try_par_map(Ok::<_, Error>);
        chain.write_file(folder.at("out"), |out, n| writeln!(out, "{n}")).run()
    }) {
        let text = result.unwrap_err().to_string();
        assert!(text.contains("the part has 6 batches, and the run resumes with batch"), "{text}");
    }
    let again = |change: u64, count: u64| {
        Numbers::new(&folder, 155).scan(eager(1));
        let results = run(resuming(2), |cluster| {
            let changed = |n| if n == 17 { change } else { n };
            let chain = cluster.from_iter(0..count).try_par_map(move |n| Ok::<_, Error>(changed(n)));
            let chain = chain.key_by(|n| n % 3).scan(|_| (), |_, n| n);
            chain.write_file(folder.at("out"), |out, n| writeln!(out, "{n}")).run()
        });
        results.into_iter().map(|it| it.unwrap_err().to_string()).collect::<Vec<_>>()
    };
    for text in again(18, 200) {
        assert!(text.contains("out.partial: byte 42 differs from what this run makes"), "{text}");
    }
    for text in again(17, 20) {
        assert!(text.contains("bytes less than the file has"), "{text}");
    }
}

/// A log with changed or missing bytes is refused, or costs work alone.
#[test]
fn damaged_logs_never_give_a_wrong_file() {
    let folder = Folder::new("damaged");
    Numbers::new(&folder, 155).parts(eager(1));
    let (partial, log) =
        (fs::read(folder.at("out.partial")).unwrap(), fs::read(folder.at("out.resume")).unwrap());
    let mut refused = 0;
    let mut state = 7;
    for case in 0..150 {
        let mut damaged = log.clone();
        let at = (crate::chains::next(&mut state) % log.len() as u64) as usize;
        match case % 3 {
            0 => damaged.truncate(at),
            1 => damaged[at] ^= 1 << (crate::chains::next(&mut state) % 8),
            _ => damaged.extend(&log[at..]),
        }
        fs::write(folder.at("out.resume"), damaged).unwrap();
        fs::write(folder.at("out.partial"), &partial).unwrap();
        match Numbers::new(&folder, 200).parts(resuming(1)).remove(0) {
            Ok(_) => {
                assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(200), "case {case}");
                assert_eq!(folder.names(), ["out"]);
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().ends_with("it is no log of this version, or damaged"), "{error}");
                assert_eq!(fs::read(folder.at("out.partial")).unwrap(), partial);
            }
        }
    }
    assert!((1..140).contains(&refused), "{refused} refused");
    // A part of the file that is shorter than the log says.
    fs::write(folder.at("out.resume"), &log).unwrap();
    fs::write(folder.at("out.partial"), &partial[..20]).unwrap();
    let error = Numbers::new(&folder, 200).parts(resuming(1)).remove(0).unwrap_err().to_string();
    assert!(error.contains("out.partial has 20 bytes, and the log says"), "{error}");
    // None: the file of this log was finished, or removed.
    fs::remove_file(folder.at("out.partial")).unwrap();
    let rest = Numbers::new(&folder, 200);
    all_ok(rest.parts(resuming(1)));
    assert_eq!(rest.opened.into_inner().unwrap().len(), 20);
}

#[test]
fn a_file_that_another_run_writes_is_refused() {
    let folder = Folder::new("busy");
    let (first, second) = (Numbers::new(&folder, 200), Numbers::new(&folder, 200));
    let error = Mutex::new(None);
    run(eager(1), |cluster| {
        let chain = cluster.from_parts(20, |part| [part as u64]);
        let encode = |out: &mut Vec<u8>, n| {
            if n == 3 {
                *error.lock().unwrap() = second.parts(resuming(1)).remove(0).err();
            }
            writeln!(out, "{n}")
        };
        chain.write_file(&first.path, encode).run()
    });
    let error = error.into_inner().unwrap().unwrap().to_string();
    assert!(error.ends_with("out.partial: another process writes it"), "{error}");
    assert_eq!(fs::read_to_string(folder.at("out")).unwrap(), lines(20));
}
