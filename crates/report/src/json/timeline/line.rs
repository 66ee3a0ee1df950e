//! An event as the file has it, of any kind: what a kind lacks is left out.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The fields stand in the order of the file: `ts` before names.
#[derive(Default, Serialize, Deserialize)]
#[serde(expecting = "the object of an event")]
pub(super) struct Line<'d> {
    /// The kind of event, for viewers.
    #[serde(borrow)]
    pub(super) ph: Cow<'d, str>,
    pub(super) pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tid: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ts: Option<Micros>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dur: Option<Micros>,
    /// The scope of an event without a length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) s: Option<Cow<'d, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<u32>,
    #[serde(default, borrow)]
    pub(super) name: Cow<'d, str>,
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    pub(super) cat: Cow<'d, str>,
    #[serde(default, borrow)]
    pub(super) args: Arguments<'d>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(expecting = "the object of an event's arguments")]
pub(super) struct Arguments<'d> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<Cow<'d, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) events: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sort_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) firings: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) steals: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<u32>,
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    pub(super) ended: Cow<'d, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) channel: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) items: Option<u32>,
    #[serde(rename = "blocked by", skip_serializing_if = "Option::is_none")]
    pub(super) blocked_by: Option<Cow<'d, str>>,
}

impl<'d> Line<'d> {
    /// A metadata event.
    pub(super) fn metadata(
        pid: u32,
        tid: Option<usize>,
        name: &'static str,
        args: Arguments<'d>,
    ) -> Line<'d> {
        Line { ph: "M".into(), pid, tid, name: name.into(), args, ..Line::default() }
    }

    /// A metadata event that names a process.
    pub(super) fn process(pid: u32, name: &'static str) -> Line<'d> {
        Line::metadata(
            pid,
            None,
            "process_name",
            Arguments { name: Some(name.into()), ..Arguments::default() },
        )
    }

    /// A metadata event that names a thread.
    pub(super) fn thread(pid: u32, tid: usize, name: Cow<'d, str>) -> Line<'d> {
        Line::metadata(pid, Some(tid), "thread_name", Arguments { name: Some(name), ..Arguments::default() })
    }

    /// A metadata event that orders the threads of a process.
    pub(super) fn sort_index(pid: u32, tid: usize, index: usize) -> Line<'d> {
        let args = Arguments { sort_index: Some(index), ..Arguments::default() };
        Line::metadata(pid, Some(tid), "thread_sort_index", args)
    }
}

/// A time in nanoseconds, which the file has in microseconds with three decimals: exact, as no `f64` is.
#[derive(Clone, Copy)]
pub(super) struct Micros(pub(super) u64);

impl Serialize for Micros {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Micros(ns) = self;
        let text = format!("{}.{:03}", ns / 1000, ns % 1000);
        RawValue::from_string(text).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

impl<'d> Deserialize<'d> for Micros {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Micros, D::Error> {
        let text = <&RawValue>::deserialize(from)?.get();
        exact_nanos(text).map(Micros).ok_or_else(|| {
            let found = super::super::place::excerpt(text);
            serde::de::Error::custom(format_args!(
                "expected a time in microseconds, with at most three decimals, found `{found}`"
            ))
        })
    }
}

/// The nanoseconds in a decimal number of microseconds.
fn exact_nanos(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    if decimals.len() > 3 {
        return None;
    }
    let part = decimals.parse::<u64>().ok()? * 10_u64.pow(3 - decimals.len() as u32);
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)
}
