//! Message-ordering constraints: which firings keep their order where filters send messages.
//!
//! Such a program is demand-driven: its nodes fire when its sinks need items ([`Demand`]). If every steady
//! state after the first repeats one sequence of firings and leaves every node where its schedule does, the
//! region can be fused. A downstream message with a known latency of at least 0 cannot come late in any order
//! of firings: the firing before which it is handled needs items of the firing that sends it. So the sender
//! may do all its firings of a call first, and the receiver's firings are split where its messages are due.
//! In all other cases the order is visible and must be that of the sequence:
//!
//! - a message goes upstream, or its latency is absent, negative or unknown;
//! - several nodes send to one receiver;
//! - several nodes print or may fail.
//!
//! The nodes concerned and all nodes between them form a *span*. Its nodes alternate firing by firing, as in
//! a feedback loop; the nodes before and after it each fire for all steady states of a call.

use crate::ir::{Stmt, walk};
use crate::lower::NodeCode;
use crate::plan::Span;
use std::collections::BTreeMap;
use std::convert::Infallible;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{ChannelId, NodeId};
use thalweg_lang::messages::{Counts, Demand, Fires, Wavefront, is_downstream, receivers};
use thalweg_lang::schedule::{Phase, Region};

/// The most firings of a steady state that is examined, and the most phases of a folded sequence.
const MOST_FIRINGS: usize = 1 << 14;
const MOST_PLACES: usize = 256;

/// The longest latency for which arrival in time is checked.
const LONGEST: i32 = 1 << 12;

/// The longest period that `fold` looks for.
const PERIOD: usize = 64;

/// Finds the spans of a region; `None` where it cannot be fused.
pub(crate) fn spans(compiled: &Compiled, region: &Region, codes: &[Option<NodeCode>]) -> Option<Vec<Span>> {
    let mut sequence = sequence(compiled, region)?;
    let mut spans = tied(compiled, region, codes);
    // A span that overlaps a feedback loop is widened to the whole loop.
    let back = compiled.flat.channels().iter().filter(|channel| channel.link().feedback());
    let loops: Vec<(u32, u32)> = back.map(|channel| (channel.to().0.0, channel.from().0.0)).collect();
    merge(&mut spans, &loops);
    let made = spans.into_iter().map(|(first, last)| {
        let inside = |node: &u32| (first..=last).contains(node);
        let own: Vec<u32> = sequence.iter().copied().filter(inside).collect();
        sequence.retain(|node| !inside(node));
        let phases = fold(&runs(&own));
        (places(&phases) <= MOST_PLACES).then_some(Span { first, last, phases })
    });
    made.collect()
}

/// The firings of a steady state, if all after the first are equal and leave the nodes where the schedule
/// does.
fn sequence(compiled: &Compiled, region: &Region) -> Option<Vec<u32>> {
    let begun = begun(compiled, region);
    let long = |firings: &[u64]| firings.iter().sum::<u64>() > MOST_FIRINGS as u64;
    if long(&begun) || long(&region.repetitions) {
        return None;
    }
    let mut demand = Demand::new(&compiled.flat, region, 0);
    let mut noted = Noted { counts: Counts::new(compiled), sequence: Vec::new() };
    let (mut items, mut states) = (Vec::new(), Vec::new());
    for state in 1..=2 {
        if demand.iterate(&mut noted, &|| false).ok()?.is_break() {
            return None;
        }
        let due = |(node, times): (&NodeId, &u64)| begun[node.0 as usize] + times * state;
        let is_there = |pair: (&NodeId, &u64)| noted.counts.fired(*pair.0) == due(pair);
        if !region.nodes.iter().zip(&region.repetitions).all(is_there) {
            return None;
        }
        items.push(noted.counts.items().to_vec());
        states.push(std::mem::take(&mut noted.sequence));
    }
    let same = items[0] == items[1];
    states.pop().filter(|_| same)
}

/// Firings in the initialisation, by node.
fn begun(compiled: &Compiled, region: &Region) -> Vec<u64> {
    let mut begun = vec![0; compiled.flat.nodes().len()];
    crate::plan::count(&region.init, 1, &mut begun);
    begun
}

/// Records firings in order.
struct Noted<'a> {
    counts: Counts<&'a Compiled>,
    sequence: Vec<u32>,
}

impl Fires for Noted<'_> {
    type Error = Infallible;

    fn lacks(&mut self, node: NodeId) -> Option<ChannelId> {
        self.counts.lacks(node)
    }

    fn fire(&mut self, node: NodeId) -> Result<(), Infallible> {
        self.sequence.push(node.0);
        self.counts.fire(node)
    }

    fn fired(&self, node: NodeId) -> u64 {
        self.counts.fired(node)
    }
}

/// Groups of nodes that keep the order of their firings: the first and the last node of each.
fn tied(compiled: &Compiled, region: &Region, codes: &[Option<NodeCode>]) -> Vec<(u32, u32)> {
    let receivers = receivers(&compiled.tree, &compiled.flat);
    let (mut spans, mut seen) = (Vec::new(), Vec::new());
    let mut senders: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, code) in codes.iter().enumerate() {
        let (Some(code), from) = (code, at as u32) else { continue };
        let mut may_be_seen = code.all().any(|code| !code.formats.is_empty());
        may_be_seen |= code.all().any(|code| code.sites.len() > code.messages.len());
        for (portal, latency) in sent(code) {
            for to in &receivers[portal as usize] {
                if !comes_in_time(compiled, region, (NodeId(from), *to), latency) {
                    spans.push((from.min(to.0), from.max(to.0)));
                    may_be_seen = true;
                }
                senders.entry(to.0).or_default().push(from);
            }
        }
        if may_be_seen {
            seen.push(from);
        }
    }
    for several in senders.values().chain([&seen]) {
        let (first, last) = (several.iter().min(), several.iter().max());
        if let (Some(first), Some(last)) = (first, last)
            && first < last
        {
            spans.push((*first, *last));
        }
    }
    merge(&mut spans, &[]);
    spans
}

/// The portals that a node sends to, with the latency where it is constant.
fn sent(codes: &NodeCode) -> Vec<(u32, Option<i32>)> {
    let mut all = Vec::new();
    for code in codes.all() {
        walk(&code.body, &mut |st| {
            if let Stmt::Send { message, latency, .. } = st {
                let known = latency.as_ref().and_then(crate::ir::Expr::as_int);
                all.push((code.messages[*message as usize].portal, known));
            }
        });
    }
    all
}

/// Whether messages go downstream and have always arrived when they are due.
fn comes_in_time(
    compiled: &Compiled,
    region: &Region,
    (from, to): (NodeId, NodeId),
    latency: Option<i32>,
) -> bool {
    let Some(latency) = latency.filter(|latency| (0..=LONGEST).contains(latency)) else { return false };
    if from == to || is_downstream(compiled, from, to) != Ok(true) {
        return false;
    }
    // What needs some of the sender's firings in one steady state needs as many in each.
    let at = region.nodes.iter().position(|node| *node == from);
    let each = at.map_or(0, |at| region.repetitions[at]);
    let firings = begun(compiled, region)[from.0 as usize] + 3 * each + latency as u64;
    Wavefront::new(compiled, from, to).first_needing(firings).is_some()
}

/// Unites spans that overlap, and widens each by those of `others` that it overlaps.
fn merge(spans: &mut Vec<(u32, u32)>, others: &[(u32, u32)]) {
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for span in spans.iter_mut() {
            for other in others {
                let touches = span.0 <= other.1 && other.0 <= span.1;
                let both = (span.0.min(other.0), span.1.max(other.1));
                if touches && both != *span {
                    (*span, changed) = (both, true);
                }
            }
        }
        spans.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::new();
        for span in spans.drain(..) {
            match merged.last_mut() {
                Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
                _ => merged.push(span),
            }
        }
        *spans = merged;
    }
}

/// Groups consecutive firings of one node.
fn runs(sequence: &[u32]) -> Vec<(u32, u64)> {
    let mut runs: Vec<(u32, u64)> = Vec::new();
    for node in sequence {
        match runs.last_mut() {
            Some((last, count)) if last == node => *count += 1,
            _ => runs.push((*node, 1)),
        }
    }
    runs
}

/// Folds repeated subsequences into `Repeat`.
fn fold(runs: &[(u32, u64)]) -> Vec<Phase> {
    let (mut phases, mut at) = (Vec::new(), 0);
    while let Some((node, count)) = runs.get(at) {
        let rest = &runs[at..];
        let times =
            |period: usize| rest.chunks_exact(period).take_while(|part| *part == &rest[..period]).count();
        let best = (1..=PERIOD.min(rest.len() / 2)).max_by_key(|period| {
            (times(*period) * period * usize::from(times(*period) > 1), PERIOD - period)
        });
        match best.map(|period| (period, times(period))) {
            Some((period, times)) if times > 1 => {
                phases.push(Phase::Repeat(times as u64, fold(&rest[..period])));
                at += period * times;
            }
            _ => {
                phases.push(Phase::Fire(NodeId(*node), *count));
                at += 1;
            }
        }
    }
    phases
}

fn places(phases: &[Phase]) -> usize {
    let of = |phase: &Phase| match phase {
        Phase::Fire(..) => 1,
        Phase::Repeat(_, inner) => places(inner),
    };
    phases.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_lang::Sources;

    /// The spans of a program: names of the first and the last node, and the number of phases.
    fn spans_of(body: &str) -> Option<Vec<(String, String, usize)>> {
        let text = format!(
            "void->void pipeline Main {{ portal<Hear> p; add Count(); {body} add End(); }}
             void->int filter Count {{ int n; work push 1 {{ push(n++); }} }}
             int->int filter Send(portal<Hear> p, int k) {{
                int i; work pop 2 push 2 {{ if (i++ % 3 == 0) p.set(i) [k:k]; push(pop()); push(pop()); }} }}
             int->int filter Two {{ work pop 2 push 2 {{ push(pop()); push(pop()); }} }}
             int->int filter Hear {{ int x; work pop 1 push 1 {{ push(pop() + x); }} handler set(int y) {{ x = y; }} }}
             int->int filter Tell {{ work pop 1 push 1 {{ int x = pop(); println(x); push(x); }} }}
             int->void filter End {{ work pop 4 {{ for (int i = 0; i < 4; i++) pop(); }} }}"
        );
        let compiled = thalweg_lang::compile(&Sources::of("test.str", &text)).unwrap();
        let codes = crate::lower::lower_all(&compiled).unwrap();
        let name = |node: u32| compiled.flat.node(NodeId(node)).name().replace("Main.", "");
        let spans = spans(&compiled, &compiled.schedule.regions[0], &codes)?;
        Some(spans.iter().map(|span| (name(span.first), name(span.last), places(&span.phases))).collect())
    }

    fn span(first: &str, last: &str, places: usize) -> (String, String, usize) {
        (first.into(), last.into(), places)
    }

    #[test]
    fn downstream_messages_in_time_need_no_span() {
        for latency in [0, 1, 7] {
            let body = format!("add Send(p, {latency}); add Two(); add Hear() to p;");
            assert_eq!(spans_of(&body), Some(vec![]), "{latency}");
        }
        assert_eq!(spans_of("add Send(p, 0); add Tell(); add Hear() to p;"), Some(vec![]));
    }

    #[test]
    fn upstream_and_late_messages_need_a_span() {
        let up = spans_of("add Hear() to p; add Two(); add Send(p, 3); add Two();");
        assert_eq!(up, Some(vec![span("Hear", "Send", 3)]));
        let late = spans_of("add Two(); add Send(p, -1); add Hear() to p;");
        assert_eq!(late, Some(vec![span("Send", "Hear", 2)]));
    }

    #[test]
    fn several_senders_to_one_receiver_or_several_printers_need_a_span() {
        let send = spans_of("add Send(p, 0); add Send(p, 1); add Hear() to p;");
        assert_eq!(send, Some(vec![span("Send", "Send.2", 2)]));
        let print = spans_of("add Tell(); add Send(p, 0); add Tell(); add Hear() to p;");
        assert_eq!(print.map(|spans| (spans.len(), spans[0].1.clone())), Some((1, "Tell.2".into())));
    }

    #[test]
    fn a_region_with_nodes_ahead_of_the_demand_is_not_fused() {
        // The first filter's output has no consumer, so no demand makes it fire.
        let body = "add splitjoin { split roundrobin(1, 1); add int->void filter { work pop 1 { pop(); } };
            add Send(p, 0); join roundrobin(0, 1); }; add Hear() to p;";
        assert!(spans_of(body).is_some_and(|spans| spans.is_empty()));
        let prework =
            "add Send(p, 0); add int->int filter { prework push 9 { for (int i = 0; i < 9; i++) push(i); }
            work pop 1 push 1 { push(pop()); } }; add Hear() to p;";
        assert_eq!(spans_of(prework), None);
    }
}
