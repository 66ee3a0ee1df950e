//! The ports of a node: names, types of items, rates.

use super::place::Step;
use super::problem::{Check, Problem};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use thalweg_graph::{Bounds, InPort, Item, OutPort, Rate};

/// Maximum number of bytes that the names of types in one document may take, since the process keeps them.
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
    fn item(&mut self, name: &str, bytes: usize) -> Check<Item> {
        let problem = |expected: &str| Err(Problem::new(expected).within("item"));
        if !self.seen.contains(name) {
            if name.chars().any(char::is_control) {
                return problem("the name of a type, without control characters");
            }
            self.bytes = self.bytes.saturating_add(name.len() + PER_NAME);
            if self.bytes > MAX_NAMES {
                return problem("at most 10 MiB of names of types");
            }
        }
        let item = Item::named(name, bytes);
        self.seen.insert(item.name());
        Ok(item)
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct InputEntry<'d> {
    #[serde(borrow)]
    name: Cow<'d, str>,
    #[serde(borrow)]
    item: Cow<'d, str>,
    bytes: usize,
    #[serde(with = "RateForm")]
    pop: Rate,
    peek: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<BoundsEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<FirstInput>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct OutputEntry<'d> {
    #[serde(borrow)]
    name: Cow<'d, str>,
    #[serde(borrow)]
    item: Cow<'d, str>,
    bytes: usize,
    #[serde(with = "RateForm")]
    push: Rate,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<BoundsEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<FirstOutput>,
}

#[derive(Serialize, Deserialize)]
struct FirstInput {
    #[serde(with = "RateForm")]
    pop: Rate,
    peek: u64,
}

#[derive(Serialize, Deserialize)]
struct FirstOutput {
    #[serde(with = "RateForm")]
    push: Rate,
}

#[derive(Serialize, Deserialize)]
struct BoundsEntry {
    least: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    average: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most: Option<u64>,
}

impl From<Bounds> for BoundsEntry {
    fn from(bounds: Bounds) -> BoundsEntry {
        BoundsEntry { least: bounds.least(), average: bounds.average(), most: bounds.most() }
    }
}

impl From<BoundsEntry> for Bounds {
    fn from(entry: BoundsEntry) -> Bounds {
        Bounds::new(entry.least, entry.average, entry.most)
    }
}

/// A number of items, or `"dynamic"`.
#[derive(Serialize, Deserialize)]
#[serde(untagged, remote = "Rate", expecting = "expected a number of items, or `dynamic`")]
enum RateForm {
    Static(u64),
    #[serde(with = "dynamic")]
    Dynamic,
}

mod dynamic {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Word {
        Dynamic,
    }

    pub(super) fn serialize<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
        Word::Dynamic.serialize(serializer)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<(), D::Error> {
        Word::deserialize(from).map(|Word::Dynamic| ())
    }
}

impl<'g> From<&'g InPort> for InputEntry<'g> {
    fn from(port: &'g InPort) -> InputEntry<'g> {
        InputEntry {
            name: port.name().into(),
            item: port.item().name().into(),
            bytes: port.item().bytes(),
            pop: port.pop(),
            peek: port.peek(),
            bounds: port.bounds().map(BoundsEntry::from),
            first: port.first().map(|first| FirstInput { pop: first.pop(), peek: first.peek() }),
        }
    }
}

impl InputEntry<'_> {
    pub(super) fn port(self, types: &mut TypeNames) -> Check<InPort> {
        let port = InPort::new(self.name, types.item(&self.item, self.bytes)?);
        check_peek(self.pop, self.peek)?;
        let port = port.with_pop(self.pop).with_peek(self.peek).with_bounds(self.bounds.map(Bounds::from));
        let Some(FirstInput { pop, peek }) = self.first else { return Ok(port) };
        check_peek(pop, peek).map_err(|problem| problem.within("first"))?;
        Ok(port.with_first(pop, peek))
    }
}

/// Checks that a port may read the items that it pops.
fn check_peek(pop: Rate, peek: u64) -> Check<()> {
    let least = pop.fixed().unwrap_or(0);
    if peek >= least {
        return Ok(());
    }
    Err(Problem::new(format!("at least the pop rate, which is {least}")).within("peek"))
}

impl<'g> From<&'g OutPort> for OutputEntry<'g> {
    fn from(port: &'g OutPort) -> OutputEntry<'g> {
        OutputEntry {
            name: port.name().into(),
            item: port.item().name().into(),
            bytes: port.item().bytes(),
            push: port.push(),
            bounds: port.bounds().map(BoundsEntry::from),
            first: port.first().map(|push| FirstOutput { push }),
        }
    }
}

impl OutputEntry<'_> {
    pub(super) fn port(self, types: &mut TypeNames) -> Check<OutPort> {
        let port = OutPort::new(self.name, types.item(&self.item, self.bytes)?).with_push(self.push);
        let port = port.with_bounds(self.bounds.map(Bounds::from));
        match self.first {
            Some(FirstOutput { push }) => Ok(port.with_first(push)),
            None => Ok(port),
        }
    }
}

/// The ports that entries describe, with the path of a problem.
pub(super) fn ports<E, P>(
    entries: Vec<E>,
    of: &'static str,
    mut port: impl FnMut(E) -> Check<P>,
) -> Check<Vec<P>> {
    let numbered = entries.into_iter().enumerate();
    numbered
        .map(|(i, entry)| port(entry).map_err(|problem| problem.within(i).within(Step::from(of))))
        .collect()
}
