//! Parses the words of a plan's lines. Errors say what was expected and what was found; the reader adds the line.

use crate::Fingerprint;
use crate::escape::unescape;
use std::collections::BTreeMap;

pub(crate) fn number(word: &str) -> Result<usize, String> {
    between(word, 0, usize::MAX)
}

pub(crate) fn between(word: &str, least: usize, most: usize) -> Result<usize, String> {
    let found = word.parse().ok().filter(|n| (least..=most).contains(n));
    found.ok_or_else(|| format!("expected a number from {least} to {most}, found `{word}`"))
}

pub(crate) fn narrow(word: &str) -> Result<u32, String> {
    between(word, 0, u32::MAX as usize).map(|n| n as u32)
}

/// The numbers at the begin of `words`, and the words that follow them.
pub(crate) fn numbers<'a, 'w>(words: &'a [&'w str]) -> Result<(Vec<u32>, &'a [&'w str]), String> {
    let is_number = |word: &&str| word.bytes().next().is_some_and(|byte| !byte.is_ascii_lowercase());
    let (numbers, rest) = words.split_at(words.iter().take_while(|word| is_number(word)).count());
    Ok((numbers.iter().map(|word| narrow(word)).collect::<Result<_, _>>()?, rest))
}

pub(crate) fn fingerprint(hash: &str, nodes: &str, channels: &str) -> Result<Fingerprint, String> {
    let digits = hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let hash = u64::from_str_radix(hash, 16).ok().filter(|_| digits);
    let hash = hash.ok_or("expected 16 hexadecimal digits after `graph`")?;
    Ok(Fingerprint::new(number(nodes)?, number(channels)?, hash))
}

pub(crate) fn unescaped(word: &str) -> Result<String, String> {
    unescape(word)
        .ok_or_else(|| format!("invalid escape in `{word}`: expected `\\u{{hex}}` after a backslash"))
}

pub(crate) fn once<T>(slot: &mut Option<T>, value: T, name: &str) -> Result<(), String> {
    if slot.is_some() {
        return Err(format!("duplicate `{name}`"));
    }
    *slot = Some(value);
    Ok(())
}

/// Adds the entry of a node or channel, which must have none.
pub(crate) fn entry<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: V, name: &str) -> Result<(), String> {
    match map.insert(key, value) {
        Some(_) => Err(format!("duplicate `{name}`")),
        None => Ok(()),
    }
}

pub(crate) fn next(list: &mut Vec<usize>, id: &str, value: usize, name: &str) -> Result<(), String> {
    if number(id)? != list.len() {
        return Err(format!("expected {name} {}, found {name} {id}", list.len()));
    }
    list.push(value);
    Ok(())
}
