//! Measures packing and unpacking from memory to memory.
//!
//! ```sh
//! cargo run --release -p thalweg-dedup --example in_memory -- FOLDER [MIB]
//! ```
//!
//! The input is the concatenation of the files of the folder, up to MIB mebibytes (512 by default).

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

use thalweg::Options;
use thalweg_dedup::{Codec, Limits, Params, pack, pack_sequential, verify};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("name a folder")?);
    let mib: usize = match arguments.next() {
        Some(count) => count.to_str().ok_or("not a number")?.parse()?,
        None => 512,
    };
    let mut input = Vec::new();
    gather(&folder, mib << 20, &mut input)?;
    println!("{} bytes of {}", input.len(), folder.display());
    for codec in [Codec::None, Codec::Zstd, Codec::Gzip] {
        time(codec, &input)?;
    }
    Ok(())
}

fn time(codec: Codec, input: &[u8]) -> Result<(), Box<dyn Error>> {
    let params = Params::default().codec(codec);
    // Filled with ones first, so that the first measurement does not include its page faults.
    let mut archive = vec![1; input.len() + (1 << 20)];
    archive.clear();
    let started = Instant::now();
    pack_sequential(input, &mut archive, &params)?;
    let sequential = started.elapsed().as_secs_f64();
    println!("{:5} {} bytes; sequential {sequential:.3} s", codec.name(), archive.len());
    let expected = archive.clone();
    for threads in [1, 2] {
        archive.clear();
        let started = Instant::now();
        pack(input, &mut archive, &params, &Options::new().threads(threads))?;
        let took = started.elapsed().as_secs_f64();
        println!("      {threads} threads {took:.3} s, speed-up {:.3}", sequential / took);
        assert!(archive == expected, "the archive is the same");
    }
    let started = Instant::now();
    verify(&archive[..], &Limits::default())?;
    println!("      read and checked {:.3} s", started.elapsed().as_secs_f64());
    Ok(())
}

/// Appends the files below `folder` in the order of their names, until there are `limit` bytes.
fn gather(folder: &Path, limit: usize, input: &mut Vec<u8>) -> std::io::Result<()> {
    let mut items: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    items.sort_by_key(std::fs::DirEntry::file_name);
    for item in items {
        if input.len() >= limit {
            break;
        }
        let kind = item.file_type()?;
        if kind.is_dir() {
            gather(&item.path(), limit, input)?;
        } else if kind.is_file() {
            input.extend(std::fs::read(item.path())?);
        }
    }
    input.truncate(limit);
    Ok(())
}
