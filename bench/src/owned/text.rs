//! The text of the items.

use std::sync::OnceLock;

const WORDS: [&str; 8] = ["river", "to", "bed", "of", "a", "channel", "in", "stones"];

/// A line of about 90 bytes: eight words, each with a number below 1000.
pub fn line(index: u64) -> String {
    let mut text = String::with_capacity(120);
    for place in 0..8 {
        text.push_str(word(index, place));
        text.push(' ');
        text.push_str(&number(index, place).to_string());
        text.push(' ');
    }
    text
}

/// An object in JSON of about 90 bytes.
pub fn json(index: u64) -> String {
    let (user, value) = (word(index, 0), number(index, 3));
    let tags = (word(index, 1), word(index, 2));
    format!(
        r#"{{"id":{index},"user":"{user}-{value}","tags":["{}","{}"],"value":{value}.5,"valid":true}}"#,
        tags.0, tags.1
    )
}

/// A block of text of this many bytes.
pub fn block(index: u64, bytes: usize) -> Vec<u8> {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    const BYTES: usize = 1 << 20;
    let text =
        TEXT.get_or_init(|| (0..BYTES as u64 / 64).flat_map(|index| line(index).into_bytes()).collect());
    let start = (index as usize).wrapping_mul(4093) % (text.len() - bytes);
    text[start..start + bytes].to_vec()
}

fn word(index: u64, place: u64) -> &'static str {
    WORDS[((index * 5 + place * 11) % 8) as usize]
}

fn number(index: u64, place: u64) -> u64 {
    index * (place + 1) % 1000
}
