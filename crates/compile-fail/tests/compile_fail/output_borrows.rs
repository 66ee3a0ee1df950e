//! Data that an output's value borrows must outlive the graph.

use thalweg::Graph;

fn main() {
    let graph = Graph::new();
    let longest = {
        let words = vec![String::from("a"), String::from("bb")];
        graph.source(words.iter()).fold("", |last, word| if word.len() > last.len() { word } else { last })
    };
    let longest = longest.run().unwrap().into_value();
    assert_eq!(longest, "bb");
}
