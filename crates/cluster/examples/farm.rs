//! Compresses files in blocks of 1 MiB, by any number of processes, into one file in their order, which `zstd -d` reads:
//!
//! ```text
//! cargo run --release -p thalweg-cluster --example farm -- OUTPUT.zst FILE ...
//! thalweg launch -n 4 -- cargo run --release -p thalweg-cluster --example farm -- OUTPUT.zst FILE ...
//! ```
//!
//! After a failure, `--resume` as the first argument goes on where the output ends.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use serde_bytes::ByteBuf;
use thalweg_cluster::Cluster;

const BLOCK: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let resumes = arguments.first().is_some_and(|first| first == "--resume");
    arguments.drain(..usize::from(resumes));
    let (output, files) = arguments.split_first().ok_or("name an output and files")?;

    // Each process reads the same names and lengths, so all have the same parts: a block of a file is one.
    let mut blocks: Vec<(&str, u64)> = Vec::new();
    for file in files {
        let length = std::fs::metadata(file).map_err(|error| format!("{file}: {error}"))?.len();
        blocks.extend((0..length.div_ceil(BLOCK)).map(|block| (file.as_str(), block * BLOCK)));
    }
    Cluster::from_env()?
        .job(format!("{blocks:?}"))
        .resume(resumes)
        .from_parts(blocks.len(), |part| [blocks[part]])
        .try_par_map(|(file, at)| compress(file, at).map_err(|error| format!("{file}: {error}")))
        .write_file(output, |out, block| out.write_all(&block))
        .run()?;
    Ok(())
}

fn compress(file: &str, at: u64) -> std::io::Result<ByteBuf> {
    let mut input = File::open(file)?;
    input.seek(SeekFrom::Start(at))?;
    let mut block = Vec::new();
    input.take(BLOCK).read_to_end(&mut block)?;
    zstd::bulk::compress(&block, 3).map(ByteBuf::from)
}
