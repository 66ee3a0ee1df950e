//! Arrays from files.

use super::Fault;
use crate::hir::Type;
use crate::value::{Elements, Value};
use std::io::Read;
use thalweg_graph::without_mark;

/// The limit of elements in an array from a file.
pub(super) const MAX_ELEMENTS: usize = 1 << 24;

/// Bytes read from the file per requested element.
const PER_ELEMENT: u64 = 64;

/// The first `count` numbers of a text file, separated by white space or commas. The path is relative to the
/// working directory.
///
/// # Errors
/// The file cannot be read, or has too few numbers.
pub(super) fn load(path: &str, count: usize, element: &Type) -> Result<Elements, Fault> {
    let text = read(path, count as u64 * PER_ELEMENT).map_err(|why| Fault(format!("`{path}`: {why}")))?;
    let words =
        without_mark(&text).split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let values = words.take(count).map(|word| number(word, element)).collect::<Option<Elements>>();
    match values {
        Some(values) if values.len() == count => Ok(values),
        Some(values) => Err(Fault(format!("`{path}` has {} numbers, but {count} are needed", values.len()))),
        None => Err(Fault(format!("`{path}` contains something other than numbers"))),
    }
}

/// Reads at most `most` bytes of a regular file; other files may never end.
fn read(path: &str, most: u64) -> std::io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn number(word: &str, element: &Type) -> Option<Value> {
    if *element == Type::Int {
        let whole = word.parse::<i64>().ok().map(|x| x as i32);
        return whole.or_else(|| word.parse::<f32>().ok().map(|x| x as i32)).map(Value::Int);
    }
    word.parse().ok().map(Value::Float)
}
