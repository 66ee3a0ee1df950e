//! Reads a timeline.

use super::super::value::{Read, Value};
use super::super::{ReadError, check_version, parse};
use super::{FORMAT, THREADS, VERSION, event, tid};
use thalweg_graph::{GraphData, without_mark};
use thalweg_trace::{Timeline, Track};

/// Reads a timeline of a run of this graph.
pub(crate) fn read(text: &str, graph: &GraphData) -> Result<Timeline, ReadError> {
    let text = without_mark(text);
    let root = parse::parse(text)?;
    read_timeline(&root, graph).map_err(|misfit| misfit.located(text, &root))
}

fn read_timeline(root: &Value<'_>, graph: &GraphData) -> Read<Timeline> {
    let header = root.field("otherData")?;
    check_version(header, FORMAT, VERSION)?;
    check_graph(header, "nodes", graph.nodes().len())?;
    check_graph(header, "channels", graph.channels().len())?;
    let threads: usize = header.count("threads")?;
    let events = root.field("traceEvents")?;
    let mut reader = Reader { graph, tracks: Vec::new(), expected: Vec::new() };
    for value in events.array()?.iter() {
        reader.read(&value)?;
    }
    if reader.tracks.len() != threads {
        let found = format!("the names of {}", reader.tracks.len());
        return Err(events.mismatch(format!("the names of {threads} threads"), found));
    }
    for (track, expected) in reader.tracks.iter().zip(&reader.expected) {
        if track.events.len() != *expected {
            let name = super::super::place::excerpt(&track.name);
            let found = track.events.len().to_string();
            return Err(events.mismatch(format!("{expected} events of `{name}`"), found));
        }
    }
    Ok(Timeline { tracks: reader.tracks })
}

/// Checks a number of nodes or channels.
fn check_graph(header: &Value<'_>, of: &'static str, count: usize) -> Read<()> {
    let value = header.field(of)?;
    if value.integer::<usize>()? == count {
        return Ok(());
    }
    Err(value.misfit(format!("{count}, as many {of} as the graph has")))
}

struct Reader<'g> {
    graph: &'g GraphData,
    tracks: Vec<Track>,
    /// The number of events of each track.
    expected: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self, value: &Value<'_>) -> Read<()> {
        if value.field("pid")?.integer::<u32>()? != THREADS {
            return Ok(());
        }
        if value.field("ph")?.string()? == "M" {
            return self.read_name(value);
        }
        let Some(event) = event::read(value, self.graph)? else { return Ok(()) };
        let id = value.field("tid")?;
        let track = id.integer::<usize>()?.checked_sub(tid(0)).and_then(|thread| self.tracks.get_mut(thread));
        let Some(track) = track else { return Err(id.misfit("the id of a thread named before")) };
        track.events.push(event);
        Ok(())
    }

    /// Reads the name of the next thread.
    fn read_name(&mut self, value: &Value<'_>) -> Read<()> {
        if value.field("name")?.string()? != "thread_name" {
            return Ok(());
        }
        let (id, arguments) = (value.field("tid")?, value.field("args")?);
        let next = tid(self.tracks.len());
        if id.integer::<usize>()? != next {
            return Err(id.misfit(format!("{next}, the id of the next thread")));
        }
        let name = arguments.field("name")?.string()?.to_owned();
        self.tracks.push(Track { name, events: Vec::new(), lost: arguments.count("lost")? });
        self.expected.push(arguments.count("events")?);
        Ok(())
    }
}
