//! An adaptor's threads may outlive the caller: items and functions that borrow need a scope.

use thalweg::ParallelExt;

fn main() {
    let words = vec![String::from("a"), String::from("b")];
    let _ = words.iter().par_map(|word| word.len());
}
