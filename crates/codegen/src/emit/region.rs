//! C text of fused regions.

use super::pack::PackCode;
use super::program::{Called, Writer};
use super::state::for_each;
use super::terms::cell_type;
use crate::ir::{Cell, Kind};
use crate::plan::{Facts, FusedKernel, Items, Plan, Round, Step};
use std::fmt::Write;
use thalweg_lang::flat::NodeId;

impl Writer<'_> {
    /// A function that runs a fused region.
    pub(super) fn fused(&mut self, part: usize, plan: &Plan) -> Result<String, String> {
        let mut names = Vec::new();
        for (at, actor) in plan.actors.iter().enumerate() {
            let node = actor.node.0;
            let together = plan.packs.iter().any(|pack| pack.actors.contains(&at));
            names.push(if !together && plan.acts(at) && self.codes[node as usize].is_some() {
                let none = Items::in_line(Cell::Of(Kind::Int), 1, 0);
                let (input, output) = (actor.inputs.first(), actor.outputs.first());
                let input = input.map_or(none.clone(), |port| port.items.clone());
                let output = output.map_or(none, |port| port.items.clone());
                let few = most_at_once(plan, at) < self.lanes as u64;
                let called = if few { Called::ForFew } else { Called::ForMany };
                let name = self.function(node, 0, &input, &output, called);
                self.heard(node, name, (&input, &output))?
            } else {
                String::new()
            });
        }
        let kernels: Vec<String> = plan.kernels.iter().map(|kernel| self.kernel(plan, kernel)).collect();
        let mut out = String::new();
        if !plan.blocks.is_empty() && !std::mem::replace(&mut self.blocks, true) {
            out.push_str(&super::rows::begin(self.lanes));
        }
        for (at, block) in plan.blocks.iter().enumerate() {
            out.push_str(&super::unrolled::functions(block, &format!("{part}_{at}"), plan.first, self.lanes));
        }
        for pack in 0..plan.packs.len() {
            self.pack(&mut out, part, plan, pack);
        }
        for (at, step) in plan.steps.iter().enumerate() {
            if let Step::Rounds(rounds) = step {
                let text = self.loop_of(plan, &names, rounds, &format!("rounds_{part}_{at}"));
                out.push_str(&text);
            }
        }
        let _ = writeln!(out, "\nstatic void steady_{part}(struct state *state, int64_t n)\n{{");
        for (at, step) in plan.steps.iter().enumerate() {
            match step {
                Step::Unrolled(at) => {
                    out.push_str(&super::unrolled::calls(
                        &plan.blocks[*at],
                        &format!("{part}_{at}"),
                        ("0", "n"),
                    ));
                }
                Step::All(actor) => {
                    let firings = plan.actors[*actor].firings;
                    self.act(&mut out, plan, &names, *actor, 1, ("0", &format!("n * {firings}")));
                }
                Step::Rounds(rounds) => {
                    let call = super::rounds::call(plan, rounds, &format!("rounds_{part}_{at}"), "n");
                    let _ = writeln!(out, "    {call}");
                }
                Step::Pack(pack) => {
                    let firings = plan.packs[*pack].firings;
                    let _ = writeln!(out, "    pack_{part}_{pack}(state, 0, n * {firings});");
                }
                Step::Fused(kernel) => {
                    let firings = plan.kernels[*kernel].firings;
                    out.push_str(&call(plan, *kernel, &kernels[*kernel], ("0", &format!("n * {firings}"))));
                }
            }
        }
        let with_code = plan.actors.iter().filter(|actor| self.codes[actor.node.0 as usize].is_some());
        let fired: Vec<_> =
            with_code.map(|actor| vec![actor.node.0.to_string(), actor.firings.to_string()]).collect();
        out.push_str(&for_each("fired", &fired, "kept_of(state, row[0])->fired += n * row[1];"));
        out.push_str("}\n");
        if self.parts.len() == 1 {
            let facts = Facts::new(self.compiled, &self.parts[0].region);
            out.push_str(&self.steps(&facts, plan, (&names, &kernels)));
        }
        Ok(out)
    }

    /// Writes a function for the firings of a kernel; returns its name.
    fn kernel(&mut self, plan: &Plan, kernel: &FusedKernel) -> String {
        let node = plan.actors[kernel.actors[0]].node.0;
        self.function_of(node, (0, &kernel.code), &kernel.input.items, &kernel.output.items, Called::ForMany)
    }

    /// Writes a function for the firings of a pack.
    fn pack(&self, out: &mut String, part: usize, plan: &Plan, at: usize) {
        let pack = &plan.packs[at];
        let nodes: Vec<NodeId> = pack.actors.iter().map(|actor| plan.actors[*actor].node).collect();
        let kept = nodes.iter().map(|node| self.kept[&node.0].clone()).collect();
        let codes = self.codes[nodes[0].0 as usize].as_ref();
        let after_prework = codes.is_some_and(|codes| codes.prework.is_some());
        let members = PackCode { pack, kept, after_prework, most: self.lanes };
        let name = self.compiled.flat.node(nodes[0]).name().replace("*/", "* /");
        let _ = writeln!(out, "\n/* SIMD pack of {name} and {} isomorphic filters */", nodes.len() - 1);
        let _ = writeln!(
            out,
            "static __attribute__((noinline)) void pack_{part}_{at}(struct state *restrict state, int64_t first, int64_t last)\n{{"
        );
        for (member, (node, kept)) in nodes.iter().zip(&members.kept).enumerate() {
            let node = node.0;
            let _ = writeln!(out, "    struct {kept} *const kept{member} = &state->node_{node};");
            let _ = writeln!(out, "    (void)kept{member};");
        }
        for (port, name, constant) in
            [(pack.input.as_ref(), "in0", "const "), (Some(&pack.output), "out0", "")]
        {
            let place =
                port.map_or("0".into(), |port| format!("state->buffers[{}].items", plan.first + port.buffer));
            let cell = port.map_or("int32_t", |port| cell_type(port.items.cell));
            let _ = writeln!(out, "    {constant}{cell} *restrict {name} = {place};");
        }
        out.push_str(&members.function());
        out.push_str("}\n");
    }

    /// The firings of an actor.
    pub(super) fn act(
        &mut self,
        out: &mut String,
        plan: &Plan,
        names: &[String],
        at: usize,
        depth: usize,
        (first, last): (&str, &str),
    ) {
        let indent = "    ".repeat(depth);
        let (actor, node) = (&plan.actors[at], plan.actors[at].node.0);
        let memory = |port: &crate::plan::Port| {
            let cell = cell_type(port.items.cell);
            format!("({cell} *)state->buffers[{}].items", plan.first + port.buffer)
        };
        if names[at].is_empty() {
            if self.copies(actor.node) {
                let ins = actor.inputs.iter().map(|port| (memory(port), &port.items)).collect();
                let outs = actor.outputs.iter().map(|port| (memory(port), &port.items)).collect();
                let text = self.copying(actor.node, ins, outs, (first, last));
                text.lines().for_each(|line| _ = writeln!(out, "{indent}{line}"));
            }
            return;
        }
        let side = |port: Option<&crate::plan::Port>| port.map_or("0".to_owned(), memory);
        let _ = writeln!(
            out,
            "{indent}{}(&state->env, {node}, &state->node_{node}, {}, {}, {first}, {last});",
            names[at],
            side(actor.inputs.first()),
            side(actor.outputs.first())
        );
    }
}

/// A call of a kernel's function.
pub(super) fn call(plan: &Plan, at: usize, name: &str, (first, last): (&str, &str)) -> String {
    let kernel = &plan.kernels[at];
    let node = plan.actors[kernel.actors[0]].node.0;
    let memory = |port: &crate::plan::Port| {
        format!("({} *)state->buffers[{}].items", cell_type(port.items.cell), plan.first + port.buffer)
    };
    let (input, output) = (memory(&kernel.input), memory(&kernel.output));
    let count = kernel.actors.len();
    format!(
        "    /* {count} fused filters */\n    {name}(&state->env, {node}, &state->node_{node}, {input}, {output}, {first}, {last});\n"
    )
}

/// The most consecutive firings of an actor in one call of a region's function.
fn most_at_once(plan: &Plan, at: usize) -> u64 {
    fn most(rounds: &[Round], at: usize) -> u64 {
        let each = rounds.iter().map(|round| match round {
            Round::Fire(actor, count) if *actor == at => *count,
            Round::Fire(..) => 0,
            Round::Repeat(_, inner) => most(inner, at),
            Round::AtOnce(times, inner) => times.saturating_mul(most(inner, at)),
        });
        each.max().unwrap_or(0)
    }
    let all = plan.steps.iter().map(|step| match step {
        Step::Rounds(rounds) => most(rounds, at),
        Step::All(actor) if *actor == at => u64::MAX,
        Step::All(_) | Step::Unrolled(_) | Step::Pack(_) | Step::Fused(_) => 0,
    });
    all.max().unwrap_or(0)
}
