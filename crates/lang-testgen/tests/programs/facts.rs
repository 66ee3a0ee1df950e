//! The flat graph states the facts of the tree.

use crate::cases::{Finding, for_each};
use crate::run::compiled;
use thalweg_lang::Compiled;
use thalweg_lang::flat::{Firing, NodeId};
use thalweg_lang::tree::Filter;
use thalweg_lang_testgen::Options;

#[test]
fn graphs_of_random_programs_are_legal_and_have_the_rates_of_their_trees() {
    for_each(30, &Options::default(), |program, _| {
        let compiled = compiled(program)?;
        let graph = &compiled.flat.graph;
        graph.check().map_err(|faults| format!("the graph is refused: {faults:?}"))?;
        graph.node_ids().try_for_each(|node| match compiled.flat.filter(node) {
            Some(filter) => same(&compiled, node, &compiled.tree.filters[filter.0 as usize]),
            None => Ok(()),
        })
    });
}

/// Compares a node with its filter in the tree.
fn same(compiled: &Compiled, node: NodeId, filter: &Filter) -> Finding {
    let (flat, work) = (&compiled.flat, filter.work);
    let named = (flat.node(node).name(), flat.span(node)) == (filter.path.as_str(), filter.span);
    let rates = [(Firing::First, filter.prework.unwrap_or(work)), (Firing::Later, work)];
    let moves = rates.into_iter().all(|(firing, rates)| {
        let pop = rates.pop.fixed().filter(|_| !rates.decides_input()).map(u64::from);
        let found = (flat.pop(node, 0, firing), flat.peek(node, 0, firing), flat.push(node, 0, firing));
        found == (pop, rates.least_window().into(), rates.push.fixed().map(u64::from))
    });
    if named && moves {
        Ok(())
    } else {
        Err(format!("the node {:?} is not its filter {filter:?}", flat.node(node)))
    }
}
