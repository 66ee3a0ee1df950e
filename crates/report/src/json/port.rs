//! The ports of a node: names, types of items, rates.

use super::value::{Form, Read, Value};
use super::write::{Fields, Quoted};
use std::collections::HashSet;
use thalweg_graph::{Bounds, InPort, Item, OutPort, Rate};

/// The most memory that the names of types in one document may take, since the process keeps them.
const MAX_NAMES: usize = 10 << 20;

/// What the process keeps of a name besides its characters, about.
const PER_NAME: usize = 64;

/// The distinct names of types in a document.
#[derive(Default)]
pub(super) struct TypeNames {
    seen: HashSet<&'static str>,
    bytes: usize,
}

impl TypeNames {
    /// The item type of a port.
    fn item(&mut self, port: &Value<'_>) -> Read<Item> {
        let (value, bytes) = (port.field("item")?, port.count("bytes")?);
        let name = value.string()?;
        if !self.seen.contains(name) {
            if name.chars().any(char::is_control) {
                return Err(value.misfit("the name of a type, without control characters"));
            }
            self.bytes = self.bytes.saturating_add(name.len() + PER_NAME);
            if self.bytes > MAX_NAMES {
                return Err(value.misfit("at most 10 MiB of names of types"));
            }
        }
        let item = Item::named(name, bytes);
        self.seen.insert(item.name);
        Ok(item)
    }
}

pub(super) fn write_input(port: &InPort, to: &mut Fields<'_>) {
    to.string("name", &port.name);
    write_item(port.item, to);
    write_rate("pop", port.pop, to);
    to.count("peek", port.peek);
    write_bounds(port.bounds, to);
    if let Some(first) = port.first {
        to.object("first", |to| {
            write_rate("pop", first.pop, to);
            to.count("peek", first.peek);
        });
    }
}

pub(super) fn read_input(value: &Value<'_>, types: &mut TypeNames) -> Read<InPort> {
    let port = InPort::new(value.field("name")?.string()?, types.item(value)?);
    let (pop, peek) = read_window(value)?;
    let mut port = port.pop(pop).peek(peek);
    port.bounds = read_bounds(value)?;
    if let Some(first) = value.optional("first")? {
        let (pop, peek) = read_window(first)?;
        port = port.first(pop, peek);
    }
    Ok(port)
}

/// Items popped, and items that may be read.
fn read_window(value: &Value<'_>) -> Read<(Rate, u64)> {
    let (pop, peek) = (read_rate("pop", value)?, value.count("peek")?);
    let least = pop.fixed().unwrap_or(0);
    if peek < least {
        return Err(value.field("peek")?.misfit(format!("at least the pop rate, which is {least}")));
    }
    Ok((pop, peek))
}

pub(super) fn write_output(port: &OutPort, to: &mut Fields<'_>) {
    to.string("name", &port.name);
    write_item(port.item, to);
    write_rate("push", port.push, to);
    write_bounds(port.bounds, to);
    if let Some(first) = port.first {
        to.object("first", |to| write_rate("push", first, to));
    }
}

pub(super) fn read_output(value: &Value<'_>, types: &mut TypeNames) -> Read<OutPort> {
    let port = OutPort::new(value.field("name")?.string()?, types.item(value)?);
    let mut port = port.push(read_rate("push", value)?);
    port.bounds = read_bounds(value)?;
    match value.optional("first")? {
        Some(first) => Ok(port.first(read_rate("push", first)?)),
        None => Ok(port),
    }
}

fn write_bounds(bounds: Option<Bounds>, to: &mut Fields<'_>) {
    let Some(Bounds { least, average, most }) = bounds else { return };
    to.object("bounds", |to| {
        to.count("least", least);
        to.limit("average", average);
        to.limit("most", most);
    });
}

fn read_bounds(port: &Value<'_>) -> Read<Option<Bounds>> {
    let Some(value) = port.optional("bounds")? else { return Ok(None) };
    let (least, average, most) = (value.count("least")?, value.limit("average")?, value.limit("most")?);
    Ok(Some(Bounds { least, average, most }))
}

fn write_item(item: Item, to: &mut Fields<'_>) {
    to.string("item", item.name);
    to.count("bytes", item.bytes);
}

const DYNAMIC: &str = "dynamic";

fn write_rate(name: &str, rate: Rate, to: &mut Fields<'_>) {
    match rate {
        Rate::Static(items) => to.count(name, items),
        Rate::Dynamic => to.count(name, Quoted(DYNAMIC)),
    }
}

fn read_rate(name: &'static str, port: &Value<'_>) -> Read<Rate> {
    let value = port.field(name)?;
    match &value.form {
        Form::String(text) if text == DYNAMIC => Ok(Rate::Dynamic),
        Form::Number(_) => value.integer().map(Rate::Static),
        _ => Err(value.misfit("a number of items, or `dynamic`")),
    }
}
