//! `thalweg build`.

use super::SourceFiles;
use super::mask::mask_paths;
use super::payload::Payload;
use super::run::{SLOWER, level};
use crate::interrupt::{Interrupt, InterruptNote};
use crate::standard;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use thalweg::embed::graph::shown;
use thalweg_codegen::{Config, object};
use thalweg_files::OutFile;

/// Build a stand-alone executable from a StreamIt program.
///
/// The executable runs on machines of the same kind as this one, and needs neither a C compiler nor the files
/// of the program. It takes the options of `thalweg run`, except `--optimise`, which is fixed at build time. If
/// the program cannot be compiled to native code, or the processor lacks features of this one, the interpreter
/// runs it.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  thalweg build Radio.str Filters.str -o radio
  ./radio --iterations 1000")]
pub(crate) struct Build {
    #[command(flatten)]
    files: SourceFiles,
    /// The executable to write. One that `thalweg build` has written is replaced
    #[arg(short, long, value_name = "PROGRAM")]
    output: PathBuf,
    /// Optimisation of native code: 0 one function for each filter, 1 fused regions, 2 also vectorised firings
    #[arg(short = 'O', long, value_name = "LEVEL", default_value_t = 2,
        value_parser = clap::value_parser!(u8).range(0..=2))]
    optimise: u8,
    /// Replace an existing file, also one that `thalweg build` did not write
    #[arg(short, long)]
    force: bool,
}

impl Build {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        self.files.check_not_source(&self.output)?;
        self.check_output()?;
        let (sources, compiled) = self.files.compile()?;
        let config = Config { level: level(self.optimise), ..Config::default() };
        // With a guard, a signal ends the C compiler, and the unfinished executable is removed, before this process exits.
        let _guard = interrupt.guard();
        let code = object(&compiled, &config, &|| interrupt.stop().is_requested());
        check_not_interrupted(interrupt)?;
        let code = code.map_err(|refusal| refusal.to_string());
        if let Err(why) = &code {
            standard::eprint(&format!("note: {why}; the executable will use the interpreter, {SLOWER}"));
        }
        let name = compiled.tree.root.name.to_string();
        self.write(&Payload { name, sources, code }, interrupt)
    }

    /// Refuses to replace a file that `thalweg build` did not write, unless `--force` is given.
    fn check_output(&self) -> Result<()> {
        let path = &self.output;
        ensure!(!path.is_dir(), "{} is a folder, expected a file\nhelp: name a file in it", shown(path));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            bail!("creating {}: there is no folder `{}`\nhelp: create it first", shown(path), shown(folder));
        }
        ensure!(
            !thalweg_files::names_folder(path),
            "{} names a folder\nhelp: name the file in it",
            shown(path)
        );
        let exists = path.symlink_metadata().is_ok();
        let is_ours = || File::open(path).is_ok_and(|mut file| Payload::is_in(&mut file));
        if exists && !self.force && !is_ours() {
            bail!(
                "refusing to overwrite {}, which `thalweg build` did not write\n\
                help: choose another name, or replace it with --force",
                shown(path)
            );
        }
        Ok(())
    }

    /// Writes the executable under a temporary name and renames it.
    fn write(&self, payload: &Payload, interrupt: &Interrupt) -> Result<()> {
        let path = &self.output;
        let writing = || format!("writing {}", shown(path));
        let file = OutFile::create(path, self.force || path.exists())?.executable();
        let mut this = Vec::new();
        let read = current_executable().and_then(|mut executable| executable.read_to_end(&mut this));
        read.context("reading this executable")?;
        mask_paths(&mut this);
        file.file().write_all(&this).with_context(writing)?;
        payload.append(&mut file.file().try_clone()?).with_context(writing)?;
        check_not_interrupted(interrupt)?;
        Ok(file.commit()?)
    }
}

fn check_not_interrupted(interrupt: &Interrupt) -> Result<()> {
    ensure!(!interrupt.stop().is_requested(), InterruptNote("interrupted: nothing was written".into()));
    Ok(())
}

/// Opens this executable. On Linux this also works after the file was renamed or deleted.
pub(super) fn current_executable() -> io::Result<File> {
    if cfg!(target_os = "linux")
        && let Ok(file) = File::open("/proc/self/exe")
    {
        return Ok(file);
    }
    File::open(std::env::current_exe()?)
}
