//! The measurements of a channel, with its name for readers of the file, and the growth of a channel.

use super::node::label;
use super::value::{Read, Value};
use super::write::Fields;
use thalweg_graph::ChannelId;
use thalweg_trace::{ChannelReport, Growth, Limit};

/// Writes the measurements of the channel with this name, which a report without a graph lacks.
pub(super) fn write(name: Option<&str>, channel: &ChannelReport, to: &mut Fields<'_>) {
    let ChannelReport {
        items,
        bytes,
        peak_bytes,
        capacity,
        peak,
        mean,
        leftover,
        remote,
        consumer_waited,
        producer_waited,
    } = *channel;
    if let Some(name) = name {
        to.string("channel", name);
    }
    to.count("items", items);
    to.count("bytes", bytes);
    to.limit("peak_bytes", Some(peak_bytes).filter(|bytes| *bytes > 0));
    to.count("capacity", capacity);
    to.measure("peak", peak);
    to.measure("mean", mean);
    to.count("leftover", leftover);
    to.count("remote", remote);
    to.any_nanos("consumer_waited_ns", consumer_waited);
    to.any_nanos("producer_waited_ns", producer_waited);
}

/// Reads the measurements of the channel with this name.
pub(super) fn read(name: &str, value: &Value<'_>) -> Read<ChannelReport> {
    label("channel", name, value)?;
    Ok(ChannelReport {
        items: value.count("items")?,
        bytes: value.count("bytes")?,
        peak_bytes: value.limit("peak_bytes")?.unwrap_or(0),
        capacity: value.count("capacity")?,
        peak: value.measure("peak")?,
        mean: value.measure("mean")?,
        leftover: value.count("leftover")?,
        remote: value.count("remote")?,
        consumer_waited: value.any_nanos("consumer_waited_ns")?,
        producer_waited: value.any_nanos("producer_waited_ns")?,
    })
}

pub(super) fn write_growth(growth: &Growth, to: &mut Fields<'_>) {
    let Growth { channel, limit, from, to: raised, at } = *growth;
    to.count("channel", channel.0);
    to.string("limit", &limit.to_string());
    to.count("from", from);
    to.count("to", raised);
    to.nanos("at_ns", at);
}

/// Reads a growth in a graph with this number of channels.
pub(super) fn read_growth(channels: usize, value: &Value<'_>) -> Read<Growth> {
    let channel = ChannelId(value.field("channel")?.index(channels, "channels")? as u32);
    let limit = value.field("limit")?;
    let limit = match limit.string()? {
        "items" => Limit::Items,
        "bytes" => Limit::Bytes,
        _ => return Err(limit.misfit("`items` or `bytes`")),
    };
    let at = value.nanos("at_ns")?;
    Ok(Growth { channel, limit, from: value.count("from")?, to: value.count("to")?, at })
}
