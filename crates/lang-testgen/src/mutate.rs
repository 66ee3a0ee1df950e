//! Broken program texts.

use super::Choices;
use std::ops::Range;
use thalweg_lang::lexer::lex;
use thalweg_lang::source::Source;

/// Replacement tokens.
const WORDS: [&str; 48] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "<",
    ">",
    "+",
    "-",
    "++",
    "=",
    "==",
    "*",
    "?",
    ":",
    "0",
    "1",
    "-1",
    "2147483647",
    "99999999999",
    "1e40",
    "0xFFFFFFFF",
    "1.5",
    "true",
    "pop",
    "peek",
    "push",
    "work",
    "prework",
    "init",
    "filter",
    "pipeline",
    "splitjoin",
    "feedbackloop",
    "add",
    "split",
    "join",
    "enqueue",
    "void",
    "int",
    "float[9]",
    "for",
    "Main1",
    "\"",
    "/*",
];

/// A text with some tokens dropped, duplicated, swapped, replaced, or copied from another text.
pub fn mutated(text: &str, other: &str, choices: &mut Choices) -> String {
    let (mut tokens, others) = (pieces(text), pieces(other));
    for _ in 0..choices.within(1, 4) {
        if tokens.is_empty() {
            break;
        }
        let stretch = stretch(tokens.len(), choices);
        match choices.below(8) {
            0 | 1 => drop(tokens.drain(stretch)),
            2 => {
                let again = tokens[stretch.clone()].to_vec();
                tokens.splice(stretch.end..stretch.end, again);
            }
            3 => {
                let with = choices.below(tokens.len() as u32) as usize;
                tokens.swap(stretch.start, with);
            }
            4 | 5 => tokens[stretch.start] = (*choices.pick(&WORDS)).to_owned(),
            6 => tokens[stretch.start] = choices.below(1 << 20).to_string(),
            _ if others.is_empty() => {}
            _ => {
                let from = self::stretch(others.len(), choices);
                tokens.splice(stretch, others[from].iter().cloned());
            }
        }
    }
    tokens.join(" ")
}

/// A range of tokens, mostly short.
fn stretch(count: usize, choices: &mut Choices) -> Range<usize> {
    let start = choices.below(count as u32) as usize;
    let length = match choices.below(8) {
        7 => choices.within(1, 200),
        6 => choices.within(1, 20),
        _ => 1,
    };
    start..count.min(start + length as usize)
}

fn pieces(text: &str) -> Vec<String> {
    let source = Source { name: String::new(), text: text.to_owned() };
    let tokens = lex(0, &source, &mut Vec::new());
    let places = tokens.iter().map(|token| token.span.start() as usize..token.span.end() as usize);
    places.filter(|place| !place.is_empty()).map(|place| text[place].to_owned()).collect()
}
