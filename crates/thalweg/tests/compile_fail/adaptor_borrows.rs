//! The iterator adaptor's threads are nobody's children: for what borrows there is a scope.

use thalweg::ParallelExt;

fn main() {
    let words = vec![String::from("a"), String::from("b")];
    let _ = words.iter().par_map(|word| word.len());
}
