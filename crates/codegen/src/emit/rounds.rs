//! Actors that alternate: a loop over rounds, in a function of its own.
//!
//! Short firings are inlined into the loop, and buffers are passed as `restrict` parameters (GCC ignores the
//! qualifier on variables), so that the C compiler keeps the items that circulate in registers.

use super::program::Writer;
use super::terms::cell_type;
use crate::ir::{Cell, Code, Kind, walk, walk_exprs};
use crate::plan::{Items, Plan, Port, Round};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The most statements and expressions that are inlined.
const MOST: usize = 1500;

/// A loop that is being written.
struct RoundsText<'a> {
    plan: &'a Plan,
    names: BTreeMap<usize, String>,
    out: String,
}

impl Writer<'_> {
    /// The function of actors that alternate.
    pub(super) fn loop_of(&mut self, plan: &Plan, names: &[String], rounds: &[Round], name: &str) -> String {
        let mut places = Vec::new();
        fires(rounds, &mut places);
        let mut actors = places.clone();
        actors.sort_unstable();
        actors.dedup();
        let long = matches!(rounds, [Round::AtOnce(..)]);
        let size: usize = places.iter().map(|actor| self.size(plan, *actor)).sum();
        let mut own: BTreeMap<usize, String> =
            actors.iter().map(|actor| (*actor, names[*actor].clone())).collect();
        if !long && size <= MOST {
            for actor in &actors {
                if let Some(name) = self.put_in(plan, *actor) {
                    own.insert(*actor, name);
                }
            }
        }
        let mut text = RoundsText { plan, names: own, out: String::new() };
        let buffers = buffers(plan, &actors).into_iter();
        let buffers = buffers.map(|(buffer, cell)| format!(", {} *restrict b{buffer}", cell_type(cell)));
        let _ = writeln!(
            text.out,
            "\nstatic __attribute__((noinline)) void {name}(struct state *restrict state, int64_t n{})\n{{",
            buffers.collect::<String>()
        );
        text.out.push_str("    (void)state;\n");
        self.loop_over(&mut text, rounds, &actors);
        text.out.push_str("}\n");
        text.out
    }

    fn loop_over(&mut self, text: &mut RoundsText<'_>, rounds: &[Round], actors: &[usize]) {
        for actor in actors {
            let _ = writeln!(text.out, "    int64_t f{actor} = 0;");
        }
        if let [Round::AtOnce(most, inner)] = rounds {
            text.out.push_str("    for (int64_t round = 0, some; round < n; round += some) {\n");
            let _ = writeln!(text.out, "        some = n - round < {most} ? n - round : {most};");
            self.rounds(text, inner, 2, "some * ");
        } else {
            text.out.push_str("    for (int64_t round = 0; round < n; round++) {\n");
            self.rounds(text, rounds, 2, "");
        }
        text.out.push_str("    }\n");
    }

    fn rounds(&mut self, text: &mut RoundsText<'_>, rounds: &[Round], depth: usize, times: &str) {
        let indent = "    ".repeat(depth);
        for round in rounds {
            match round {
                Round::Fire(actor, count) => {
                    let f = format!("f{actor}");
                    self.fire(text, *actor, depth, (&f, &format!("{f} + {times}{count}")));
                    let _ = writeln!(text.out, "{indent}{f} += {times}{count};");
                }
                Round::Repeat(again, inner) | Round::AtOnce(again, inner) => {
                    let _ = writeln!(
                        text.out,
                        "{indent}for (int64_t t{depth} = 0; t{depth} < {again}; t{depth}++) {{"
                    );
                    self.rounds(text, inner, depth + 1, times);
                    let _ = writeln!(text.out, "{indent}}}");
                }
            }
        }
    }

    /// The firings of an actor.
    fn fire(&mut self, text: &mut RoundsText<'_>, at: usize, depth: usize, (first, last): (&str, &str)) {
        let indent = "    ".repeat(depth);
        let (actor, node) = (&text.plan.actors[at], text.plan.actors[at].node.0);
        // Ports that carry nothing have any memory, of any cells.
        let memory = |port: &Port| format!("({} *)b{}", cell_type(port.items.cell), port.buffer);
        let name = &text.names[&at];
        if !name.is_empty() {
            let side = |port: Option<&Port>| port.map_or("0".to_owned(), memory);
            let (input, output) = (side(actor.inputs.first()), side(actor.outputs.first()));
            let _ = writeln!(
                text.out,
                "{indent}{name}(&state->env, {node}, &state->node_{node}, {input}, {output}, {first}, {last});"
            );
        } else if self.copies(actor.node) {
            let ins = actor.inputs.iter().map(|port| (memory(port), &port.items)).collect();
            let outs = actor.outputs.iter().map(|port| (memory(port), &port.items)).collect();
            let code = self.copying(actor.node, ins, outs, (first, last));
            code.lines().for_each(|line| _ = writeln!(text.out, "{indent}{line}"));
        }
    }

    /// Statements and expressions of an actor's firing.
    fn size(&self, plan: &Plan, actor: usize) -> usize {
        let size = |code: &Code| {
            let mut size = 0;
            walk(&code.body, &mut |_| size += 1);
            walk_exprs(&code.body, &mut |_| size += 1);
            size
        };
        let node = plan.actors[actor].node;
        self.codes[node.0 as usize].as_ref().map_or(8, |codes| size(&codes.work))
    }

    /// A function for an actor's firings that is inlined; `None` where messages are handled before them.
    fn put_in(&mut self, plan: &Plan, at: usize) -> Option<String> {
        let (actor, node) = (&plan.actors[at], plan.actors[at].node.0);
        let codes = self.codes[node as usize].as_ref().filter(|codes| codes.handlers.is_empty())?;
        // The `restrict` parameters would alias.
        let same = |input: &Port| actor.outputs.iter().any(|output| output.buffer == input.buffer);
        if actor.inputs.iter().any(same) {
            return None;
        }
        let code = codes.work.clone();
        let none = Items::in_line(Cell::Of(Kind::Int), 1, 0);
        let items = |port: Option<&Port>| port.map_or(none.clone(), |port| port.items.clone());
        let (input, output) = (items(actor.inputs.first()), items(actor.outputs.first()));
        Some(self.function_in(node, &code, &input, &output))
    }
}

/// A call of the function for this many rounds.
pub(super) fn call(plan: &Plan, rounds: &[Round], name: &str, n: &str) -> String {
    let mut actors = Vec::new();
    fires(rounds, &mut actors);
    let buffers = buffers(plan, &actors).into_keys();
    let buffers = buffers.map(|buffer| format!(", state->buffers[{}].items", plan.first + buffer));
    format!("{name}(state, {n}{});", buffers.collect::<String>())
}

/// The buffers of actors, and their cells.
fn buffers(plan: &Plan, actors: &[usize]) -> BTreeMap<usize, Cell> {
    let ports = |actor: &usize| {
        let actor = &plan.actors[*actor];
        actor.inputs.iter().chain(&actor.outputs).map(|port| (port.buffer, plan.buffers[port.buffer].cell))
    };
    actors.iter().flat_map(ports).collect()
}

/// The actors of all `Fire` rounds.
fn fires(rounds: &[Round], all: &mut Vec<usize>) {
    for round in rounds {
        match round {
            Round::Fire(actor, _) => all.push(*actor),
            Round::Repeat(_, inner) | Round::AtOnce(_, inner) => fires(inner, all),
        }
    }
}
