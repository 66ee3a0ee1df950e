//! The cache of compiled code and the C compiler: what other users may have written is not run, and what a run starts
//! ends with it.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

use crate::child::{Command, start};

const COUNT: &str = "void->void pipeline Main { add Count(); add Show(); }
void->int filter Count() { int n; work push 1 { push(n++); } }
int->void filter Show() { work pop 1 { println(pop()); } }";

/// A library whose loading leaves a file, so a test sees that it was loaded.
const PLANTED: &str = "#include <fcntl.h>
__attribute__((constructor)) static void run(void) { open(\"loaded\", O_CREAT | O_WRONLY, 0600); }";

fn has_compiler() -> bool {
    let version = Command::new("cc").arg("--version").output();
    let has = version.is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("no C compiler: nothing is tested");
    }
    has
}

fn folder_with_program() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("program.str"), COUNT).unwrap();
    folder
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.args(["run", "program.str", "-i", "1"]).current_dir(folder).env_remove("CC");
    command.env("XDG_CACHE_HOME", folder.join("cache")).stdin(Stdio::null());
    command
}

/// Runs the program. Returns the messages of the run.
fn run(command: &mut Command) -> String {
    let Output { status, stdout, stderr } =
        start(command.stdout(Stdio::piped()).stderr(Stdio::piped())).output();
    let messages = String::from_utf8(stderr).unwrap();
    assert!(status.success() && stdout == b"0\n", "{status}: {messages}");
    messages
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// The files of the cache with an ending.
fn kept(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder.join("cache/thalweg")).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|is| is == ending)).collect()
}

/// Replaces the program's library in the cache by the planted one, under a hash that fits.
fn plant(folder: &Path) -> PathBuf {
    let at = |name: &str| folder.join(name);
    fs::write(at("planted.c"), PLANTED).unwrap();
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([at("planted.so"), at("planted.c")])
        .status();
    assert!(compiled.unwrap().success());
    let mut bytes = fs::read(at("planted.so")).unwrap();
    bytes.extend(blake3::hash(&bytes).as_bytes());
    let [library] = &kept(folder, "so")[..] else { panic!("one library") };
    fs::remove_file(library).unwrap();
    fs::write(library, bytes).unwrap();
    set_mode(library, 0o600);
    library.clone()
}

#[test]
fn files_of_the_cache_are_private_whatever_the_umask() {
    if !has_compiler() {
        return;
    }
    for umask in ["000", "022", "077"] {
        let folder = folder_with_program();
        let mut sh = Command::new("sh");
        sh.args(["-c", "umask $0 && exec \"$@\"", umask, env!("CARGO_BIN_EXE_thalweg")]);
        sh.args(["run", "program.str", "-i", "1"]).current_dir(folder.path());
        sh.env("XDG_CACHE_HOME", folder.path().join("cache")).stdin(Stdio::null());
        // Twice, since a file that exists gives its permissions to an output that replaces it.
        for _ in 0..2 {
            assert_eq!(run(&mut sh), "", "{umask}");
            let files = [kept(folder.path(), "so"), kept(folder.path(), "key")].concat();
            assert_eq!(files.len(), 2);
            for file in files {
                assert_eq!(mode(&file), 0o600, "{umask}: {}", file.display());
                if file.extension().unwrap() == "key" {
                    fs::write(&file, b"damaged").unwrap();
                    set_mode(&file, 0o644);
                }
            }
            for made in ["cache", "cache/thalweg"] {
                assert_eq!(mode(&folder.path().join(made)) & 0o077, 0, "{umask}");
            }
        }
    }
}

#[test]
fn what_others_may_have_written_is_not_loaded() {
    if !has_compiler() {
        return;
    }
    let folder = folder_with_program();
    let at = |name: &str| folder.path().join(name);
    let cache = at("cache/thalweg");
    let run = || run(&mut command(folder.path()));
    assert_eq!(run(), "");
    // The planted library would be loaded if it were trusted, so the test can see whether it is.
    plant(folder.path());
    run();
    assert!(at("loaded").exists(), "the planted library is not one that loads");
    let is_superuser = cache.metadata().unwrap().uid() == 0;
    let wide = "other users may write it";
    let foreign = "belongs to another user";
    type Change<'a> = &'a dyn Fn(&Path);
    let cases: [(&str, Change, Change); 6] = [
        (wide, &|_| set_mode(&cache, 0o777), &|_| set_mode(&cache, 0o700)),
        (wide, &|_| set_mode(&cache, 0o1770), &|_| set_mode(&cache, 0o700)),
        (wide, &|library| set_mode(library, 0o666), &|_| ()),
        (wide, &|library| set_mode(library, 0o620), &|_| ()),
        (foreign, &|_| chown(&cache, Some(1), None).unwrap(), &|_| chown(&cache, Some(0), None).unwrap()),
        (foreign, &|library| chown(library, Some(1), None).unwrap(), &|_| ()),
    ];
    for (number, (why, break_trust, mend)) in cases.into_iter().enumerate() {
        if why == foreign && !is_superuser {
            continue;
        }
        let library = plant(folder.path());
        _ = fs::remove_file(at("loaded"));
        break_trust(&library);
        let messages = run();
        assert!(!at("loaded").exists(), "case {number} was loaded");
        assert!(messages.starts_with("note: ") && messages.contains(why), "case {number}: {messages}");
        assert_eq!(messages.lines().count(), 1, "case {number}: {messages}");
        mend(&library);
        let of_folder = [0, 1, 4].contains(&number);
        if !of_folder {
            // It was replaced by a private one.
            assert_eq!((mode(&library), run()), (0o600, String::new()), "case {number}");
            assert!(!at("loaded").exists());
        }
    }
}

/// Neither waits for the other end of a pipe, nor writes to it.
#[test]
fn a_pipe_in_the_cache_is_replaced() {
    if !has_compiler() {
        return;
    }
    let folder = folder_with_program();
    run(&mut command(folder.path()));
    for ending in ["so", "key"] {
        let [path] = &kept(folder.path(), ending)[..] else { panic!("one file") };
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
        assert_eq!(run(&mut command(folder.path())), "");
        assert!(!path.symlink_metadata().unwrap().file_type().is_fifo());
    }
}

#[test]
fn a_relative_cache_is_ignored_and_a_missing_home_is_not_created() {
    if !has_compiler() {
        return;
    }
    let folder = folder_with_program();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("home")).unwrap();
    for relative in ["rel", "./rel", ""] {
        run(command(folder.path()).env("XDG_CACHE_HOME", relative).env("HOME", at("home")));
        assert!(!at("rel").exists() && at("home/.cache/thalweg").is_dir(), "{relative}");
        fs::remove_dir_all(at("home/.cache")).unwrap();
    }
    for home in [at("missing"), "missing".into(), at("home/missing/too")] {
        assert_eq!(run(command(folder.path()).env_remove("XDG_CACHE_HOME").env("HOME", home)), "");
    }
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["home", "program.str"]);
    assert_eq!(fs::read_dir(at("home")).unwrap().count(), 0);
}

#[test]
fn a_temporary_folder_is_no_option_of_the_compiler() {
    if !has_compiler() {
        return;
    }
    let folder = folder_with_program();
    for name in ["-v", "--help", "@x", "plain"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let mut command = command(folder.path());
        command
            .args(["--engine", "native"])
            .env("TMPDIR", name)
            .env("XDG_CACHE_HOME", folder.path().join(name));
        assert_eq!(run(&mut command), "", "{name}");
    }
}

/// A compiler is several processes: the command that was started, and what that has started.
#[test]
fn the_compiler_ends_when_the_command_is_killed() {
    let folder = folder_with_program();
    let at = |name: &str| folder.path().join(name);
    let script = "#!/bin/sh
case $1 in --version) echo 1; exit ;; esac
sleep 1000 & echo $$ $! > pids.new; mv pids.new pids; wait";
    fs::write(at("cc"), script).unwrap();
    set_mode(&at("cc"), 0o755);
    let mut child = start(command(folder.path()).env("CC", at("cc")).env("TMPDIR", folder.path()));
    let started = Instant::now();
    let soon = || assert!(started.elapsed() < Duration::from_secs(60), "too late");
    while !at("pids").exists() {
        soon();
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let pids = fs::read_to_string(at("pids")).unwrap();
    for pid in pids.split_whitespace() {
        while crate::kills::is_alive(pid) {
            soon();
            sleep(Duration::from_millis(5));
        }
    }
}
