//! `tee` gives each consumer an item of its own.

struct Page(Vec<u8>);

fn main() {
    let (pages, copies) = thalweg::from_iter([Page(vec![1])]).tee();
    pages.for_each(|page| drop(page.0));
    copies.discard();
}
