//! Common-subexpression elimination on the graph: channels that carry equal items, and filters that repeat
//! the work of others.
//!
//! Items are value-numbered: a filter's output is determined by its code and its input, so filters with equal
//! code and equal input push equal items. So neighbours of a filter bank that share an edge share its filter,
//! and of two equal pipelines one remains.
//!
//! Of channels with equal items one is a buffer and the others are views of it. Where both lead to joiners, the
//! items have to be in two places: then a merged filter reads what the other one has pushed and forwards it
//! ([`Merged::codes`]).
//!
//! Only filters are merged that keep no state, print nothing and cannot fail: the number of their firings
//! cannot be observed.

use super::{Actor, Facts, View, loops};
use crate::ir::{Area, Cell, Code, Expr, Kind, MemKind, Stmt, Var, VarInfo, walk, walk_exprs};
use crate::lower::NodeCode;
use crate::uniformity::has_no_state;
use std::collections::HashMap;
use thalweg_lang::flat::{ChannelId, Firing, NodeId, NodeKind};
use thalweg_lang::schedule::Phase;
use thalweg_lang::tree::Weights;

/// The result of value numbering.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Merged {
    /// By channel: the first channel that carries the same items.
    same: Vec<ChannelId>,
    /// By node: the filter that pushed the items it forwards.
    with: Vec<Option<NodeId>>,
}

/// The value number of items that do not come from a filter with code.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Made {
    /// The output of a round-robin splitter's port.
    Split(ChannelId, Vec<u32>, usize),
    /// The output of a joiner of these channels.
    Joined(Vec<ChannelId>, Vec<u32>),
}

impl Merged {
    /// Merges nothing.
    pub(crate) fn nothing(facts: &Facts<'_>) -> Merged {
        let flat = &facts.compiled.flat;
        let same = flat.graph.channel_ids().collect();
        Merged { same, with: vec![None; flat.nodes().len()] }
    }

    /// Value-numbers a region; its nodes are in data-flow order.
    pub(crate) fn find(facts: &Facts<'_>, codes: &[Option<NodeCode>]) -> Merged {
        let mut merged = Merged::nothing(facts);
        let (mut made, mut filters) = (HashMap::new(), HashMap::new());
        let phases = phases(facts);
        for node in &facts.region.nodes {
            if phases[node.0 as usize].is_none() || starts_with_items(facts, *node) {
                continue;
            }
            match (facts.compiled.flat.kind(*node), &codes[node.0 as usize]) {
                (NodeKind::Filter(_), Some(code)) => {
                    merged.filter(facts, (*node, code), codes, &phases, &mut filters);
                }
                (NodeKind::Filter(_), None) if facts.is_identity(*node) => merged.passes(facts, *node),
                (NodeKind::Filter(_), None) => {}
                (NodeKind::Split(Weights::Duplicate), _) => merged.passes(facts, *node),
                (
                    NodeKind::Split(Weights::RoundRobin(weights))
                    | NodeKind::Join(Weights::RoundRobin(weights)),
                    _,
                ) => {
                    merged.moved(facts, *node, weights, &mut made);
                }
                (NodeKind::Join(Weights::Duplicate), _) => {}
            }
        }
        merged
    }

    /// The value number of a channel.
    fn of(&self, channel: ChannelId) -> ChannelId {
        self.same[channel.0 as usize]
    }

    /// A node with outputs equal to its input.
    fn passes(&mut self, facts: &Facts<'_>, node: NodeId) {
        let flat = &facts.compiled.flat;
        let Some(input) = flat.input(node) else { return };
        for output in flat.outputs(node) {
            self.same[output.0 as usize] = self.of(input);
        }
    }

    /// A round-robin splitter or a joiner.
    fn moved(
        &mut self,
        facts: &Facts<'_>,
        node: NodeId,
        weights: &[u32],
        made: &mut HashMap<Made, ChannelId>,
    ) {
        let flat = &facts.compiled.flat;
        for (port, output) in flat.outputs(node).enumerate() {
            let inputs: Vec<ChannelId> = flat.inputs(node).map(|input| self.of(input)).collect();
            let key = match flat.kind(node) {
                NodeKind::Split(_) => Made::Split(inputs[0], weights.to_vec(), port),
                _ => Made::Joined(inputs, weights.to_vec()),
            };
            self.same[output.0 as usize] = *made.entry(key).or_insert(output);
        }
    }

    /// A filter: merges it with an earlier one that does the same.
    fn filter(
        &mut self,
        facts: &Facts<'_>,
        (node, code): (NodeId, &NodeCode),
        codes: &[Option<NodeCode>],
        phases: &[Option<usize>],
        filters: &mut HashMap<ChannelId, Vec<NodeId>>,
    ) {
        let flat = &facts.compiled.flat;
        let (Some(input), Some(output)) = (flat.input(node), flat.output(node)) else { return };
        if !can_be_merged(code) {
            return;
        }
        let others = filters.entry(self.of(input)).or_default();
        let fires = |node: NodeId| (facts.begun[node.0 as usize], facts.firings[node.0 as usize]);
        let equal = |other: &&NodeId| {
            codes[other.0 as usize].as_ref() == Some(code)
                && fires(**other) == fires(node)
                && phases[other.0 as usize] < phases[node.0 as usize]
        };
        match others.iter().find(equal) {
            Some(other) => {
                self.with[node.0 as usize] = (!is_cheap(&code.work)).then_some(*other);
                let same = flat.output(*other).expect("a filter with one output");
                self.same[output.0 as usize] = self.of(same);
            }
            None => others.push(node),
        }
    }

    /// Unites buffers that carry the same items.
    pub(super) fn share(&self, views: &mut [Option<View>]) {
        let is_buffer = |channel: ChannelId, views: &[Option<View>]| {
            views[channel.0 as usize].as_ref().is_some_and(|view| view.buffer == channel)
        };
        for at in 0..views.len() {
            let Some(view) = &views[at] else { continue };
            let first = self.of(view.buffer);
            if first != view.buffer && is_buffer(first, views) {
                views[at].as_mut().expect("the channel has a view").buffer = first;
            }
        }
    }

    /// Whether a node has nothing to do, since another node puts all its items in place.
    pub(super) fn is_done(&self, facts: &Facts<'_>, views: &[Option<View>], node: NodeId) -> bool {
        let flat = &facts.compiled.flat;
        let done = |output: ChannelId| {
            let first = self.of(output);
            flat.channel(first).from().0 != node
                && views[first.0 as usize].is_some()
                && views[first.0 as usize] == views[output.0 as usize]
        };
        flat.output(node).is_some() && flat.outputs(node).all(done)
    }

    /// Makes merged filters read the items that the others have pushed.
    pub(super) fn take(&self, actors: &mut [Actor]) {
        for at in 0..actors.len() {
            let Some(other) = self.with[actors[at].node.0 as usize] else { continue };
            if let Some(given) = actors.iter().find(|actor| actor.node == other) {
                actors[at].inputs = given.outputs.clone();
            }
        }
    }

    /// The codes of steady states, where merged filters only copy.
    pub(crate) fn codes(
        &self,
        facts: &Facts<'_>,
        mut codes: Vec<Option<NodeCode>>,
    ) -> Result<Vec<Option<NodeCode>>, String> {
        let flat = &facts.compiled.flat;
        for (at, with) in self.with.iter().enumerate().filter(|(_, with)| with.is_some()) {
            let node = NodeId(at as u32);
            debug_assert!(with.is_some_and(|with| self.with[with.0 as usize].is_none()));
            let item = facts.item(flat.output(node).expect("a filter with one output"))?;
            let push = flat.push(node, 0, Firing::Later).unwrap_or(0);
            codes[at] = Some(NodeCode { work: passing(item, push), ..NodeCode::default() });
        }
        Ok(codes)
    }
}

/// The position of nodes in the steady state; `None` for those that alternate with others.
fn phases(facts: &Facts<'_>) -> Vec<Option<usize>> {
    let mut phases = vec![None; facts.compiled.flat.nodes().len()];
    for (at, phase) in facts.region.steady.iter().enumerate() {
        if let Phase::Fire(node, _) = phase {
            phases[node.0 as usize] = Some(at);
        }
    }
    for (from, to) in loops(facts) {
        phases[from as usize..=to as usize].fill(None);
    }
    phases
}

/// Whether a node's outputs hold items before anything runs.
fn starts_with_items(facts: &Facts<'_>, node: NodeId) -> bool {
    let flat = &facts.compiled.flat;
    flat.outputs(node).any(|output| flat.channel(output).link().initial() > 0)
}

fn can_be_merged(code: &NodeCode) -> bool {
    let mut without_iter = true;
    walk_exprs(&code.work.body, &mut |ex| without_iter &= !matches!(ex, Expr::Iter));
    let keeps = code.work.mems.iter().any(|mem| matches!(mem.kind, MemKind::Field(_)))
        || code.work.vars.iter().any(|var| var.field.is_some());
    without_iter && !keeps && code.prework.is_none() && code.handlers.is_empty() && has_no_state(&code.work)
}

/// Firings with fewer operations than this are repeated: copying the items takes as long.
const CHEAP: usize = 24;

fn is_cheap(code: &Code) -> bool {
    let (mut operations, mut has_loop) = (0, false);
    walk(&code.body, &mut |st| has_loop |= matches!(st, Stmt::For { .. }));
    walk_exprs(&code.body, &mut |ex| match ex {
        Expr::Math(..) => operations += CHEAP,
        Expr::Const(_) | Expr::Var(_) => {}
        _ => operations += 1,
    });
    !has_loop && operations < CHEAP
}

/// The code of a filter that forwards this many items in a firing.
fn passing((cell, cells): (Cell, usize), items: u64) -> Code {
    let kind = match cell {
        Cell::Of(kind) => kind,
        Cell::Mixed => Kind::Int,
    };
    let move_item = |item: Expr| {
        let cell = |cell: usize| {
            let (at, item) = (Box::new(Expr::int(cell as i64)), Box::new(item.clone()));
            Stmt::Store(Area::Out(item.clone()), *at.clone(), kind, Expr::Load(Area::In(item), at, kind))
        };
        (0..cells).map(cell).collect::<Vec<Stmt>>()
    };
    let mut code = Code::default();
    if items == 1 {
        code.body = move_item(Expr::int(0));
    } else {
        code.vars.push(VarInfo { kind: Kind::Int, name: "item".into(), field: None });
        let (var, from, to) = (Var(0), Expr::int(0), Expr::int(items as i64));
        code.body = vec![Stmt::For { var, from, to, step: 1, body: move_item(Expr::Var(var)) }];
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::lower_all;

    /// The number of filters that do their work, and that forward the output of others, in a program's
    /// middle.
    fn filters(middle: &str) -> (usize, usize) {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<float>(\"in\"); {middle} add FileWriter<float>(\"out\"); }}
             float->float filter Fir(float by, int peeks) {{ float[peeks] h;
                init {{ for (int i = 0; i < peeks; i++) h[i] = by / (i + 1); }}
                work pop 1 push 1 peek peeks {{ float s = 0; for (int i = 0; i < peeks; i++) s += h[i] * peek(i);
                    pop(); push(s); }} }}
             float->float filter Last() {{ float last; work pop 1 push 1 {{ push(last); last = pop(); }} }}
             float->float filter Sum(int n) {{ work pop n push 1 {{ float s = 0; for (int i = 0; i < n; i++)
                s = 3 * s + pop(); push(s); }} }}"
        );
        let compiled = thalweg_lang::compile(&thalweg_lang::Sources::of("test.str", &text)).unwrap();
        let codes = lower_all(&compiled).unwrap();
        let facts = Facts::new(&compiled, &compiled.schedule.regions[0]);
        let merged = Merged::find(&facts, &codes);
        let plan = super::super::plan(&facts, &merged, &codes, (false, 1)).unwrap();
        let steady = merged.codes(&facts, codes.clone()).unwrap();
        let filters =
            plan.actors.iter().map(|actor| actor.node.0 as usize).filter(|node| codes[*node].is_some());
        let copies = filters.clone().filter(|node| codes[*node] != steady[*node]).count();
        (filters.count() - copies, copies)
    }

    #[test]
    fn neighbours_share_common_filters() {
        let bank = "add splitjoin { split duplicate; for (int i = 0; i < 5; i++) add pipeline {
            add splitjoin { split duplicate; add Fir(i + 1, 9); add Fir(i, 9); join roundrobin; }; add Sum(2 + 0 * i);
            add Fir(i + 10, 3); }; join roundrobin; };";
        assert_eq!(filters(bank), (6 + 5 + 5, 4));
    }

    #[test]
    fn equal_pipelines_are_merged() {
        let branches = "add splitjoin { split duplicate; for (int i = 0; i < 4; i++) add pipeline {
            add Fir(1, 9); add splitjoin { split roundrobin(2, 1); add Sum(2); add Identity<float>();
            join roundrobin; }; add Fir(2, 12); }; join roundrobin; };";
        assert_eq!(filters(branches), (3, 3));
    }

    #[test]
    fn different_branches_are_not_merged() {
        let branches = "add splitjoin { split duplicate; add pipeline { add Fir(1, 9); add Last(); };
            add pipeline { add Fir(1, 9); add Last(); }; join roundrobin; };";
        assert_eq!(filters(branches), (3, 0));
        let beside = "add splitjoin { split duplicate; add Fir(1, 9); add Fir(1.5, 9); join roundrobin; };";
        assert_eq!(filters(beside), (2, 0));
        let split = "add splitjoin { split roundrobin; add Fir(1, 9); add Fir(1, 9); join roundrobin; };";
        assert_eq!(filters(split), (2, 0));
    }
}
