//! A framing function peeks items and cannot keep them: the firing pops them.

use thalweg::{Graph, input, output};

fn main() {
    let graph = Graph::new();
    let words = graph.source((0..3).map(|i| i.to_string())).named("words");
    let mut kept: Vec<&String> = Vec::new();
    let words = graph
        .kernel("keep", input("in", words), output("out"))
        .framed(move |words| {
            let Some(word) = words.peek(0)? else { return Ok(None) };
            kept.push(word);
            Ok(Some(1))
        })
        .sequential(|words, out| out.push(words.pop()));
    words.for_each(|_| {}).named("words");
}
