//! Scheduling of a program's regions in generated code: batch after batch, in data-flow order, each region's
//! output going straight to the next.
//!
//! A region that is one filter runs here if its firings never wait or can be rolled back. For any other
//! region the function checks whether it can continue; if so it returns to the engine, which runs the region
//! and calls again for the rest.

use super::program::Writer;
use crate::parts::{Part, entries};
use crate::plan::{Facts, item};
use std::fmt::Write;
use thalweg_lang::flat::{ChannelId, NodeId};

/// Vectors of firings computed side by side, and the most bytes of items that a region waits for.
const TOGETHER: u64 = 4;
const NEAR: u64 = 16 << 10;

impl Writer<'_> {
    /// The function of batches, and those that access the firings and waits of nodes.
    pub(super) fn batches(&mut self, direct: &[bool]) -> Result<(), String> {
        let (mut tries, mut body, mut places) = (String::new(), String::new(), String::new());
        for (region, direct) in direct.iter().enumerate() {
            let _ = write!(places, "\n    case {region}:\n        goto region_{region};");
            let _ =
                writeln!(body, "    region_{region}:\n        if (to == {region})\n            continue;");
            if *direct {
                self.in_batch(&mut tries, &mut body, region)?;
            } else {
                let _ = writeln!(body, "        if ({})\n            STOP({region});", self.can(region));
            }
        }
        self.text.push_str(&tries);
        self.line(format!(
            "\n#define STOP(region) {{ at[0] = region, at[1] = batch; return 2; }}\n\
             static __attribute__((noinline)) int32_t batches(struct state *state, uint32_t from, uint32_t to, \
             int64_t n, int64_t batches, int64_t *at)\n{{\n    (void)state, (void)n, (void)to, (void)at;\n    \
             int64_t batch = 0;\n    switch (from) {{{places}\n    default:\n        return 0;\n    }}\n    \
             for (; batch < batches; batch++) {{\n{body}    }}\n    return 0;\n}}\n\n\
             int32_t thalweg_batches(struct state *state, uint32_t from, uint32_t to, int64_t n, int64_t count, \
             int64_t *at)\n{{\n    jmp_buf out;\n    state->env.out = &out;\n    if (setjmp(out))\n        \
             return 1;\n    return batches(state, from, to, n, count, at);\n}}"
        ));
        self.counts();
        Ok(())
    }

    /// A region that is one filter.
    fn in_batch(&mut self, tries: &mut String, body: &mut String, region: usize) -> Result<(), String> {
        let node = self.compiled.schedule.regions[region].nodes[0];
        let code = &self.codes[node.0 as usize].as_ref().expect("a filter with code").work;
        if crate::lower::may_wait(code) {
            self.try_flow(tries, node.0)?;
            let _ = writeln!(body, "        if (try_{}(state))\n            STOP({region});", node.0);
        } else {
            let takes = self.compiled.flat.input(node).is_some();
            let most = if takes { "INT64_MAX" } else { "n" };
            let _ = writeln!(body, "        fire_{}(state, {most});", node.0);
        }
        let _ = writeln!(body, "        if (state->env.full)\n            STOP({region});");
        Ok(())
    }

    /// The condition that a region can continue, computed from its queues.
    fn can(&self, region: usize) -> String {
        let (flat, region) = (&self.compiled.flat, (region, &self.compiled.schedule.regions[region]));
        let outside = |channel: &ChannelId| {
            let channel = flat.channel(*channel);
            !channel.link().feedback() && !region.1.nodes.contains(&channel.from().0)
        };
        let there = |ChannelId(at): ChannelId, items: u64| {
            format!("state->queues[{at}].written - state->queues[{at}].read >= {items}")
        };
        let inputs = |node: &NodeId| flat.inputs(*node).filter(|input| outside(input));
        if region.1.nodes.iter().all(|node| inputs(node).next().is_none()) {
            return "1".into();
        }
        let takers = region.1.nodes.iter().filter(|node| self.flows(node.0)).flat_map(inputs);
        let mut can: Vec<String> = takers.map(|input| there(input, 1)).collect();
        if let Some(part) = self.parts.iter().find(|part| part.home == region.0) {
            let inputs = entries(&Facts::new(self.compiled, &part.region));
            let all = |batch: u64| -> String {
                let there =
                    |(channel, items, ahead): &(ChannelId, u64, u64)| there(*channel, batch * items + ahead);
                inputs.iter().map(there).collect::<Vec<_>>().join(" && ")
            };
            if !inputs.is_empty() {
                let batch = self.fuel(part, &inputs);
                can.push(format!("({})", all(batch)));
                if batch > 1 {
                    can.push(format!("(!state->env.patient && {})", all(1)));
                }
            }
        }
        if can.is_empty() { "1".into() } else { can.join(" || ") }
    }

    /// Steady states that a region waits for where it may: as many as are done at once, if their input stays
    /// in the cache. With fewer it fires in one lane, or in one vector at a time.
    fn fuel(&self, part: &Part, inputs: &[(ChannelId, u64, u64)]) -> u64 {
        let bytes = |(channel, items, _): &(ChannelId, u64, u64)| {
            items * item(self.compiled, *channel).map_or(0, |(cell, cells)| cell.bytes() * cells) as u64
        };
        let each: u64 = inputs.iter().map(bytes).sum();
        let Some(plan) = part.plan.as_ref().filter(|_| self.lanes > 1) else { return 1 };
        plan.multiple(self.lanes)
            .max(TOGETHER * self.lanes as u64)
            .min(NEAR / each.max(1))
            .min(part.scale)
            .max(1)
    }

    fn counts(&mut self) {
        let mut apart = String::new();
        for node in self.kept.keys() {
            if self.flows(*node) {
                let _ = write!(apart, "\n    case {node}: state->node_{node}.apart = items; break;");
            }
        }
        self.line(format!(
            "\nint64_t *thalweg_fired(struct state *state, uint32_t node)\n{{\n    \
             return places[node].bytes ? &kept_of(state, node)->fired : NULL;\n}}\n\n\
             void thalweg_apart(struct state *state, uint32_t node, int64_t items)\n{{\n    \
             (void)state, (void)items;\n    switch (node) {{{apart}\n    }}\n}}"
        ));
    }
}
