//! Functions of a region's single steps, for runs on several threads ([`run::parallel`](crate::run)).

use super::program::Writer;
use super::state::for_each;
use crate::plan::{Actor, Facts, Plan, Step};
use std::fmt::Write;

impl Writer<'_> {
    /// Functions that do some of the steps, and that set the number of steady states done.
    pub(super) fn steps(
        &mut self,
        facts: &Facts<'_>,
        plan: &Plan,
        (names, kernels): (&[String], &[String]),
    ) -> String {
        let has_code = |node: u32| self.codes[node as usize].is_some();
        let mut out = String::from(
            "\nstatic void part(struct state *state, uint32_t step, int64_t first, int64_t last)\n{\n    \
             switch (step) {\n",
        );
        for (at, step) in plan.steps.iter().enumerate() {
            let _ = writeln!(out, "    case {at}: {{");
            match step {
                Step::All(actor) => self.act(&mut out, plan, names, *actor, 2, ("first", "last")),
                Step::Unrolled(block) => {
                    out.push_str(&super::unrolled::calls(
                        &plan.blocks[*block],
                        &format!("0_{block}"),
                        ("first", "last"),
                    ));
                }
                Step::Pack(pack) => {
                    let _ = writeln!(out, "        pack_0_{pack}(state, first, last);");
                }
                Step::Fused(kernel) => {
                    out.push_str(&super::region::call(plan, *kernel, &kernels[*kernel], ("first", "last")));
                }
                Step::Rounds(rounds) => {
                    let call = super::rounds::call(plan, rounds, &format!("rounds_0_{at}"), "last");
                    let _ = writeln!(out, "        {call}");
                }
            }
            out.push_str("        break;\n    }\n");
        }
        out.push_str("    }\n}\n");
        let each: Vec<String> = plan.steps.iter().map(|step| step.times(plan).to_string()).collect();
        let _ = writeln!(out, "{}", calls(&each));
        out.push_str("\nvoid thalweg_seek(struct state *state, int64_t n)\n{\n    (void)state, (void)n;\n");
        let row = |actor: &Actor| {
            let node = actor.node.0;
            [u64::from(node), facts.begun[node as usize], actor.firings]
                .map(|number| number.to_string())
                .to_vec()
        };
        let fired: Vec<_> = plan.actors.iter().filter(|actor| has_code(actor.node.0)).map(row).collect();
        out.push_str(&for_each("fired", &fired, "kept_of(state, row[0])->fired = row[1] + n * row[2];"));
        out.push_str("}\n");
        out
    }
}

/// The exported functions, which return where something fails.
fn calls(each: &[String]) -> String {
    let call = |head: &str, body: &str| {
        format!(
            "\nint32_t {head}\n{{\n    jmp_buf out;\n    state->env.out = &out;\n    if (setjmp(out))\n        \
             return 1;\n    {body}\n    return 0;\n}}"
        )
    };
    let each = if each.is_empty() { "0".to_owned() } else { each.join(", ") };
    let steps = call(
        "thalweg_steps(struct state *state, uint32_t from, uint32_t to, int64_t n)",
        &format!(
            "static const int64_t each[] = {{{each}}};\n    for (; from < to; from++)\n        \
             part(state, from, 0, n * each[from]);"
        ),
    );
    let firings = call(
        "thalweg_firings(struct state *state, uint32_t step, int64_t first, int64_t last)",
        "part(state, step, first, last);",
    );
    steps + "\n" + &firings
}
