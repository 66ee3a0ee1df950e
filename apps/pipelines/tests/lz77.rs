//! LZ77: what is compressed comes back, and no file that was changed does any harm.

use crate::support::{assert_chain, assert_everywhere};
use thalweg::embed::graph::Kind;
use thalweg::{Error as RunError, Options};
use thalweg_pipelines::Error;
use thalweg_pipelines::lz77::{BLOCK, compress, compressor, decompress, decompressor, gzip_bytes, input};

/// A text that people wrote.
const REAL: &[u8] = include_bytes!("../../../ARCHITECTURE.md");

/// Bytes that do not compress.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1u32;
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..bytes).map(byte).collect()
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    compress(text, &mut packed).expect("memory can be written");
    packed
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut text = Vec::new();
    decompress(packed, &mut text).map(|_| text)
}

#[test]
fn texts_of_all_kinds_and_lengths_come_back() {
    let kinds: [fn(usize) -> Vec<u8>; 5] = [
        |bytes| vec![b'a'; bytes],
        |bytes| input(bytes, 5),
        noise,
        |bytes| (0..bytes).map(|at| (at % 251) as u8).collect(),
        |bytes| (0..bytes).map(|at| b"ab"[at.count_ones() as usize % 2]).collect(),
    ];
    for kind in kinds {
        for length in [0, 1, 2, 3, 4, 100, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
            let text = kind(length);
            let packed = packed(&text);
            assert!(packed.len() <= length + 8 * length.div_ceil(BLOCK) + 18, "{} of {length}", packed.len());
            assert!(unpacked(&packed).expect("a file") == text, "{length}");
        }
    }
}

#[test]
fn graphs_have_the_files_and_texts_of_plain_loops() {
    let text = [&input(70_000, 2)[..], &noise(20_000), &vec![0; 50_000]].concat();
    let file = packed(&text);
    let output = std::sync::Mutex::new(Vec::new());
    let sizes = decompress(&file[..], std::io::sink()).expect("a file");
    assert_eq!((sizes.plain, sizes.packed), (text.len() as u64, file.len() as u64));
    assert_everywhere(&sizes, || {
        output.lock().expect("no panic").clear();
        compressor(&text[..], Shared(&output))
    });
    assert!(*output.lock().expect("no panic") == file);
    assert_everywhere(&sizes, || {
        output.lock().expect("no panic").clear();
        decompressor(&file[..], Shared(&output))
    });
    assert!(*output.lock().expect("no panic") == text);
}

/// A writer of bytes that stay when the graph is gone.
struct Shared<'a>(&'a std::sync::Mutex<Vec<u8>>);

impl std::io::Write for Shared<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_kernel_between_reader_and_writer_is_parallel() {
    let graph = compressor(&[][..], Vec::new()).graph().data();
    assert_eq!(assert_chain(&graph, 3, Kind::Parallel), [(0, 1), (1, 1), (1, 0)]);
    assert_eq!(
        graph.nodes().iter().map(|node| node.name()).collect::<Vec<_>>(),
        ["read", "compress", "write"]
    );
    assert_chain(&decompressor(&[][..], Vec::new()).graph().data(), 3, Kind::Parallel);
}

/// A real text takes less than a byte for each, and gzip, which has no blocks and codes what is frequent in fewer bits, less.
#[test]
fn the_ratio_of_a_real_text_is_near_to_that_of_gzip() {
    let ours = packed(REAL).len() as f64 / REAL.len() as f64;
    let gzip = gzip_bytes(REAL) as f64 / REAL.len() as f64;
    assert!(ours < 0.7 && gzip < ours && ours < 1.5 * gzip, "{ours:.3}, gzip {gzip:.3}");
}

/// The place and the reason of a file that is refused.
fn refused(file: &[u8]) -> (u64, &'static str) {
    match unpacked(file) {
        Err(Error::Format { offset, what }) => (offset, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_files_are_refused_with_the_byte() {
    let file = packed(b"hello hello hello");
    let end = file.len();
    let changed = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        file
    };
    assert_eq!(refused(&changed(4, 2)), (4, "not the header of this format's version 1"));
    assert_eq!(refused(&changed(9, 0x41)), (8, "a block of more than 16384 bytes"));
    assert_eq!(refused(&changed(10, 18)), (10, "a block that takes no bytes, or more than it has"));
    assert_eq!(refused(&changed(end - 14, !file[end - 14])).0, end as u64 - 14);
    assert_eq!(
        refused(&changed(end - 1, 1)),
        (end as u64 - 8, "the number of bytes of all blocks is another one")
    );
    assert_eq!(refused(&[&file[..], b"!"].concat()), (end as u64, "bytes behind the end"));
    let twice = [&file[..end - 10], &file[8..]].concat();
    assert_eq!(refused(&twice), (end as u64 - 10, "a block behind the last one"));
    for length in 0..end {
        assert_eq!(refused(&file[..length]), (length as u64, "the file ends before its end mark"));
    }
}

/// Each bit flipped, bytes changed, parts removed and repeated: the text, or an error at a byte of the file.
#[test]
fn changed_files_do_no_harm() {
    let text = [&input(1500, 4)[..], &noise(200), &REAL[..2000]].concat();
    let file = packed(&text);
    let check = |file: &[u8]| match unpacked(file) {
        Ok(unpacked) => assert!(unpacked == text, "a changed file with another text"),
        Err(Error::Format { offset, .. }) => assert!(offset <= file.len() as u64, "{offset}"),
        Err(error) => panic!("{error}"),
    };
    for bit in (0..8 * file.len()).step_by(3) {
        let mut file = file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        check(&file);
    }
    let numbers = noise(4 * 600);
    for number in numbers.chunks(4) {
        let (from, count) = (usize::from(number[0]) * file.len() / 256, usize::from(number[1] % 32));
        let to = file.len().min(from + count);
        let mut cut = file.clone();
        cut.drain(from..to);
        check(&cut);
        let mut repeated = file.clone();
        repeated.splice(from..from, file[from..to].iter().copied());
        check(&repeated);
        let mut filled = file.clone();
        filled[from..to].fill(number[2]);
        check(&filled);
    }
    numbers.chunks(40).for_each(|noise| check(&[&file[..8], noise].concat()));
}

#[test]
fn a_wrong_file_is_the_cause_of_the_error_of_a_run() {
    let mut file = packed(&input(50_000, 1));
    let middle = file.len() / 2;
    file[middle] ^= 16;
    let expected = refused(&file);
    for threads in [1, 2, 8] {
        let run = decompressor(&file[..], std::io::sink()).run_with(&Options::new().threads(threads));
        match RunError::from(run.expect_err("a wrong file")) {
            RunError::Node { node, cause } => match cause.downcast_ref() {
                Some(Error::Format { offset, what }) => {
                    assert_eq!(((*offset, *what), node.as_str()), (expected, "decompress"));
                }
                _ => panic!("{cause}"),
            },
            error => panic!("{error}"),
        }
    }
}

#[test]
fn readers_and_writers_that_fail_end_the_run() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no disk"))
        }
    }
    let error = compressor(Failing, std::io::sink()).run().expect_err("the reader fails");
    assert!(error.to_string().contains("no disk"), "{error}");
    let mut small = [0; 10];
    let error = compressor(&[1; 100][..], &mut small[..]).run().expect_err("the writer has no room");
    assert!(error.to_string().contains("write"), "{error}");
}
