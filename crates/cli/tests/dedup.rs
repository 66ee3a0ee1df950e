//! The command `thalweg dedup` with files, folders and pipes, and its errors.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

use tempfile::{TempDir, tempdir};

use crate::child::Command;

fn thalweg(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    command.arg("dedup").args(arguments).current_dir(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    thalweg(folder, arguments).stdin(Stdio::null()).output().expect("starts")
}

fn good(folder: &Path, arguments: &[&str]) -> Output {
    let output = run(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    output
}

/// Checks that the command fails without a panic or a signal. Returns its message.
fn bad(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let message = stderr(&output);
    assert!(!output.status.success(), "{arguments:?} should fail");
    assert!(output.status.code().is_some() && !message.contains("panicked"), "{message}");
    message
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the command with `input` as standard input.
fn piped(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = thalweg(folder, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || pipe.write_all(input));
        child.output()
    })
}

fn content() -> Vec<u8> {
    (0..3_000_000u32).map(|i| (i % 1_000_000).wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn folder_with_archive() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("file"), content()).unwrap();
    good(folder.path(), &["pack", "file", "-o", "file.thd"]);
    folder
}

#[test]
fn a_file_goes_through_every_codec_and_thread_count() {
    let folder = folder_with_archive();
    for codec in ["zstd", "gzip", "none"] {
        let archives = ["1", "2", "5"].map(|threads| {
            good(folder.path(), &["pack", "file", "-fo", "a.thd", "--codec", codec, "--threads", threads]);
            good(folder.path(), &["verify", "a.thd", "--threads", threads]);
            good(folder.path(), &["unpack", "a.thd", "-fo", "copy", "--threads", threads, "--no-sync"]);
            assert!(fs::read(folder.path().join("copy")).unwrap() == content());
            fs::read(folder.path().join("a.thd")).unwrap()
        });
        assert!(archives[0] == archives[1] && archives[1] == archives[2]);
    }
    assert_eq!(names(folder.path()), ["a.thd", "copy", "file", "file.thd"]);
}

#[test]
fn pipes_work_on_both_sides() {
    let folder = folder_with_archive();
    let packed = piped(folder.path(), &["pack", "-", "-o", "-"], &content());
    assert!(packed.status.success(), "{}", stderr(&packed));
    assert!(packed.stdout == fs::read(folder.path().join("file.thd")).unwrap());
    let unpacked = piped(folder.path(), &["unpack", "-", "-o", "-"], &packed.stdout);
    assert!(unpacked.status.success() && unpacked.stdout == content());
    assert!(piped(folder.path(), &["verify", "-"], &packed.stdout).status.success());
    assert!(piped(folder.path(), &["stat", "-"], &packed.stdout).status.success());
    assert!(packed.stderr.is_empty() && unpacked.stderr.is_empty(), "no progress bar off a terminal");
}

#[test]
fn a_tree_round_trips_and_is_listed() {
    let folder = tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::write(tree.join("a/b/file"), content()).unwrap();
    fs::write(tree.join("a/again"), content()).unwrap();
    std::os::unix::fs::symlink("a/again", tree.join("link")).unwrap();
    fs::hard_link(tree.join("a/again"), tree.join("z")).unwrap();
    fs::hard_link(tree.join("link"), tree.join("zl")).unwrap();
    good(folder.path(), &["pack", "tree", "-o", "t.thd"]);
    let listed = good(folder.path(), &["stat", "--list", "t.thd"]).stdout;
    let listed = String::from_utf8(listed).unwrap();
    for line in [
        "3000000 a/again",
        "a/b/\n",
        "3000000 a/b/file",
        "link -> a/again",
        "z link to a/again",
        "zl link to link",
    ] {
        assert!(listed.contains(line), "{line:?} in {listed}");
    }
    good(folder.path(), &["unpack", "t.thd", "-o", "out"]);
    assert!(fs::read(folder.path().join("out/a/b/file")).unwrap() == content());
    assert!(bad(folder.path(), &["unpack", "t.thd", "-o", "-"]).contains("name a folder"));
    assert!(bad(folder.path(), &["unpack", "t.thd", "-o", "out"]).contains("already exists"));
}

#[test]
fn the_umask_limits_permissions_unless_all_are_to_be_restored() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("tree/inner")).unwrap();
    fs::write(at("tree/inner/file"), b"x").unwrap();
    for (name, mode) in [("tree", 0o777), ("tree/inner", 0o755), ("tree/inner/file", 0o664)] {
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    good(folder.path(), &["pack", "tree", "-o", "tree.thd"]);
    for (option, modes) in
        [("--no-same-permissions", [0o740, 0o740, 0o640]), ("--same-permissions", [0o777, 0o755, 0o664])]
    {
        let line = format!("umask 037; exec \"$THALWEG\" dedup unpack tree.thd -o out {option}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(folder.path()).env("THALWEG", env!("CARGO_BIN_EXE_thalweg"));
        assert!(shell.status().unwrap().success());
        let mode = |name| fs::metadata(at(name)).unwrap().mode() & 0o7777;
        assert_eq!(["out", "out/inner", "out/inner/file"].map(mode), modes, "{option}");
        assert_eq!(names(&at("out")), ["inner"]);
        fs::remove_dir_all(at("out")).unwrap();
    }
}

#[test]
fn standard_output_that_is_the_input_is_refused() {
    let folder = folder_with_archive();
    for (verb, name) in [("pack", "file"), ("unpack", "file.thd")] {
        let before = fs::read(folder.path().join(name)).unwrap();
        for from_stdin in [false, true] {
            let mut command = thalweg(folder.path(), &[verb, if from_stdin { "-" } else { name }, "-o", "-"]);
            let open = |append| fs::File::options().read(true).append(append).open(folder.path().join(name));
            let stdin = if from_stdin { Stdio::from(open(false).unwrap()) } else { Stdio::null() };
            let output = command.stdin(stdin).stdout(open(true).unwrap()).output().unwrap();
            let message = stderr(&output);
            assert!(output.status.code() == Some(1) && message.contains("are one file"), "{verb}: {message}");
            assert!(fs::read(folder.path().join(name)).unwrap() == before);
        }
    }
    // One device may be both.
    let device = || fs::File::options().read(true).write(true).open("/dev/null").unwrap();
    let mut command = thalweg(folder.path(), &["pack", "-", "-o", "-"]);
    assert!(command.stdin(device()).stdout(device()).status().unwrap().success());
}

/// As with gzip, the attributes of a single file are those of its archive.
#[test]
fn a_single_secret_file_stays_secret_and_keeps_its_time() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let secret = fs::File::create(at("secret")).unwrap();
    secret.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
    secret.set_modified(std::time::UNIX_EPOCH).unwrap();
    good(folder.path(), &["pack", "secret", "-o", "secret.thd"]);
    good(folder.path(), &["unpack", "secret.thd", "-o", "back"]);
    let found = |name: &str| fs::metadata(at(name)).map(|meta| (meta.mode() & 0o7777, meta.mtime())).unwrap();
    assert_eq!((found("secret.thd"), found("back")), ((0o600, 0), (0o600, 0)));
    // Not those of standard input, which need not be those of any file.
    let mut command = thalweg(folder.path(), &["pack", "-", "-o", "new.thd"]);
    let packed = command.stdin(fs::File::open(at("secret")).unwrap()).status().unwrap();
    fs::write(at("any"), b"").unwrap();
    assert!(packed.success() && found("new.thd").0 == found("any").0 && found("new.thd").1 > 0);
}

#[test]
fn an_archive_written_into_its_own_tree_is_skipped() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("file"), content()).unwrap();
    let output = good(folder.path(), &["pack", ".", "-o", "all.thd"]);
    assert_eq!(stderr(&output), "", "no name that the user has not seen");
    // The old archive too, and what a killed run has left.
    let hidden = thalweg_files::OutFile::create(&folder.path().join("x"), false).unwrap();
    let name = names(folder.path()).remove(0);
    drop(hidden);
    fs::write(folder.path().join(&name), b"half").unwrap();
    let output = good(folder.path(), &["pack", ".", "-fo", "all.thd"]);
    assert!(stderr(&output).contains("skipped ./all.thd: it is the archive"), "{}", stderr(&output));
    assert!(stderr(&output).contains(&format!("/{name}, which a killed run")), "{}", stderr(&output));
    good(folder.path(), &["unpack", "all.thd", "-o", "out"]);
    assert_eq!(names(&folder.path().join("out")), ["file"]);
    assert_eq!(names(folder.path()), ["all.thd", "file", "out"]);
}

#[test]
fn an_output_that_is_the_input_is_refused_even_with_force() {
    let folder = folder_with_archive();
    fs::hard_link(folder.path().join("file"), folder.path().join("same")).unwrap();
    std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
    let archive = fs::read(folder.path().join("file.thd")).unwrap();
    for output in ["file", "./file", "same", "link"] {
        let why = bad(folder.path(), &["pack", "file", "-fo", output]);
        assert!(why.contains("which this command also reads") && why.contains("help: "), "{why}");
    }
    assert!(
        bad(folder.path(), &["unpack", "file.thd", "-fo", "file.thd"])
            .contains("which this command also reads")
    );
    assert!(fs::read(folder.path().join("file")).unwrap() == content());
    assert!(fs::read(folder.path().join("file.thd")).unwrap() == archive);
}

#[test]
fn an_output_that_names_a_folder_is_refused_at_the_start() {
    let folder = folder_with_archive();
    for arguments in [["pack", "file", "-o", "new/"], ["unpack", "file.thd", "-o", "new/"]] {
        let why = bad(folder.path(), &arguments);
        assert!(why.contains("new/ names a folder, and the output is a file\nhelp: "), "{why}");
    }
    assert_eq!(names(folder.path()), ["file", "file.thd"]);
}

#[test]
fn a_replaced_archive_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with_archive();
    let archive = folder.path().join("file.thd");
    fs::set_permissions(&archive, fs::Permissions::from_mode(0o604)).unwrap();
    good(folder.path(), &["pack", "file", "-fo", "file.thd"]);
    assert_eq!(fs::metadata(&archive).unwrap().permissions().mode() & 0o7777, 0o604);
}

/// The limit of file sizes is a signal that ends a process which does nothing about it.
#[test]
fn the_limit_of_file_sizes_is_an_error_and_leaves_nothing() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("file"), content()).unwrap();
    for (arguments, left) in [
        ("pack file -o out --codec none", &["file"][..]),
        ("unpack whole.thd -o out", &["file", "whole.thd"]),
    ] {
        let limited = format!("ulimit -f 64; exec {} dedup {arguments}", env!("CARGO_BIN_EXE_thalweg"));
        let output = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(stderr(&output).contains("File too large"), "{}", stderr(&output));
        assert_eq!(names(folder.path()), left);
        good(folder.path(), &["pack", "file", "-fo", "whole.thd"]);
    }
}

/// A small archive of very much content: references to one chunk.
#[test]
fn a_bomb_of_references_ends_within_the_limit() {
    let folder = tempdir().unwrap();
    fs::File::create(folder.path().join("zeros")).unwrap().set_len(256 << 20).unwrap();
    good(folder.path(), &["pack", "zeros", "-o", "bomb.thd"]);
    assert!(fs::metadata(folder.path().join("bomb.thd")).unwrap().len() < 1 << 20);
    for arguments in [
        &["verify", "bomb.thd", "--limit", "255MiB"][..],
        &["unpack", "bomb.thd", "-o", "out", "--limit", "1MiB"],
    ] {
        let why = bad(folder.path(), arguments);
        assert!(why.contains("exceeds the limit") && why.contains("--limit"), "{why}");
    }
    // What has been written before the limit is at most the limit.
    let output = run(folder.path(), &["unpack", "bomb.thd", "-o", "-", "--limit", "1MiB"]);
    assert!(!output.status.success() && output.stdout.len() <= 1 << 20, "{}", output.stdout.len());
    good(folder.path(), &["verify", "bomb.thd", "--limit", "256MiB"]);
    assert_eq!(names(folder.path()), ["bomb.thd", "zeros"]);
}

/// The output is that of one of them, whole, and the other has failed; with `--force` both may succeed.
#[test]
fn two_processes_that_write_one_output_do_no_harm() {
    let folder = folder_with_archive();
    let at = |name: &str| folder.path().join(name);
    for name in ["tree/a/b", "empty"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    for name in ["tree/a/first", "tree/a/b/second", "tree/third"] {
        fs::write(at(name), content()).unwrap();
    }
    good(folder.path(), &["pack", "tree", "-o", "tree.thd"]);
    let files = |root: &str| {
        let found = good(folder.path(), &["pack", root, "-o", "-"]);
        (names(&at(root)), found.stdout)
    };
    let outputs = ["pack file -o one.thd", "pack file -fo two.thd", "unpack file.thd -o copy"];
    let trees = ["unpack tree.thd -o new", "unpack tree.thd -fo empty"];
    for command in outputs.into_iter().chain(trees) {
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = arguments[arguments.len() - 1];
        let children = [(); 3]
            .map(|()| thalweg(folder.path(), &arguments).stderr(Stdio::piped()).spawn().expect("starts"));
        let ended = children.map(|child| child.output());
        let succeeded = ended.iter().filter(|output| output.status.success()).count();
        assert!(succeeded >= 1 && (succeeded == 1 || output == "two.thd"), "{ended:?}");
        for failed in ended.iter().filter(|output| !output.status.success()) {
            assert!(stderr(failed).contains("already exists"), "{failed:?}");
        }
        if at(output).is_dir() {
            assert!(files(output) == files("tree"), "{output}");
        } else {
            let good = fs::read(at(if output == "copy" { "file" } else { "file.thd" })).unwrap();
            assert!(fs::read(at(output)).unwrap() == good, "{output}");
        }
    }
    let expected = ["copy", "empty", "file", "file.thd", "new", "one.thd", "tree", "tree.thd", "two.thd"];
    assert_eq!(names(folder.path()), expected);
}

#[test]
fn nothing_is_overwritten_without_force() {
    let folder = folder_with_archive();
    fs::write(folder.path().join("mine"), b"mine").unwrap();
    assert!(bad(folder.path(), &["pack", "file", "-o", "mine"]).contains("--force"));
    assert!(bad(folder.path(), &["unpack", "file.thd", "-o", "mine"]).contains("--force"));
    assert_eq!(fs::read(folder.path().join("mine")).unwrap(), b"mine");
    good(folder.path(), &["unpack", "file.thd", "-o", "mine", "--force"]);
    assert!(fs::read(folder.path().join("mine")).unwrap() == content());
}

/// Errors are reported before a byte is written, with help that applies, and not twice.
#[test]
fn invalid_requests_are_refused_first_with_help() {
    let folder = folder_with_archive();
    for wrong in [["--policy", "fifo"], ["--threads", "5000"]] {
        let refused = run(folder.path(), &["pack", "file", "-o", "-", wrong[0], wrong[1]]);
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
    }
    fs::create_dir_all(folder.path().join("full/inside")).unwrap();
    for force in [&[][..], &["--force"]] {
        let why = bad(folder.path(), &[&["unpack", "file.thd", "-o", "full"], force].concat());
        assert!(!why.contains("--force") && why.contains("move it away"), "{why}");
    }
    let why = bad(folder.path(), &["pack", "file", "-o", "no/such/folder"]);
    assert_eq!(why.matches("there is no folder `no/such`").count(), 1, "{why}");
}

#[test]
fn a_damaged_archive_is_an_error_with_an_offset_and_leaves_nothing() {
    let folder = folder_with_archive();
    let archive = fs::read(folder.path().join("file.thd")).unwrap();
    let mut corrupted = archive.clone();
    corrupted[archive.len() / 2] ^= 1;
    fs::write(folder.path().join("mine"), b"mine").unwrap();
    for (bytes, why) in [
        (&archive[..archive.len() - 9], "truncated"),
        (&corrupted, "corrupted"),
        (b"something else", "not a thalweg"),
    ] {
        fs::write(folder.path().join("bad.thd"), bytes).unwrap();
        for arguments in [
            &["unpack", "bad.thd", "-o", "out"][..],
            &["unpack", "bad.thd", "-fo", "mine"],
            &["verify", "bad.thd"],
            &["stat", "bad.thd"],
        ] {
            let message = bad(folder.path(), arguments);
            assert!(message.contains(why) && message.contains("byte offset"), "{message}");
        }
    }
    assert_eq!(names(folder.path()), ["bad.thd", "file", "file.thd", "mine"]);
    assert_eq!(fs::read(folder.path().join("mine")).unwrap(), b"mine");
}

#[test]
fn every_verb_can_print_a_report() {
    let folder = folder_with_archive();
    for (arguments, stage) in [
        (&["pack", "file", "-o", "a"][..], "compress"),
        (&["unpack", "file.thd", "-o", "b"], "assemble"),
        (&["verify", "file.thd"], "decode"),
    ] {
        let output = good(folder.path(), &[arguments, &["--report", "--threads", "2"]].concat());
        let report = stderr(&output);
        assert!(report.contains("content   2.86 MiB") && report.contains(stage), "{report}");
    }
}

#[test]
fn a_full_disk_is_an_error() {
    let folder = folder_with_archive();
    if !Path::new("/dev/full").exists() {
        return;
    }
    for arguments in [["pack", "file", "-o", "/dev/full"], ["unpack", "file.thd", "-o", "/dev/full"]] {
        let message = bad(folder.path(), &arguments);
        assert!(message.contains("No space left") && message.contains("byte offset 0"), "{message}");
    }
}

#[test]
fn a_closed_pipe_is_an_error() {
    let folder = folder_with_archive();
    for arguments in [["pack", "file", "-o", "-"], ["unpack", "file.thd", "-o", "-"]] {
        let mut child = thalweg(folder.path(), &arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        drop(child.stdout.take());
        let output = child.output();
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("Broken pipe") && !message.contains("panicked"), "{message}");
    }
}

/// Of a single file and of a tree, by the space that they take.
#[cfg(target_os = "linux")]
#[test]
fn zeros_become_holes_on_request() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    let image = fs::File::create(folder.path().join("tree/image")).unwrap();
    image.set_len(8 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&image, &content(), 2_000_001).unwrap();
    for (input, archive) in [("tree", "tree.thd"), ("tree/image", "image.thd")] {
        good(folder.path(), &["pack", input, "-o", archive]);
        let output = format!("{archive}-unpacked");
        good(folder.path(), &["unpack", archive, "-o", &output, "--no-sync", "--sparse"]);
        let output = folder.path().join(output);
        let image = if output.is_dir() { output.join("image") } else { output };
        assert!(fs::read(&image).unwrap() == fs::read(folder.path().join("tree/image")).unwrap());
        assert!(fs::metadata(image).unwrap().blocks() * 512 < 4 << 20, "{archive}");
    }
}

#[test]
fn a_large_window_is_not_allocated_at_once() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("file"), b"x").unwrap();
    let packed = good(folder.path(), &["pack", "file", "-o", "a.thd", "--window", "3GiB"]);
    assert!(stderr(&packed).contains("--window-limit 3GiB"), "{}", stderr(&packed));
    let refused = bad(folder.path(), &["verify", "a.thd"]);
    assert!(refused.contains("--window-limit"), "{refused}");
    let limited = format!(
        "ulimit -v 1000000; {} dedup verify a.thd --window-limit 3GiB",
        env!("CARGO_BIN_EXE_thalweg")
    );
    let status = Command::new("sh").args(["-c", &limited]).current_dir(folder.path()).status().unwrap();
    assert!(status.success());
}

#[test]
fn errors_name_the_invalid_argument() {
    let folder = folder_with_archive();
    for (arguments, why) in [
        (&["pack", "nothing", "-o", "a"][..], "nothing"),
        (&["pack", "file", "-o", "no/such/folder/a"], "no/such/folder"),
        (&["pack", "file", "-o", "a", "--codec", "lzma"], "zstd, gzip or none"),
        (&["pack", "file", "-o", "a", "--level", "99"], "-100 to 22"),
        (&["pack", "file", "-o", "a", "--index-bytes", "many"], "64MiB"),
        (&["pack", "file", "-o", "a", "--window", "4GiB"], "window 4294967296"),
        (&["pack", "file", "-o", "a", "--threads", "0"], "threads 0"),
        (&["pack", "file", "-o", "a", "--policy", "luck"], "luck"),
        (&["unpack", ".", "-o", "a"], "is a folder"),
        (&["unpack", "file.thd", "-o", "a", "--threads", "0"], "threads 0"),
        (&["verify", "file.thd", "--policy", "luck"], "luck"),
        (&["verify", "nothing"], "nothing"),
    ] {
        let message = bad(folder.path(), arguments);
        assert!(message.contains(why), "{message}");
    }
    assert_eq!(names(folder.path()), ["file", "file.thd"]);
}

/// As another user, since the superuser can read all.
#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_packed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let root = fs::metadata(folder.path()).unwrap().uid() == 0;
    let packed = |arguments: &[&str]| {
        // The program, which may lie where the other user cannot read it.
        let program = folder.path().join("thalweg");
        if !program.exists() {
            fs::hard_link(env!("CARGO_BIN_EXE_thalweg"), &program)
                .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_thalweg"), &program).map(drop))
                .unwrap();
        }
        let mut command = Command::new(program);
        command.arg("dedup").args(arguments).current_dir(folder.path());
        if root {
            command.uid(65_534);
        }
        command.output().expect("starts")
    };
    let tree = folder.path().join("tree");
    fs::create_dir_all(tree.join("closed")).unwrap();
    fs::write(tree.join("good"), b"good").unwrap();
    fs::write(tree.join("secret\n"), b"secret").unwrap();
    fs::set_permissions(tree.join("secret\n"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(tree.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let output = packed(&["pack", "tree", "-o", "a.thd"]);
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("warning: reading tree/closed: Permission denied"), "{message}");
    assert!(message.contains("warning: reading tree/secret\\n: Permission denied"), "{message}");
    assert!(message.contains("error: 2 of the entries"), "{message}");
    good(folder.path(), &["unpack", "a.thd", "-o", "out"]);
    assert_eq!(names(&folder.path().join("out")), ["good"]);

    let output = packed(&["pack", "tree", "-o", "b.thd", "--strict"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(!names(folder.path()).iter().any(|name| name.contains("b.thd") || name.starts_with('.')));
    fs::set_permissions(tree.join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

/// Whatever operation is the first to fail.
#[test]
fn a_run_that_lacks_descriptors_leaves_no_hidden_folder() {
    let folder = tempdir().unwrap();
    let deep: std::path::PathBuf = std::iter::repeat_n("d", 100).collect();
    fs::create_dir_all(folder.path().join("tree").join(&deep)).unwrap();
    fs::write(folder.path().join("tree").join(&deep).join("file"), b"content").unwrap();
    good(folder.path(), &["pack", "tree", "-o", "a.thd"]);
    let mut unpacked = 0;
    for limit in 8..40 {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n $0 && exec \"$@\"", &limit.to_string()]);
        command.args([env!("CARGO_BIN_EXE_thalweg"), "dedup", "unpack", "a.thd", "-o", "out", "--no-sync"]);
        let output = command.current_dir(folder.path()).stdin(Stdio::null()).output().unwrap();
        let message = stderr(&output);
        assert!(output.status.code().is_some() && !message.contains("panicked"), "{limit}: {message}");
        if output.status.success() {
            unpacked += 1;
            fs::remove_dir_all(folder.path().join("out")).unwrap();
        }
        assert_eq!(names(folder.path()), ["a.thd", "tree"], "{limit}: {message}");
    }
    assert!(unpacked > 0, "with 40 descriptors the folders of a deep tree are not all open");
}
