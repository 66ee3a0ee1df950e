//! The parser of FASTA.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use thalweg_align::{Alphabet, Error, Sequence, read_fasta};

fn read(text: &[u8]) -> Vec<Sequence> {
    read_fasta(text, "text", None, u64::MAX).unwrap()
}

fn zip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn sequence(name: &str, description: &str, letters: &str) -> Sequence {
    Sequence { name: name.into(), description: description.into(), letters: letters.into() }
}

#[test]
fn lines_headers_and_cases() {
    let expected = [
        sequence("a", "first one", "ACGTACGT"),
        sequence("b", "", ""),
        sequence("c|1", "x  y", "MKV*"),
        sequence("d", "", "A"),
    ];
    let text = ">a first one\nACGT\nacgt\n\n>b\n>c|1\tx  y  \nmkv*\n>d\nA";
    assert_eq!(read(text.as_bytes()), expected);
    assert_eq!(read(text.replace('\n', "\r\n").as_bytes()), expected);
    assert!(read(b"").is_empty() && read(b"\n\r\n").is_empty());
}

#[test]
fn gzip_is_found_by_content() {
    let text = b">a\nACGT\n";
    assert_eq!(read(&zip(text)), read(text));
    // Several members, as bgzip writes them.
    assert_eq!(read(&[zip(b">a\nAC"), zip(b"GT\n")].concat()), read(text));
    assert!(read(&zip(b"")).is_empty());
    let cut = &zip(&b">a\nACGT\n".repeat(100))[..30];
    assert!(matches!(read_fasta(cut, "text", None, u64::MAX), Err(Error::Io { .. })));
}

#[test]
fn long_lines() {
    let letters = "ACGT".repeat(100_000);
    let text = format!(">a\r\n{letters}\r\n>b\n{letters}");
    assert_eq!(read(text.as_bytes()), [sequence("a", "", &letters), sequence("b", "", &letters)]);
}

#[test]
fn errors_name_file_line_and_help() {
    for (text, alphabet, line, what) in [
        ("ACGT\n", None, 1, "before the first header"),
        ("\n>a\nAC-GT\n", None, 3, "'-'"),
        (">a\nAC\nA1\n", None, 3, "'1'"),
        (">a\nAC GT\n", None, 2, "' '"),
        (">\nAC\n", None, 1, "no name"),
        ("> a\nAC\n", None, 1, "no name"),
        (">a\u{1}\n", None, 1, "control character"),
        (">a\nACE\n", Some(Alphabet::Dna), 2, "'E'"),
        (">a\nAC*\n", Some(Alphabet::Dna), 2, "'*'"),
        ("%PDF\0", None, 1, "'%'"),
    ] {
        let error = read_fasta(text.as_bytes(), "my.fa", alphabet, u64::MAX).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(&format!("my.fa, line {line}: ")), "{text:?}: {message}");
        assert!(message.contains(what) && message.contains("\nhelp: "), "{text:?}: {message}");
    }
    let long = format!(">{}\n", "x".repeat(70_000));
    let message = read_fasta(long.as_bytes(), "my.fa", None, u64::MAX).unwrap_err().to_string();
    assert!(message.contains("longer than 65536 bytes"), "{message}");
}

#[test]
fn the_size_is_limited() {
    let text = format!(">a\n{}", "A".repeat(5000));
    assert!(read_fasta(text.as_bytes(), "f", None, 5001).is_ok());
    for bytes in [zip(text.as_bytes()), text.into_bytes()] {
        let error = read_fasta(&bytes[..], "f", None, 5000).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }) && error.to_string().contains("5000 bytes"));
    }
    // Without line ends, as a compressed run of zeros is.
    let error = read_fasta(std::io::repeat(b'A'), "f", None, 5000).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        _ = read_fasta(&bytes[..], "f", None, 1000);
    }

    #[test]
    fn random_text_never_panics(text in "[>A-Ca \t\r\n*\\-\u{7f}é]{0,80}") {
        _ = read_fasta(text.as_bytes(), "f", Some(Alphabet::Dna), 1000);
        let zipped = zip(text.as_bytes());
        _ = read_fasta(&zipped[..zipped.len() - text.len() % 7], "f", None, 1000);
    }

    #[test]
    fn what_is_written_is_read(
        sequences in prop::collection::vec(("[!-~]{1,9}", "[A-Za-z*]{0,90}"), 0..5),
        width in 1..80usize,
    ) {
        let mut text = Vec::new();
        for (name, letters) in &sequences {
            text.extend_from_slice(format!(">{name}\n").as_bytes());
            for line in letters.as_bytes().chunks(width) {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
        }
        let expected: Vec<_> =
            sequences.iter().map(|(name, letters)| sequence(name, "", &letters.to_uppercase())).collect();
        prop_assert_eq!(read(&text), expected);
    }
}
