//! `thalweg demo pipelines des`.

use anyhow::Result;
use clap::Args;
use thalweg_pipelines::checksum;
use thalweg_pipelines::des::{self, BLOCK, Parameters};

use super::text::Text;
use super::{Run, time};
use crate::engine::Graphs;
use crate::interrupt::Interrupt;
use crate::size;

/// Encrypt a text by DES, block by block: 20 kernels, all of whose edges have the same volume.
///
/// The kernels are a reader, the initial permutation, 16 rounds, the final permutation and a writer. Each takes and gives one block
/// of 8 bytes, so a mapping has nothing to choose but where to cut evenly. The text is padded to whole blocks (PKCS #5), and each
/// is encrypted by itself (ECB).
///
/// DES protects nothing: keys of 56 bits are found by trial, and equal blocks look equal.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo pipelines des --bytes 1MiB --check --threads 2
  thalweg demo pipelines des book.txt --key 0123456789abcdef -o book.des
  thalweg demo pipelines des book.des --decrypt --key 0123456789abcdef")]
pub(super) struct Des {
    #[command(flatten)]
    text: Text,
    /// The key: 16 hexadecimal digits, of which each eighth bit counts for nothing
    #[arg(long, value_name = "KEY", default_value = "133457799bbcdff1", value_parser = key)]
    key: u64,
    /// Decrypt FILE
    #[arg(long, requires = "input")]
    decrypt: bool,
    #[command(flatten)]
    run: Run,
}

/// Parses a key.
fn key(text: &str) -> Result<u64, String> {
    let is_hexadecimal = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    let key = u64::from_str_radix(text, 16).ok().filter(|_| is_hexadecimal);
    key.ok_or_else(|| "expected 16 hexadecimal digits".to_owned())
}

impl Des {
    pub(super) fn run(self, interrupt: &Interrupt) -> Result<()> {
        let options = self.run.engine.options(Graphs::One, interrupt)?;
        let make = |bytes: usize, seed| {
            let mut text = des::to_bytes(&des::input(bytes.div_ceil(BLOCK), seed));
            text.truncate(bytes);
            text
        };
        let text = self.text.open(&self.run, make, interrupt)?;
        let blocks = if self.decrypt { des::from_bytes(&text)? } else { des::padded(&text) };
        let parameters = Parameters { key: self.key, decrypt: self.decrypt };
        let progress = self.run.engine.steps(None);
        let ran = des::graph(&blocks, &parameters).run_with(&options);
        progress.end(&ran);
        let (result, report) = ran.map_err(thalweg::Error::from)?.into_parts();
        let bytes = |blocks: &[u64]| -> Result<Vec<u8>> {
            Ok(if self.decrypt { des::unpadded(blocks)? } else { des::to_bytes(blocks) })
        };
        let result = bytes(&result)?;
        let sum = checksum(&result);
        let check = self
            .run
            .compare(sum.into(), || Ok(checksum(&bytes(&des::sequential(&blocks, &parameters))?).into()))?;
        let counts = format!("{} blocks", blocks.len());
        let lines = format!(
            "problem   des, {}, {counts} {}\n{}checksum  {sum:08x}\n{check}",
            size::show(text.len() as u64),
            if self.decrypt { "decrypted" } else { "encrypted" },
            time(&report)
        );
        self.text.finish(&result, &lines, interrupt)?;
        self.run.engine.results.finish(&report, || counts, interrupt)
    }
}
