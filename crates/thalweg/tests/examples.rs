//! The examples do what their headers say, on small inputs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs an example as `cargo test` has built it; builds it where `cargo test --test` has not.
fn run(example: &str, arguments: &[&Path]) -> Output {
    let test = env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).expect("tests lie in PROFILE/deps");
    let program = profile.join("examples").join(example).with_extension(env::consts::EXE_EXTENSION);
    if !program.exists() {
        let release: &[&str] = if profile.ends_with("release") { &["--release"] } else { &[] };
        let target = profile.parent().expect("a profile lies in the target folder");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--package", "thalweg", "--example", example, "--target-dir"]).arg(target);
        assert!(build.args(release).status().unwrap().success(), "{example} cannot be built");
    }
    Command::new(program).args(arguments).output().unwrap()
}

/// What an example prints.
fn printed(example: &str, arguments: &[&Path]) -> String {
    let output = run(example, arguments);
    assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An empty folder of one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::canonicalize(folder).unwrap()
}

/// A picture of one brightness.
fn picture(width: usize, height: usize, brightness: u8) -> Vec<u8> {
    [format!("P6 {width} {height} 255\n").into_bytes(), vec![brightness; 3 * width * height]].concat()
}

#[test]
fn thumbnails_are_small() {
    let folder = folder("thumbnails");
    let (large, small) = (folder.join("large"), folder.join("small"));
    fs::create_dir(&large).unwrap();
    for i in 0..9 {
        fs::write(large.join(format!("{i}.ppm")), picture(200 + i, 100, 7)).unwrap();
    }
    let lines = printed("thumbnails", &[&large, &small]);
    assert!(lines.starts_with("0.ppm: 200x100 to 50x25\n1.ppm: 201x100"), "{lines}");
    assert_eq!(fs::read(small.join("0.ppm")).unwrap(), picture(50, 25, 7));

    fs::write(large.join("text.ppm"), "P3 1 1 255 0 0 0").unwrap();
    let error = run("thumbnails", &[&large, &small]);
    assert!(!error.status.success() && String::from_utf8_lossy(&error.stderr).contains("text.ppm"));
}

#[test]
fn links_are_followed_in_one_order() {
    let folder = folder("links");
    let page = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    page(
        "a.md",
        "[b](b.md), [c](c.md#part), [web](https://example.org), [gone](gone.md)\n```\nx[0](y)\n```\n",
    );
    page("b.md", "[d][label] [itself](b.md) [a](a.md)\n\n[label]: d.md#part\n");
    page("c.md", "[data](data.csv) [d](d.md)");
    page("d.md", "no links");
    page("data.csv", "1,2");
    let lines = printed("links", &[&folder.join("a.md")]).replace(&format!("{}/", folder.display()), "");
    assert_eq!(
        lines,
        "a.md: 3 links\n    missing: gone.md\nb.md: 3 links\nc.md: 2 links\nd.md: 0 links\n\
         4 pages, 1 missing links\n"
    );
}

/// From the README on, every link to a file of the repository.
#[test]
fn links_of_the_repository_resolve() {
    let lines = printed("links", &[]);
    assert!(lines.lines().count() > 15, "{lines}");
    assert!(lines.ends_with(" 0 missing links\n"), "{lines}");
}

#[test]
fn video_finds_the_cuts() {
    let file = folder("video").join("clip");
    let scenes = [(10, 20), (4, 120), (7, 30)];
    let pictures = scenes.iter().flat_map(|(count, brightness)| vec![picture(48, 27, *brightness); *count]);
    let clip = pictures.collect::<Vec<_>>().concat();
    fs::write(&file, &clip[..clip.len() - 5]).unwrap(); // the last picture is cut short, and left over
    assert_eq!(
        printed("video", &[&file]),
        "cut at picture 10: brightness changes by 100\ncut at picture 14: brightness changes by 90\n\
         20 pictures, 2 cuts\n"
    );
    fs::write(&file, "no picture").unwrap();
    let error = run("video", &[&file]);
    assert!(!error.status.success() && String::from_utf8_lossy(&error.stderr).contains("PPM"));
}

#[test]
fn a_page_is_written() {
    let page = folder("page").join("page.html");
    let advice = printed("page", &[&page]);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"));
    assert!(!advice.trim().is_empty() && text.contains("loudness") && text.contains("worker 0"), "{advice}");
}

#[test]
fn tasks_are_near_the_memory_of_their_blocks() {
    let numbers = 4096u64 << 8;
    let sum = format!("sum: {}\n", numbers * (numbers - 1) / 2);
    // 511 nodes, of which 510 are predecessors.
    let one = folder("placed").join("one.machine");
    fs::write(&one, "thalweg-machine 1\ndomains 1\ncores 80\n").unwrap();
    assert_eq!(printed("placed", &[&one]), format!("{sum}remote accesses: 0 of 1021\n"));
    let many = one.with_file_name("many.machine");
    fs::write(&many, "thalweg-machine 1\ndomains 8\ncores 10\n").unwrap();
    let counted = printed("placed", &[&many]);
    let remote = counted.strip_prefix(&sum).and_then(|rest| rest.strip_prefix("remote accesses: "));
    let remote =
        remote.and_then(|rest| rest.strip_suffix(" of 1021\n")).unwrap_or_else(|| panic!("{counted}"));
    assert!(remote.parse::<u64>().unwrap() <= 1021);
    fs::write(&many, "thalweg-machine 1\ndomains 8\ncores ten\n").unwrap();
    let wrong = run("placed", &[&many]);
    let message = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(!wrong.status.success() && message.contains("many.machine: machine, line 3"), "{message}");
}

#[test]
fn all_clients_of_the_service_are_answered() {
    let lines = printed("service", &[]);
    let answers: Vec<&str> = lines.lines().filter_map(|line| Some(line.split_once(" in ")?.0)).collect();
    let all = "12000 answers of 600 clients";
    assert_eq!(answers, [format!("one graph: {all}"), format!("spawn_blocking: {all}")], "{lines}");
}
