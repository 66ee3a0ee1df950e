//! Checks the architecture: dependencies between crates, and where unsafe code and printing are allowed.
//!
//! [`MAY_USE`] lists every crate with the crates it may depend on. A new crate needs a row in this table.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every crate of the workspace, and the crates of the workspace that it may depend on, also to build or to test.
/// Each row uses only rows above it, so there are no cycles.
const MAY_USE: &[(&str, &[&str])] = &[
    ("thalweg-graph", &[]),
    ("thalweg-machine", &["thalweg-graph"]),
    ("thalweg-queueing", &[]),
    ("thalweg-files", &["thalweg-graph"]),
    ("thalweg-inputs", &["thalweg-graph"]),
    ("thalweg-analysis", &["thalweg-graph"]),
    ("thalweg-plan", &["thalweg-machine", "thalweg-graph", "thalweg-analysis"]),
    ("thalweg-policy", &["thalweg-graph", "thalweg-plan"]),
    (
        "thalweg-sim",
        &[
            "thalweg-machine",
            "thalweg-graph",
            "thalweg-analysis",
            "thalweg-plan",
            "thalweg-policy",
            "thalweg-queueing",
        ],
    ),
    ("thalweg-trace", &["thalweg-graph", "thalweg-plan"]),
    (
        "thalweg-report",
        &[
            "thalweg-graph",
            "thalweg-analysis",
            "thalweg-files",
            "thalweg-plan",
            "thalweg-queueing",
            "thalweg-trace",
        ],
    ),
    (
        "thalweg-runtime",
        &[
            "thalweg-machine",
            "thalweg-graph",
            "thalweg-analysis",
            "thalweg-plan",
            "thalweg-policy",
            "thalweg-trace",
        ],
    ),
    ("thalweg-tasks", &["thalweg-machine", "thalweg-policy", "thalweg-runtime"]),
    ("thalweg-lang", &["thalweg-graph", "thalweg-analysis", "thalweg-files"]),
    ("thalweg-lang-testgen", &["thalweg-lang"]),
    ("thalweg-str", &["thalweg-lang"]),
    (
        "thalweg",
        &[
            "thalweg-machine",
            "thalweg-graph",
            "thalweg-analysis",
            "thalweg-plan",
            "thalweg-policy",
            "thalweg-trace",
            "thalweg-report",
            "thalweg-runtime",
            "thalweg-tasks",
            "thalweg-sim",
        ],
    ),
    ("thalweg-compile-fail", &["thalweg"]),
    ("thalweg-logs", &["thalweg"]),
    ("thalweg-cluster", &["thalweg", "thalweg-files"]),
    ("thalweg-align", &["thalweg", "thalweg-cluster", "thalweg-inputs"]),
    ("thalweg-dedup", &["thalweg", "thalweg-files"]),
    ("thalweg-kpn", &["thalweg"]),
    ("thalweg-wordcount", &["thalweg", "thalweg-cluster"]),
    ("thalweg-pagerank", &["thalweg", "thalweg-inputs"]),
    ("thalweg-stencils", &["thalweg"]),
    ("thalweg-danbi", &["thalweg"]),
    ("thalweg-pipelines", &["thalweg", "thalweg-sim"]),
    (
        "thalweg-codegen",
        &[
            "thalweg",
            "thalweg-analysis",
            "thalweg-files",
            "thalweg-danbi",
            "thalweg-lang",
            "thalweg-lang-testgen",
            "thalweg-sim",
            "thalweg-str",
        ],
    ),
    (
        "thalweg-cli",
        &[
            "thalweg",
            "thalweg-cluster",
            "thalweg-dedup",
            "thalweg-kpn",
            "thalweg-wordcount",
            "thalweg-pagerank",
            "thalweg-stencils",
            "thalweg-danbi",
            "thalweg-pipelines",
            "thalweg-align",
            "thalweg-lang",
            "thalweg-codegen",
            "thalweg-files",
            "thalweg-inputs",
        ],
    ),
    (
        "thalweg-bench",
        &[
            "thalweg-graph",
            "thalweg-analysis",
            "thalweg-plan",
            "thalweg-policy",
            "thalweg-queueing",
            "thalweg-sim",
            "thalweg-trace",
            "thalweg-runtime",
            "thalweg",
            "thalweg-align",
            "thalweg-cluster",
            "thalweg-danbi",
            "thalweg-pipelines",
            "thalweg-dedup",
            "thalweg-kpn",
            "thalweg-wordcount",
            "thalweg-pagerank",
            "thalweg-lang",
            "thalweg-str",
            "thalweg-codegen",
        ],
    ),
];

/// The crates for tests: only `dev-dependencies` may name them, and the bench, which records what they count.
const FOR_TESTS: &[&str] = &["thalweg-sim", "thalweg-lang-testgen"];

/// The crates that no program must get with the engine unless it asks for [`MAY_USE_THEM`]: their implementations of
/// `PartialEq` for the standard types keep the compiler from inferring types there.
const NOT_IN_THE_ENGINE: &[&str] = &["serde_json"];

/// The crate that uses them, which is an optional dependency of the facade.
const MAY_USE_THEM: &str = "thalweg-report";

/// The folders in which unsafe code is allowed.
const MAY_BE_UNSAFE: &[&str] =
    &["crates/runtime/", "crates/codegen/src/build/", "crates/codegen/src/run/parallel/", "bench/src/peers/"];

/// The folders in which printing is allowed.
const MAY_PRINT: &[&str] = &["crates/cli/", "bench/"];

/// The file that reads from the operating system what the machine has.
const READS_THE_MACHINE: &str = "crates/machine/src/system.rs";

/// The functions by which code reads the machine, or pins a thread.
const CALLS: &[&str] = &["sched_getaffinity", "sched_setaffinity", "available_parallelism"];

/// The files that describe the machine or its load. (`/proc/self` is the process's own, and no part of the machine.)
const FILES: &[&str] =
    &["\"/sys/", "\"/proc/cpuinfo", "\"/proc/meminfo", "\"/proc/stat", "\"/proc/sys/", "sys/devices"];

/// Files that read the machine too, each for a reason.
const MAY_READ_THE_MACHINE: &[&str] = &[
    // The number of threads and the CPUs of a thread, which each run needs: the rest is a feature, and uses `rustix`.
    "crates/machine/src/threads.rs",
    "crates/runtime/src/threads/affinity.rs",
    // A limit of the kernel, which a test of the stacks compares with their number. No part of a machine's description.
    "crates/runtime/src/coroutine/stack/linux.rs",
    // The bench measures other engines and the load of the machine; it must not measure them by ours.
    "bench/src/machine.rs",
    "bench/src/noise.rs",
    "bench/src/row.rs",
    "bench/src/peers/tokio_ring.rs",
];

/// The modules that a policy must not use: it decides and never acts.
const NOT_IN_A_POLICY: &[&str] =
    &["std::thread", "std::time", "std::sync::atomic", "std::fs", "std::io", "std::net", "std::process"];

#[test]
fn the_table_has_no_cycles() {
    let mut above = BTreeSet::new();
    for (name, uses) in MAY_USE {
        for used in *uses {
            assert!(above.contains(used), "{name} may use {used}, which is not above it in MAY_USE");
        }
        assert!(above.insert(*name), "{name} has two rows in MAY_USE");
    }
}

#[test]
fn no_crate_may_use_the_command_or_the_bench() {
    for (name, uses) in MAY_USE {
        for end in ["thalweg-cli", "thalweg-bench"] {
            assert!(!uses.contains(&end), "{name} may use {end}");
        }
    }
}

#[test]
fn dependencies_follow_the_table() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for (name, dependencies) in workspace() {
        let Some(allowed) = allowed.get(name.as_str()) else {
            panic!("{name} has no row in MAY_USE\nhelp: add one with the crates that it may use");
        };
        for dependency in dependencies {
            assert!(
                allowed.contains(&dependency.as_str()),
                "{name} depends on {dependency}, but may use only {allowed:?}"
            );
        }
    }
}

#[test]
fn only_tests_depend_on_crates_for_tests() {
    for package in packages() {
        for dependency in dependencies_of(&package) {
            let name = text(&dependency["name"]);
            assert!(
                dependency["kind"] == "dev"
                    || !FOR_TESTS.contains(&name.as_str())
                    || package["name"] == "thalweg-bench",
                "{} depends on {name} outside its tests",
                package["name"]
            );
        }
    }
}

#[test]
fn the_engine_breaks_no_type_inference() {
    let (_, parts) = MAY_USE.iter().find(|(name, _)| *name == "thalweg").expect("the facade has a row");
    let in_engine = |name: &str| {
        name == "thalweg" || parts.contains(&name) && !FOR_TESTS.contains(&name) && name != MAY_USE_THEM
    };
    for package in packages().iter().filter(|package| in_engine(&text(&package["name"]))) {
        for dependency in dependencies_of(package).iter().filter(|dependency| dependency["kind"].is_null()) {
            let name = text(&dependency["name"]);
            assert!(!NOT_IN_THE_ENGINE.contains(&name.as_str()), "{} depends on {name}", package["name"]);
            let is_optional = package["name"] == "thalweg" && dependency["optional"] == true;
            assert!(name != MAY_USE_THEM || is_optional, "{} always depends on {name}", package["name"]);
        }
    }
    let facade = packages().into_iter().find(|package| package["name"] == "thalweg").expect("the facade");
    assert_eq!(facade["features"]["default"], Value::Array(Vec::new()), "the facade has no default features");
}

#[test]
fn unsafe_code_stays_in_its_folders() {
    let others = sources().filter(|(path, _)| !lies_in(path, MAY_BE_UNSAFE));
    let found: Vec<String> = others.filter(|(_, code)| has_unsafe(code)).map(|(path, _)| path).collect();
    assert!(found.is_empty(), "unsafe code outside {MAY_BE_UNSAFE:?}: {found:?}");
}

#[test]
fn libraries_print_nothing() {
    let in_libraries = |path: &str| path.contains("/src/") && !lies_in(path, MAY_PRINT);
    let prints = |code: &str| ["println!", "print!", "dbg!"].iter().any(|word| code.contains(word));
    let found: Vec<String> =
        sources().filter(|(path, code)| in_libraries(path) && prints(code)).map(|(path, _)| path).collect();
    assert!(found.is_empty(), "only {MAY_PRINT:?} print: {found:?}");
}

#[test]
fn one_file_reads_the_machine() {
    let has = |code: &str, words: &[&str]| words.iter().any(|word| code.contains(word));
    // The machine's crate names files, which `System` opens.
    let reads = |path: &str, code: &str| match path.starts_with("crates/machine/") {
        true => has(code, CALLS) || has(code, &["fs::read", "File::open"]),
        false => has(code, CALLS) || has(code, FILES),
    };
    let sources = sources().filter(|(path, code)| path.contains("src/") && reads(path, code));
    let found: BTreeSet<String> = sources.map(|(path, _)| path).collect();
    assert!(found.contains(READS_THE_MACHINE));
    let allowed = |path: &str| path == READS_THE_MACHINE || MAY_READ_THE_MACHINE.contains(&path);
    let others: Vec<&String> = found.iter().filter(|path| !allowed(path)).collect();
    assert!(
        others.is_empty(),
        "only {READS_THE_MACHINE} reads the machine: {others:?}\nhelp: use thalweg-machine"
    );
    let unused: Vec<_> = MAY_READ_THE_MACHINE.iter().filter(|path| !found.contains(**path)).collect();
    assert!(unused.is_empty(), "these files need no entry in MAY_READ_THE_MACHINE: {unused:?}");
}

#[test]
fn a_policy_decides_and_never_acts() {
    let policies = sources().filter(|(path, _)| path.starts_with("crates/policy/src/"));
    for (path, code) in policies {
        for act in NOT_IN_A_POLICY {
            assert!(!code.contains(act), "{path} uses {act}");
        }
    }
}

#[test]
fn the_search_for_unsafe_code_finds_it() {
    for code in [
        "unsafe { x() }",
        "unsafe\n{ x() }",
        "pub unsafe fn x() {}",
        "unsafe impl Send for X {}",
        "unsafe extern \"C\" {}",
        "#[unsafe(no_mangle)]",
    ] {
        assert!(has_unsafe(&without_comments(code)), "{code}");
    }
    for code in ["// unsafe { x() }", "\"an unsafe entry\"", "fn unsafe_name() {}", "#![forbid(unsafe_code)]"]
    {
        assert!(!has_unsafe(&without_comments(code)), "{code}");
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's folder")
}

/// The crates of the workspace by name, each with the crates of the workspace it depends on in any way.
fn workspace() -> BTreeMap<String, BTreeSet<String>> {
    packages().iter().map(|package| (text(&package["name"]), local_dependencies(package))).collect()
}

/// The crates of the workspace, as cargo describes them.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root())
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn dependencies_of(package: &Value) -> &[Value] {
    package["dependencies"].as_array().expect("a list of dependencies")
}

/// The dependencies with a path, which are other crates of the workspace: tests may use their own crate with all features.
fn local_dependencies(package: &Value) -> BTreeSet<String> {
    let is_other =
        |dependency: &&Value| dependency["path"].is_string() && dependency["name"] != package["name"];
    let local = dependencies_of(package).iter().filter(is_other);
    local.map(|dependency| text(&dependency["name"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn lies_in(path: &str, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// Every Rust file of the project except this one: its path from the root, with `/`, and its code without comments.
fn sources() -> impl Iterator<Item = (String, String)> {
    let mut files = Vec::new();
    for folder in ["crates", "apps", "bench", "fuzz"] {
        collect(&root(), Path::new(folder), &mut files);
    }
    assert!(files.len() > 50, "only {} files found: is this the right folder?", files.len());
    let this = "crates/thalweg/tests/layout.rs";
    assert!(files.iter().any(|path| path == this));
    files.into_iter().filter(move |path| path != this).map(|path| {
        let code = fs::read_to_string(root().join(&path)).expect("a readable source file");
        (path, without_comments(&code))
    })
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(root.join(folder)) else { return };
    for entry in entries.map(|entry| entry.expect("a readable folder")) {
        let path = folder.join(entry.file_name());
        if entry.file_type().expect("a file type").is_dir() {
            if entry.file_name() != "target" {
                collect(root, &path, files);
            }
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path.to_string_lossy().replace('\\', "/"));
        }
    }
}

/// Removes line comments. `//` inside a string removes the rest of that line too, which can only hide code from the
/// search; the project uses no block comments.
fn without_comments(code: &str) -> String {
    code.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Whether the code contains the keyword `unsafe` in front of a token that can follow it. Prose in a string does not
/// count.
fn has_unsafe(code: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let keyword = |at: usize| !code[..at].ends_with(is_word);
    let follows = |rest: &str| {
        let next = rest.trim_start();
        let spaced = rest.starts_with(char::is_whitespace);
        next.starts_with('{')
            || rest.starts_with('(')
            || spaced && ["fn ", "impl", "trait ", "extern "].iter().any(|word| next.starts_with(word))
    };
    code.match_indices("unsafe").any(|(at, word)| keyword(at) && follows(&code[at + word.len()..]))
}
