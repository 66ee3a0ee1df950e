//! Arrays from files.

use super::Fault;
use crate::hir::Type;
use crate::value::{Elements, Value};
use std::io::Read;

/// The most elements that are read.
pub(super) const MOST: usize = 1 << 24;

/// Bytes that are read of a file for each element that is wanted.
const PER_ELEMENT: u64 = 64;

/// The first `count` numbers in a text file; what is between them is white space or commas. A path is
/// relative to the working directory.
///
/// # Errors
/// It cannot be read, or there are fewer.
pub(super) fn load(path: &str, count: usize, element: &Type) -> Result<Elements, Fault> {
    let text = read(path, count as u64 * PER_ELEMENT).map_err(|why| Fault(format!("`{path}`: {why}")))?;
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    let values = words.take(count).map(|word| number(word, element)).collect::<Option<Elements>>();
    match values {
        Some(values) if values.len() == count => Ok(values),
        Some(values) => {
            Err(Fault(format!("`{path}` has {} numbers, and {count} are asked for", values.len())))
        }
        None => Err(Fault(format!("`{path}` has something else than numbers in it"))),
    }
}

/// At most so much of a plain file: another kind may never end.
fn read(path: &str, most: u64) -> std::io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(std::io::Error::other("not a plain file"));
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
