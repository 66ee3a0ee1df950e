//! The table of a record: chunks and entries in stream order.

use crate::entry::Entry;
use crate::wire::{Fields, Parsed, put_number};

const NEW: u8 = 0;
const DUPLICATE: u8 = 1;

/// One item of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// The next `length` bytes of this record's data.
    New { length: u32 },
    /// `length` bytes, beginning `distance` bytes before the end of the unique data so far.
    Duplicate { length: u32, distance: u64 },
    /// An entry of a tree.
    Entry(Entry),
}

pub(crate) fn put_new(out: &mut Vec<u8>, length: u32) {
    out.push(NEW);
    put_number(out, u64::from(length));
}

pub(crate) fn put_duplicate(out: &mut Vec<u8>, length: u32, distance: u64) {
    out.push(DUPLICATE);
    put_number(out, u64::from(length));
    put_number(out, distance);
}

/// Reads the next item of an archive of this version. Returns `None` at the end of the table.
pub(crate) fn next(fields: &mut Fields<'_>, version: u16) -> Parsed<Option<Item>> {
    if fields.is_empty() {
        return Ok(None);
    }
    let item = match fields.u8()? {
        NEW => Item::New { length: length(fields)? },
        DUPLICATE => Item::Duplicate { length: length(fields)?, distance: fields.number()? },
        tag => Item::Entry(Entry::get(tag, fields, version)?),
    };
    Ok(Some(item))
}

fn length(fields: &mut Fields<'_>) -> Parsed<u32> {
    match u32::try_from(fields.number()?) {
        Ok(0) => Err("a chunk is empty".into()),
        Ok(length) => Ok(length),
        Err(_) => Err("a chunk is larger than 4 GiB".into()),
    }
}
