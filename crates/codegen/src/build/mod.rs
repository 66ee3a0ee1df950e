//! From C to loaded code: the system's compiler, a cache of its output, and the loader.

mod cache;
mod child;
mod fiber;
mod flags;
mod from_bytes;
mod load;
mod trust;
mod watchdog;

pub use cache::Cache;
pub(crate) use cache::Kept;
pub(crate) use from_bytes::from_bytes;
pub(crate) use load::{
    Address, BatchesEnd, Env, Fibers, Flowed, Host, Inbox, LENDERS, Lent, Library, Memory, Queue, Room, Sent,
    State,
};

use crate::Refusal;
use crate::key::Key;
use crate::unrolled::outline::Outlines;
use child::Ended;
use flags::FLAGS;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use thalweg::embed::graph::shown;
use thalweg::embed::machine::Processor;
use thalweg_files::PrivateFolder;

/// Bytes of C from which on compiling at `-O3` takes minutes.
const LONG: usize = 1_500_000;

/// Flags that make compiling a long text take seconds. Results stay the same.
fn effort(text: &str) -> &'static [&'static str] {
    if text.len() < LONG { &[] } else { &["-O1"] }
}

/// A C compiler that is installed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    program: OsString,
    /// Arguments that precede all others.
    arguments: Vec<String>,
    version: Vec<u8>,
    /// Flags that follow [`FLAGS`].
    more: Vec<String>,
}

impl Compiler {
    /// The compiler that `$CC` names, else the system's.
    pub fn find() -> Option<Compiler> {
        let named = std::env::var_os("CC").filter(|name| !name.is_empty());
        match named {
            Some(named) => Compiler::of_words(&named),
            None => ["cc", "gcc", "clang"].into_iter().find_map(|name| Compiler::named(name.into())),
        }
    }

    /// A compiler as `$CC` names it: by its path, or as a command with arguments such as `ccache gcc`. If the program
    /// starts, it is the compiler that the user wants, and what it reports when it compiles is the better error.
    fn of_words(named: &OsStr) -> Option<Compiler> {
        let compiler = Compiler::with(named.into(), Vec::new()).or_else(|| {
            let mut words = named.to_str()?.split_whitespace().map(String::from);
            Compiler::with(words.next()?.into(), words.collect())
        });
        compiler.map(|(compiler, _)| compiler)
    }

    /// The compiler of this name, if it runs.
    pub fn named(program: OsString) -> Option<Compiler> {
        let (compiler, has_version) = Compiler::with(program, Vec::new())?;
        has_version.then_some(compiler)
    }

    /// A compiler that starts, and whether it has printed its version.
    fn with(program: OsString, arguments: Vec<String>) -> Option<(Compiler, bool)> {
        let output = Command::new(&program).args(&arguments).arg("--version").output().ok()?;
        let compiler = Compiler { program, arguments, version: output.stdout, more: Vec::new() };
        Some((compiler, output.status.success()))
    }

    /// Adds a flag, such as `-O1` where compile time matters more than run time.
    pub fn flag(mut self, flag: impl Into<String>) -> Compiler {
        self.more.push(flag.into());
        self
    }

    /// Compiles a source file that is alone in its folder.
    fn compile(
        &self,
        (source, into): (&Path, &Path),
        effort: &[&str],
        interrupted: &dyn Fn() -> bool,
    ) -> Result<(), Refusal> {
        let folder = source.parent().unwrap_or(Path::new("."));
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .args(FLAGS)
            .args(effort)
            .args(["-shared", "-w"])
            .args(&self.more)
            .arg("-o")
            .arg(into)
            .arg(source)
            .arg("-lm");
        let failed = |why: String| {
            Refusal::Failed(format!("the C compiler `{}` has failed: {why}", shown(&self.program)))
        };
        match child::run(command, folder, interrupted) {
            Ok(Ended::Well) => Ok(()),
            Ok(Ended::Badly(said)) => Err(failed(said)),
            Ok(Ended::Interrupted) => Err(Refusal::Interrupted),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// Opens the cache to look up a program.
pub(crate) fn kept(key: &Key, compiler: &Compiler, cache: &Cache) -> Option<Kept> {
    Kept::open(cache, name(&key.0, compiler))
}

/// Compiles and loads a program's text, or loads the cached library of the same text.
pub(crate) fn build(
    kept: Option<&Kept>,
    (text, outlines): (&str, &Outlines),
    compiler: &Compiler,
    interrupted: &dyn Fn() -> bool,
) -> Result<Library, Refusal> {
    let name = name(text.as_bytes(), compiler);
    if let Some(library) = kept.and_then(|kept| kept.library(&name, outlines)) {
        return Ok(library);
    }
    let (_folder, made) = compiled(text, compiler, interrupted)?;
    let library = Library::open(&made).map_err(Refusal::Failed)?;
    if let Some(kept) = kept {
        kept.keep(&made, &name, outlines);
    }
    Ok(library)
}

/// Compiles a text to a library in a temporary folder, which lives as long as the returned value.
fn compiled(
    text: &str,
    compiler: &Compiler,
    interrupted: &dyn Fn() -> bool,
) -> Result<(PrivateFolder, PathBuf), Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::Failed(format!("cannot write the C source to a temporary folder: {error}"))
    };
    // An absolute path cannot be taken for an option of the compiler, as a relative one that begins with `-` would be.
    let temporary = std::path::absolute(std::env::temp_dir()).map_err(failed)?;
    let folder = PrivateFolder::create(&temporary).map_err(|error| failed(error.into()))?;
    let (source, path) = (folder.path().join("program.c"), folder.path().join("program.so"));
    std::fs::write(&source, text).map_err(failed)?;
    compiler.compile((&source, &path), effort(text), interrupted)?;
    Ok((folder, path))
}

/// Compiles a text; returns the library as bytes.
pub(crate) fn library(
    text: &str,
    compiler: &Compiler,
    interrupted: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Refusal> {
    let (_folder, path) = compiled(text, compiler, interrupted)?;
    std::fs::read(&path).map_err(|error| Refusal::Failed(error.to_string()))
}

/// The cache name of a text or key: it also depends on the compiler, its flags and this machine.
fn name(what: &[u8], compiler: &Compiler) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [what, compiler.program.as_encoded_bytes(), &compiler.version, &processor()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let more = compiler.arguments.iter().chain(&compiler.more).map(String::as_str);
    FLAGS.iter().copied().chain(more).for_each(|flag| _ = hasher.update(flag.as_bytes()));
    hasher.finalize().to_hex()[..32].to_owned()
}

/// The processor features that code compiled for this machine may use, as the system names them.
pub(crate) fn abilities() -> Vec<String> {
    const KINDS: &[&str] = &[
        "3dnow", "abm", "adx", "aes", "amx", "avx", "bmi", "clflush", "clwb", "cx16", "f16c", "fma", "gfni",
        "lzcnt", "movbe", "movdir", "mwaitx", "pclmul", "popcnt", "prfchw", "rdpid", "rdrand", "rdseed",
        "sha", "sse", "ssse3", "vaes", "vpclmul", "wbnoinvd", "xsave",
    ];
    let arm = cfg!(target_arch = "aarch64");
    let may = |word: &&String| arm || KINDS.iter().any(|kind| word.starts_with(kind));
    Processor::here().features().iter().filter(may).cloned().collect()
}

/// Architecture, model and features of this machine's processor, since code is compiled for it.
fn processor() -> Vec<u8> {
    let here = Processor::here();
    format!("{}\n{}\n{}", std::env::consts::ARCH, here.model(), here.features().join(" ")).into_bytes()
}
