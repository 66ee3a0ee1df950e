//! A run that was started may outlive the caller's frame, so it borrows nothing from it.

use thalweg::from_iter;

fn main() {
    let words = vec![String::from("a"), String::from("b")];
    let lengths = from_iter(words.iter()).map(|word| word.len());
    let _ = lengths.start();
}
