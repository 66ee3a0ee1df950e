//! The results of a scope cannot leave it.

fn main() {
    let words = vec![String::from("a"), String::from("b")];
    let ordered = thalweg::scope(|scope| scope.par_map(words.iter(), |word: &String| word.len()));
    drop(ordered);
}
