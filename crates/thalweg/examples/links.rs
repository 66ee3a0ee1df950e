//! Crawls Markdown pages from a first one on, reads them on all cores, and reports links to files that are missing.
//!
//! ```text
//! cargo run --release --example links -- [PAGE]
//!
//! PAGE  the first page [default: README.md of this repository]
//! ```
//!
//! The crawl is a loop: links that a page contains go back to the node that knows which pages have been seen. It ends
//! when no page is left. The pages come in the same order at any number of threads: breadth first.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use thalweg::prelude::*;
use thalweg::{input, output};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let first = std::env::args().nth(1).unwrap_or_else(|| readme.to_owned());
    let pages = crawl(fs::canonicalize(first)?)?;
    for page in &pages {
        println!("{}: {} links", page.path.display(), page.links + page.missing.len());
        page.missing.iter().for_each(|link| println!("    missing: {link}"));
    }
    let missing: usize = pages.iter().map(|page| page.missing.len()).sum();
    println!("{} pages, {missing} missing links", pages.len());
    Ok(())
}

/// A page that was read.
struct Page {
    path: PathBuf,
    /// Links to files that exist.
    links: usize,
    /// Links to files that do not.
    missing: Vec<String>,
}

/// Reads the pages that can be reached from the first one.
fn crawl(first: PathBuf) -> Result<Vec<Page>, thalweg::Error> {
    let graph = Graph::new();
    let (back, found) = graph.feedback([]);
    let start = graph.source([vec![first]]);
    let mut seen = HashSet::new();
    let new = graph
        .kernel("visit", (input("start", start), input("found", found)), output("pages"))
        // The first page, then what pages link to: by data, and not by what has arrived.
        .framed(|(start, found)| match start.peek(0)? {
            Some(_) => Ok(Some([1, 0])),
            None => Ok(found.peek(0)?.map(|_| [0, 1])),
        })
        .sequential(move |(start, found), pages| {
            let links = start.try_pop().or_else(|| found.try_pop()).unwrap_or_default();
            pages.extend(links.into_iter().filter(|path| seen.insert(path.clone())));
        });
    let (pages, links) = graph
        .kernel("read", input("pages", new), (output("pages").push(1), output("links").push(1)))
        .parallel(|paths, (pages, links)| {
            let (page, next) = read(paths.pop());
            pages.push(page);
            links.push(next);
        });
    links.feed(back);
    Ok(pages.collect().run()?.into_value())
}

/// The page, and the pages that it links to.
fn read(path: PathBuf) -> (Page, Vec<PathBuf>) {
    let text = fs::read_to_string(&path).unwrap_or_default();
    let folder = path.parent().unwrap_or(Path::new("."));
    let (mut links, mut missing, mut next) = (0, Vec::new(), Vec::new());
    for link in targets(&text) {
        match fs::canonicalize(folder.join(link)) {
            Ok(file) => {
                links += 1;
                next.extend(file.extension().is_some_and(|end| end == "md").then_some(file));
            }
            Err(_) => missing.push(link.to_owned()),
        }
    }
    (Page { path, links, missing }, next)
}

/// The files of links `[text](file#place)` and of definitions `[label]: file#place`, outside of code.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let prose = text.split("```").step_by(2);
    let links = prose.flat_map(|prose| {
        let inline = prose.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        let definitions = prose.lines().filter_map(|line| Some(line.strip_prefix('[')?.split_once("]: ")?.1));
        inline.chain(definitions)
    });
    let files = links.filter_map(|link| link.split('#').next());
    files.filter(|file| !file.is_empty() && !file.contains(':') && !file.contains(char::is_whitespace))
}
