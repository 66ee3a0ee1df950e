//! Native code stored with its program, for machines without a compiler.

use crate::build::{self, Compiler};
use crate::emit::merging::Merging;
use crate::key::Key;
use crate::prepared::{Prepared, lanes};
use crate::unrolled::outline::{self, Outlines};
use crate::{Config, Level, Native, Refusal};
use std::sync::Arc;
use thalweg_lang::Compiled;

/// A program's native code, with what is needed to check that it fits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    level: Level,
    lanes: u32,
    /// The key of the program it was generated from.
    key: Key,
    /// Processor features that the code uses.
    needs: Vec<String>,
    /// What planning found about blocks.
    outlines: Outlines,
    library: Vec<u8>,
}

/// Compiles a program to native code, until `interrupted` returns true.
///
/// # Errors
/// The program has no native code, or [`Refusal::Interrupted`].
pub fn object(
    compiled: &Compiled,
    config: &Config,
    interrupted: &dyn Fn() -> bool,
) -> Result<Object, Refusal> {
    let (level, lanes) = (config.level, lanes(config.level));
    let merging = Merging::default();
    let prepared = Prepared::new(compiled, level, lanes).map_err(Refusal::Unable)?;
    let text = prepared.text(compiled, merging).map_err(Refusal::Unable)?;
    let compiler = config.compiler.clone().or_else(Compiler::find).ok_or(Refusal::NoCompiler)?;
    let library = build::library(&text, &compiler, interrupted)?;
    let key = Key::of(compiled, level, lanes, merging);
    let (needs, outlines) = (build::abilities(), prepared.outlines);
    Ok(Object { level, lanes: lanes as u32, key, needs, outlines, library })
}

impl Object {
    /// Loads this code for the program, without a compiler.
    ///
    /// # Errors
    /// The code was built from another program or version, or for another processor.
    pub fn load(&self, compiled: &Arc<Compiled>) -> Result<Native, Refusal> {
        let has = build::abilities();
        if let Some(lacks) = self.needs.iter().find(|need| !has.contains(need)) {
            let why = format!("the stored code needs processor feature `{lacks}`, which this machine lacks");
            return Err(Refusal::Failed(why));
        }
        let lanes = self.lanes as usize;
        if Key::of(compiled, self.level, lanes, Merging::default()) != self.key {
            return Err(Refusal::Failed("the stored code was built from another program or version".into()));
        }
        let prepared =
            Prepared::known(compiled, (self.level, lanes), &self.outlines).map_err(Refusal::Unable)?;
        let library = build::from_bytes(&self.library).map_err(Refusal::Failed)?;
        Ok(prepared.with(compiled, library))
    }

    /// Serialises the code.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.level as u8];
        bytes.extend(self.lanes.to_le_bytes());
        bytes.extend(self.key.0);
        for text in [self.needs.join(" "), outline::to_text(&self.outlines)] {
            bytes.extend((text.len() as u32).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(&self.library);
        bytes
    }

    /// Parses what [`Object::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Object> {
        let (level, bytes) = bytes.split_first()?;
        let level = *[Level::Plain, Level::Fused, Level::Vectors].get(usize::from(*level))?;
        let (lanes, bytes) = bytes.split_first_chunk()?;
        let (key, bytes) = bytes.split_first_chunk()?;
        let (needs, bytes) = split_text(bytes)?;
        let (outlines, library) = split_text(bytes)?;
        let needs = needs.split_whitespace().map(String::from).collect();
        let outlines = outline::from_text(outlines)?;
        let lanes = u32::from_le_bytes(*lanes);
        Some(Object { level, lanes, key: Key(*key), needs, outlines, library: library.to_vec() })
    }
}

/// Splits off a text that is preceded by its length.
fn split_text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let (length, bytes) = bytes.split_first_chunk()?;
    let (text, rest) = bytes.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((std::str::from_utf8(text).ok()?, rest))
}
