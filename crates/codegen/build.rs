//! Passes a hash of the generator's sources to `src/key.rs`, so that libraries compiled from another
//! generator's C are not found in the cache.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The sources that determine the generated C.
const SOURCES: [&str; 2] = ["src", "../lang/src"];

const LOCK: &str = "../../Cargo.lock";

fn main() {
    let mut hasher = DefaultHasher::new();
    for folder in SOURCES {
        println!("cargo::rerun-if-changed={folder}");
        for file in files(Path::new(folder)) {
            let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            (file, text).hash(&mut hasher);
        }
    }
    // Versions of the crates it uses.
    println!("cargo::rerun-if-changed={LOCK}");
    std::fs::read(LOCK).unwrap_or_default().hash(&mut hasher);
    println!("cargo::rustc-env=THALWEG_GENERATOR={:016x}", hasher.finish());
}

/// All files of a folder, in a deterministic order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
