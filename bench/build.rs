//! Compiles the hand-written C of `peers/str` and the kernels of `peers/loops`, with the same flags as generated code, and
//! links them.

use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "../crates/codegen/src/build/flags.rs"]
mod flags;

fn main() {
    let into = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed=../crates/codegen/src/build/flags.rs");
    println!("cargo:rerun-if-env-changed=CC");
    for source in ["peers/str", "peers/loops"].into_iter().flat_map(sources) {
        let object = into.join(source.with_extension("o").file_name().expect("a name"));
        compile(&source, &object);
        println!("cargo:rustc-link-arg-bins={}", object.display());
    }
    println!("cargo:rustc-link-arg-bins=-lm");
}

/// The files of C in a folder.
fn sources(folder: &str) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={folder}");
    let files = Path::new(folder).read_dir().expect("the folder of C files");
    let files = files.map(|file| file.expect("a file").path());
    let mut sources: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "c")).collect();
    sources.sort();
    sources
}

fn compile(source: &Path, object: &Path) {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    // No call passes vectors wider than the machine's, so the warnings about their ABI are off.
    let flags = flags::FLAGS.iter().chain(&["-Wno-psabi", "-c", "-o"]);
    let status = Command::new(&compiler).args(flags).arg(object).arg(source).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{}: {status}", source.display()),
        Err(error) => panic!("{}: {error}", compiler.display()),
    }
}
