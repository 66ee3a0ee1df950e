//! `thalweg build`.

use super::Files;
use super::payload::Payload;
use super::run::level;
use crate::interrupt::{Interrupt, Left};
use crate::standard;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thalweg_codegen::{Config, object};

/// Make a stand-alone executable of a StreamIt program.
///
/// It runs on machines like this one, without a C compiler and without the program's files, and takes the
/// options of `thalweg run` but `--optimise`, which is settled here. What cannot be native code, or meets a
/// processor that can do less, is run by the interpreter.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  thalweg build Radio.str Filters.str -o radio
  ./radio --iterations 1000")]
pub(crate) struct Build {
    #[command(flatten)]
    files: Files,
    /// The executable
    #[arg(short, long, value_name = "PROGRAM")]
    output: PathBuf,
    /// How much is made of native code: 0 a function for each filter, 1 regions fused, 2 several firings
    /// at once
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(0..=2))]
    optimise: u8,
    /// Take the place of whatever file is there
    #[arg(long)]
    force: bool,
}

impl Build {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        self.files.spare(&self.output)?;
        self.may_write()?;
        let (sources, compiled) = self.files.compile()?;
        let config = Config { level: level(self.optimise), ..Config::default() };
        // The compiler is not left behind.
        let guard = interrupt.guard();
        let code = object(&compiled, &config, &|| interrupt.stop().is_requested());
        ensure!(!interrupt.stop().is_requested(), Left("interrupted: nothing was written"));
        drop(guard);
        let code = code.map_err(|refusal| refusal.to_string());
        if let Err(why) = &code {
            standard::complain(&format!("note: {why}; the executable has the interpreter run it"));
        }
        let name = compiled.tree.root.name.to_string();
        self.write(&Payload { name, sources, code })
    }

    /// Nothing is replaced but what was made in this way, unless that is asked for.
    fn may_write(&self) -> Result<()> {
        let path = &self.output;
        ensure!(!path.is_dir(), "{} is a folder", path.display());
        let there = path.symlink_metadata().is_ok();
        let ours = || File::open(path).is_ok_and(|mut file| Payload::is_in(&mut file));
        if there && !self.force && !ours() {
            bail!("{} is there, and not made by `thalweg build`; `--force` replaces it", path.display());
        }
        Ok(())
    }

    /// Writes all of it under another name, and then gives it its own.
    fn write(&self, payload: &Payload) -> Result<()> {
        let path = &self.output;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let writing = || format!("writing {}", path.display());
        ensure!(folder.is_none_or(Path::is_dir), "{}: there is no such folder", writing());
        let mut file = executable(folder.unwrap_or(Path::new("."))).with_context(writing)?;
        let mut own = own().context("reading this executable")?;
        io::copy(&mut own, file.as_file_mut()).with_context(writing)?;
        payload.append(file.as_file_mut()).with_context(writing)?;
        file.as_file().sync_all().with_context(writing)?;
        let made =
            if self.force || path.exists() { file.persist(path) } else { file.persist_noclobber(path) };
        made.map(|_| ()).map_err(|error| error.error).with_context(writing)
    }
}

/// A new file that can be executed by whoever the user lets.
fn executable(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".thalweg-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    builder.tempfile_in(folder)
}

/// This executable, by a name that lasts even where the file has another one by now.
pub(super) fn own() -> io::Result<File> {
    if cfg!(target_os = "linux")
        && let Ok(file) = File::open("/proc/self/exe")
    {
        return Ok(file);
    }
    File::open(std::env::current_exe()?)
}
