//! Delays: filters with a `prework` that afterwards forward their input.
//!
//! From its second firing on a delay is an identity with shifted item numbers. So it needs no code: its
//! output is a view of its input's buffer, and what `prework` has pushed is put there before the first steady
//! state, at the positions of earlier items.

use super::{Facts, loops};
use crate::lower::NodeCode;
use crate::unrolled::passes;
use thalweg_lang::flat::{Firing, NodeId};

/// By node: the delay in items, for filters that are delays. Filters in feedback loops are excluded: they
/// fire in turn with the other nodes of the loop.
pub(crate) fn delays(facts: &Facts<'_>, codes: &[Option<NodeCode>]) -> Vec<Option<i64>> {
    let loops = loops(facts);
    let of = |(at, code): (usize, &Option<NodeCode>)| {
        let in_loop = loops.iter().any(|(from, to)| (*from as usize..=*to as usize).contains(&at));
        delay(facts, NodeId(at as u32), code.as_ref()?).filter(|_| !in_loop)
    };
    codes.iter().enumerate().map(of).collect()
}

fn delay(facts: &Facts<'_>, node: NodeId, code: &NodeCode) -> Option<i64> {
    let flat = &facts.compiled.flat;
    // A node of code is a filter: it has one port on each side at most.
    let (input, output) = (flat.input(node)?, flat.output(node)?);
    let rates = |firing| Some((flat.pop(node, 0, firing)?, flat.push(node, 0, firing)?));
    let ((first_pop, first_push), (pop, push)) = (rates(Firing::First)?, rates(Firing::Later)?);
    let looks = flat.peek(node, 0, Firing::Later) > pop;
    let same = facts.item(input).ok()? == facts.item(output).ok()?;
    let begun = facts.begun[node.0 as usize] > 0;
    if code.prework.is_none()
        || !code.handlers.is_empty()
        || !facts.has(node)
        || !begun
        || pop != push
        || looks
        || !same
    {
        return None;
    }
    passes(&code.work, facts.item(input).ok()?, pop).then(|| first_push as i64 - first_pop as i64)
}

#[cfg(test)]
mod tests {
    use super::super::{Facts, Merged, plan};
    use super::delays;
    use crate::lower::lower_all;

    /// The delays of a program's middle, and the number of its actors that are filters with code.
    fn found(middle: &str) -> (Vec<i64>, usize) {
        let text = format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); {middle} add FileWriter<int>(\"out\"); }}
             int->int filter Late(int pops, int pushes) {{ prework pop pops push pushes {{ for (int i = 0; i < pops; i++) pop();
                for (int i = 0; i < pushes; i++) push(i); }} work pop 2 push 2 {{ push(pop()); push(pop()); }} }}
             int->int filter Turn() {{ prework push 2 {{ push(1); push(2); }} work pop 2 push 2 {{ push(peek(1)); push(pop()); pop(); }} }}
             int->int filter Count() {{ int n; prework push 1 {{ push(0); }} work pop 1 push 1 {{ n++; push(pop()); }} }}
             int->int filter Sum() {{ work pop 1 push 1 peek 5 {{ push(pop() + peek(3)); }} }}"
        );
        let compiled = thalweg_lang::compile(&thalweg_lang::Sources::of("test.str", &text)).unwrap();
        let codes = lower_all(&compiled).unwrap();
        let mut facts = Facts::new(&compiled, &compiled.schedule.regions[0]);
        let delays = delays(&facts, &codes);
        facts.delays.clone_from(&delays);
        let plan = plan(&facts, &Merged::nothing(&facts), &codes, (false, 1)).unwrap();
        let acts = plan.actors.iter().filter(|actor| codes[actor.node.0 as usize].is_some()).count();
        (delays.into_iter().flatten().collect(), acts)
    }

    #[test]
    fn a_delay_has_no_actor() {
        assert_eq!(found("add Late(0, 3); add Sum();"), (vec![3], 1));
        assert_eq!(found("add Sum(); add Late(4, 0); add Late(1, 1); add Sum();"), (vec![-4, 0], 2));
        let split =
            "add splitjoin { split roundrobin; add pipeline { add Late(0, 6); add Sum(); }; add Late(0, 2);
            join roundrobin; }; add Late(0, 4);";
        // Items from the splitter to the joiner have to be copied.
        assert_eq!(found(split), (vec![6, 2, 4], 2));
    }

    #[test]
    fn filters_that_do_more_are_not_delays() {
        assert_eq!(found("add Turn(); add Sum();"), (vec![], 2));
        assert_eq!(found("add Count(); add Sum();"), (vec![], 2));
        let round =
            "add feedbackloop { join roundrobin(1, 1); body Late(0, 2); loop Sum(); split roundrobin(1, 1);
            enqueue 1; enqueue 2; enqueue 3; enqueue 4; };";
        assert_eq!(found(round), (vec![], 2));
    }
}
