//! Reads a timeline.

use super::line::{Line, Micros};
use super::{THREADS, tid};
use crate::json::problem::{Check, Problem, index};
use crate::json::{ReadError, mark, parse, place};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use thalweg_graph::{ChannelId, GraphData, NodeId, without_mark};
use thalweg_trace::{Ended, Event, Timeline, Track, What};

/// A timeline as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the object of a timeline")]
struct File<'d> {
    other_data: Header,
    #[serde(borrow)]
    trace_events: Vec<Kept<'d>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object about the timeline")]
struct Header {
    threads: usize,
    nodes: usize,
    channels: usize,
}

/// What a reader keeps of a line.
enum Kept<'d> {
    /// The name of a thread.
    Thread { tid: usize, track: Track, events: usize },
    /// An event of a thread. Of a node, its name behind a prefix.
    Event { tid: usize, event: Event, name: Cow<'d, str> },
    /// What follows from the rest, or of a kind that this version does not have.
    Nothing,
    /// What is wrong with the line.
    Wrong(Box<Problem>),
}

/// Reads a timeline of a run of this graph.
pub(crate) fn read(text: &str, graph: &GraphData) -> Result<Timeline, ReadError> {
    let text = without_mark(text);
    let file: File<'_> = parse::parse_marked(text, mark::check_timeline(text))?;
    file.timeline(graph).map_err(|problem| problem.located(text))
}

impl File<'_> {
    /// The timeline, if it is one of this graph.
    fn timeline(self, graph: &GraphData) -> Check<Timeline> {
        let header = &self.other_data;
        let counts = [
            ("nodes", header.nodes, graph.nodes().len()),
            ("channels", header.channels, graph.channels().len()),
        ];
        for (of, found, count) in counts {
            if found != count {
                let problem = Problem::new(format!("{count}, as many {of} as the graph has"));
                return Err(problem.within(of).within("otherData"));
            }
        }
        let threads = header.threads;
        let (mut tracks, mut expected) = (Vec::new(), Vec::new());
        for (i, kept) in self.trace_events.into_iter().enumerate() {
            add(kept, graph, &mut tracks, &mut expected)
                .map_err(|problem| problem.within(i).within("traceEvents"))?;
        }
        check_counts(threads, &tracks, &expected).map_err(|problem| problem.within("traceEvents"))?;
        Ok(Timeline::new(tracks))
    }
}

/// Adds a line to the tracks of the threads that were named before it.
fn add(kept: Kept<'_>, graph: &GraphData, tracks: &mut Vec<Track>, expected: &mut Vec<usize>) -> Check<()> {
    match kept {
        Kept::Nothing => {}
        Kept::Wrong(problem) => return Err(*problem),
        Kept::Thread { tid: id, track, events } => {
            let next = tid(tracks.len());
            if id != next {
                return Err(Problem::new(format!("{next}, the id of the next thread")).within("tid"));
            }
            tracks.push(track);
            expected.push(events);
        }
        Kept::Event { tid: id, event, name } => {
            check_event(&event, &name, graph)?;
            let track = id.checked_sub(tid(0)).and_then(|thread| tracks.get_mut(thread));
            let Some(track) = track else {
                return Err(Problem::new("the id of a thread named before").within("tid"));
            };
            track.events_mut().push(event);
        }
    }
    Ok(())
}

/// Checks that all threads were named, and have as many events as their names say.
fn check_counts(threads: usize, tracks: &[Track], expected: &[usize]) -> Check<()> {
    if tracks.len() != threads {
        let found = format!("the names of {}", tracks.len());
        return Err(Problem::found(format!("the names of {threads} threads"), found));
    }
    for (track, expected) in tracks.iter().zip(expected) {
        if track.events().len() != *expected {
            let expected = format!("{expected} events of `{}`", place::excerpt(track.name()));
            return Err(Problem::found(expected, track.events().len().to_string()));
        }
    }
    Ok(())
}

/// Checks the nodes and channels of an event, and the name of the node.
fn check_event(event: &Event, name: &str, graph: &GraphData) -> Check<()> {
    let channel = |id: ChannelId| {
        index(id.index(), graph.channels().len(), "channels").map_err(|problem| problem.within("channel"))
    };
    let (node, prefix) = match event.what() {
        What::Activation { node, ended, .. } => {
            if let Ended::Empty(id) | Ended::Full(id) = ended {
                channel(id).map_err(|problem| problem.within("args"))?;
            }
            (node, "")
        }
        What::Loop { node, .. } => (node, "loop "),
        What::TaskGraph { node, .. } => (node, "task graph "),
        What::Stall { node, .. } => (node, "stall "),
        What::Steal { node, .. } => (node, "steal "),
        What::Growth { channel: id, .. } => return channel(id).map_err(|problem| problem.within("args")),
        What::Fill { channel: id, .. } => return channel(id),
        What::Spin { .. } | What::Park { .. } => return Ok(()),
    };
    index(node.index(), graph.nodes().len(), "nodes")
        .map_err(|problem| problem.within("node").within("args"))?;
    let expected = graph.node(node).name();
    if name.strip_prefix(prefix) == Some(expected) {
        return Ok(());
    }
    let expected = place::excerpt(expected);
    Err(Problem::new(format!("`{prefix}{expected}`, the node of the graph with this index")).within("name"))
}

impl<'de: 'd, 'd> Deserialize<'de> for Kept<'d> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Kept<'d>, D::Error> {
        let line = <&'de RawValue>::deserialize(from)?.get();
        let kept = parse::parse_part::<Line<'d>>(line)
            .and_then(|line| line.kept().map_err(|reason| Problem::refused(place::shortened(&reason))));
        Ok(kept.unwrap_or_else(|problem| match is_foreign(line) {
            true => Kept::Nothing,
            false => Kept::Wrong(Box::new(problem)),
        }))
    }
}

/// What says whose line it is.
#[derive(Deserialize)]
#[serde(expecting = "the object of an event")]
struct Kind {
    #[serde(default)]
    ph: Value,
    #[serde(default)]
    pid: Value,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    cat: Value,
}

/// Whether nothing is kept of a line, whatever its other fields are.
fn is_foreign(line: &str) -> bool {
    let Ok(Kind { ph, pid, name, cat }) = parse::parse_part(line) else { return false };
    let text = |value: &Value| Cow::from(value.as_str().unwrap_or_default().to_owned());
    let pid = pid.as_u64().and_then(|pid| u32::try_from(pid).ok());
    let Some(pid) = pid else { return true };
    // A line of ours lacks fields now.
    let line = Line { ph: text(&ph), pid, name: text(&name), cat: text(&cat), ..Line::default() };
    matches!(line.kept(), Ok(Kept::Nothing))
}

impl<'d> Line<'d> {
    /// What is kept of the line, or what it lacks.
    fn kept(self) -> Result<Kept<'d>, String> {
        if self.pid != THREADS {
            return Ok(Kept::Nothing);
        }
        if self.ph == "M" {
            return self.kept_name();
        }
        let Some(what) = self.what()? else { return Ok(Kept::Nothing) };
        let Micros(at) = needed("ts", self.ts)?;
        Ok(Kept::Event { tid: needed("tid", self.tid)?, event: Event::new(at, what), name: self.name })
    }

    fn kept_name(self) -> Result<Kept<'d>, String> {
        if self.name != "thread_name" {
            return Ok(Kept::Nothing);
        }
        let mut track = Track::new(needed("name", self.args.name)?);
        *track.lost_mut() = needed("lost", self.args.lost)?;
        Ok(Kept::Thread { tid: needed("tid", self.tid)?, track, events: needed("events", self.args.events)? })
    }

    /// What happened; `None` for a kind that this version does not have.
    fn what(&self) -> Result<Option<What>, String> {
        let args = &self.args;
        let ns = || needed("dur", self.dur).map(|Micros(ns)| ns);
        let node = || needed("node", args.node).map(NodeId);
        let channel = |channel| needed("channel", channel).map(ChannelId);
        Ok(Some(match &*self.cat {
            "activation" => What::Activation {
                node: node()?,
                firings: needed("firings", args.firings)?,
                ns: ns()?,
                ended: self.ended()?,
            },
            "loop" => What::Loop { node: node()?, steals: needed("steals", args.steals)?, ns: ns()? },
            "task graph" => {
                What::TaskGraph { node: node()?, steals: needed("steals", args.steals)?, ns: ns()? }
            }
            "stall" => What::Stall { node: node()?, ns: ns()? },
            "spin" => What::Spin { ns: ns()? },
            "park" => What::Park { ns: ns()? },
            "steal" => What::Steal { node: node()?, from: needed("from", args.from)? },
            "growth" => What::Growth { channel: channel(args.channel)?, to: needed("to", args.to)? },
            "fill" => What::Fill { channel: channel(self.channel)?, items: needed("items", args.items)? },
            _ => return Ok(None),
        }))
    }

    fn ended(&self) -> Result<Ended, String> {
        let channel = || needed("channel", self.args.channel).map(ChannelId);
        let text = &*self.args.ended;
        match text.split_once(' ').map_or(text, |(word, _channel)| word) {
            "empty" => Ok(Ended::Empty(channel()?)),
            "full" => Ok(Ended::Full(channel()?)),
            "waiting" => Ok(Ended::Waiting),
            "budget" => Ok(Ended::Budget),
            "done" => Ok(Ended::Done),
            "refused" => Ok(Ended::Refused),
            _ => {
                let found = place::excerpt(text);
                Err(format!(
                    "expected an end `empty`, `full`, `waiting`, `budget`, `done` or `refused`, found `{found}`"
                ))
            }
        }
    }
}

/// A field that events of a kind have.
fn needed<T>(name: &str, field: Option<T>) -> Result<T, String> {
    field.ok_or_else(|| format!("missing field `{name}`"))
}
