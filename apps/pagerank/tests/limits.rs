//! The memory of a graph is announced before it is read, and refused before it is allocated.

use std::io::{self, Read};

use thalweg_pagerank::{Error, Estimate, Input, Rmat};

/// What is announced of an input.
fn announced(input: &Input, bytes: impl Read, length: Option<u64>) -> (Option<Estimate>, Option<Error>) {
    let mut announced = None;
    let error = input.read(bytes, length, |size| announced = Some(size.clone())).err();
    (announced, error)
}

/// A text of many megabytes, made as it is read, and the bytes that have been read.
struct Endless {
    number: u64,
    line: Vec<u8>,
    read: u64,
}

impl Read for Endless {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            self.number += 1;
            self.line = format!("{}\t{}\n", self.number % 1000, self.number).into_bytes();
        }
        let length = self.line.len().min(bytes.len());
        bytes[..length].copy_from_slice(&self.line[..length]);
        self.line.drain(..length);
        self.read += length as u64;
        Ok(length)
    }
}

#[test]
fn a_small_file_is_counted() {
    let text = "# comment\n1 2\n\n2 3\n3 1";
    let (size, error) = announced(&Input::new("test"), text.as_bytes(), Some(text.len() as u64));
    let size = size.unwrap();
    assert!(error.is_none());
    assert_eq!((size.links, size.pages, size.exact, size.bytes), (Some(3), None, true, Some(36)));
}

#[test]
fn the_links_of_a_large_file_are_estimated_and_refused() {
    let length = 100 << 30;
    let mut endless = Endless { number: 0, line: Vec::new(), read: 0 };
    let (size, error) = announced(&Input::new("test").memory(1 << 30), &mut endless, Some(length));
    let size = size.unwrap();
    // Lines of the first MiB have 7 to 10 bytes.
    let links = size.links.unwrap();
    assert!((length / 10..length / 7).contains(&links) && !size.exact, "{size:?}");
    assert!(matches!(error, Some(Error::Memory { limit: 0x4000_0000, .. })), "{error:?}");
    assert!(endless.read <= 1 << 20, "{} bytes are read", endless.read);
}

#[test]
fn an_input_of_unknown_length_is_refused_when_it_is_too_large() {
    let mut endless = Endless { number: 0, line: Vec::new(), read: 0 };
    // An end, so that the test fails where nothing is refused.
    let input = endless.by_ref().take(64 << 20);
    let (size, error) = announced(&Input::new("test").memory(20 << 20), input, None);
    assert_eq!(size.unwrap().links, None);
    let Some(Error::Memory { needed, limit, links, pages, .. }) = error else { panic!("{error:?}") };
    assert!(
        needed > limit && links > 1000 && pages > Some(1000) && links < 1 << 20,
        "{links} links, {pages:?} pages"
    );
}

#[test]
fn a_declared_size_is_refused_before_the_entries() {
    for size in ["4000000000 4000000000 1", "10 10 18446744073709551615"] {
        let text = format!("%%MatrixMarket matrix coordinate pattern general\n{size}\n1 1\n");
        let (size, error) = announced(&Input::new("test").memory(1 << 30), text.as_bytes(), None);
        assert!(size.unwrap().bytes.unwrap() > 1 << 30);
        assert!(matches!(error, Some(Error::Memory { .. })), "{error:?}");
    }
    let text = "%%MatrixMarket matrix coordinate pattern general\n5000000000 5000000000 1\n";
    let (_, error) = announced(&Input::new("test"), text.as_bytes(), None);
    assert!(matches!(error, Some(Error::TooManyPages { .. })), "{error:?}");
}

#[test]
fn weights_and_both_directions_cost_memory() {
    let text = "%%MatrixMarket matrix coordinate real symmetric\n100 100 1\n2 1 0.5\n";
    let (size, _) = announced(&Input::new("test"), text.as_bytes(), None);
    let size = size.unwrap();
    assert_eq!(
        (size.links, size.pages, size.bytes_per_link, size.bytes),
        (Some(2), Some(100), 28, Some(4856))
    );
    let (size, _) = announced(&Input::new("test").weights(false), text.as_bytes(), None);
    assert_eq!(size.unwrap().bytes_per_link, 12);
    let (size, _) = announced(&Input::new("test").undirected(true), &b"1 2\n"[..], Some(4));
    assert_eq!(size.unwrap().links, Some(2));
}

#[test]
fn a_random_graph_is_refused_before_it_is_made() {
    let mut announced = None;
    let error = Rmat::new(31).memory(1 << 30).graph(|size| announced = Some(size.clone())).unwrap_err();
    assert_eq!(announced.unwrap().links, Some(16 << 31));
    assert!(matches!(error, Error::Memory { .. }), "{error}");
}
