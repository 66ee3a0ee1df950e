//! Compiles the hand-written C of `peers/str`, with the flags that generated code gets, and links it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Those of the native back end: the interpreter's bits, and this machine.
const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    // Vectors wider than the machine's never cross a call.
    "-Wno-psabi",
];

fn main() {
    let folder = Path::new("peers/str");
    let into = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed={}", folder.display());
    println!("cargo:rerun-if-env-changed=CC");
    let files = folder.read_dir().expect("the folder of C files").map(|file| file.expect("a file").path());
    let mut sources: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "c")).collect();
    sources.sort();
    for source in sources {
        let object = into.join(source.with_extension("o").file_name().expect("a name"));
        compile(&source, &object);
        println!("cargo:rustc-link-arg-bins={}", object.display());
    }
    println!("cargo:rustc-link-arg-bins=-lm");
}

fn compile(source: &Path, object: &Path) {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let status = Command::new(&compiler).args(FLAGS).arg("-c").arg("-o").arg(object).arg(source).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{}: {status}", source.display()),
        Err(error) => panic!("{}: {error}", compiler.display()),
    }
}
