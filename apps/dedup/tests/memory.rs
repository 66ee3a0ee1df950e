//! The memory of the process stays bounded while much more data passes through the pipelines. This is the only test
//! of its file, because it measures the whole process.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, Read, Write};

use thalweg::Options;
use thalweg_dedup::{Archive, Codec, Limits, Params, StreamSink, extract_parallel, pack};

/// Bytes of content.
const BYTES: u64 = 768 << 20;
/// Bytes that packer and unpacker keep for duplicates.
const WINDOW: u64 = 32 << 20;
/// The most bytes by which the memory of the process may grow while it packs: the window, 64 MiB for the byte limits of the
/// channels on four cores, 8 MiB for the index, and the rest for blocks in progress.
const MAX_GROWTH: u64 = 160 << 20;

/// Pseudo-random bytes, without duplicates and incompressible.
struct Noise {
    left: u64,
    state: u64,
}

impl Read for Noise {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.left.min(buffer.len() as u64) as usize;
        for word in buffer[..length].chunks_mut(8) {
            self.state = self.state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            let mixed = (self.state ^ self.state >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            word.copy_from_slice(&(mixed ^ mixed >> 32).to_le_bytes()[..word.len()]);
        }
        self.left -= length as u64;
        Ok(length)
    }
}

/// The peak resident size of the process.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn memory_is_bounded() {
    let mut params = Params::default();
    (params.codec, params.level) = (Codec::None, 0);
    params.window = WINDOW;
    let options = Options::new().threads(4);
    let path = std::env::temp_dir().join(format!("thalweg-memory-{}", std::process::id()));
    let before = peak();
    let noise = Noise { left: BYTES, state: 1 };
    let (summary, _) = pack(noise, fs::File::create(&path).unwrap(), &params, &options).unwrap();
    assert_eq!((summary.content_bytes, summary.archive_bytes > BYTES), (BYTES, true));
    let packed = peak() - before;
    assert!(packed <= MAX_GROWTH, "{packed} bytes while packing");

    let archive = Archive::open(io::BufReader::new(fs::File::open(&path).unwrap()), &Limits::default());
    let mut length = Length(0);
    extract_parallel(archive.unwrap(), &mut StreamSink::new(&mut length), &options).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(length.0, BYTES);
    let both = peak() - before;
    assert!(both <= MAX_GROWTH + 2 * WINDOW, "{packed} bytes while packing, {both} in total");
}

struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
