//! Lowers all filters of a program.

use super::handlers::lower_handlers;
use super::loops::{CHEAP, UNROLL_LIMIT};
use super::node::NodeCode;
use super::{Which, lower};
use crate::bounds_checks::drop_checks;
use crate::ir::walk;
use crate::scalar_replacement::tidy;
use std::collections::{BTreeMap, HashMap};
use thalweg_lang::Compiled;
use thalweg_lang::flat::NodeId;
use thalweg_lang::tree;

/// Statements of all filters together from which on loops over short arrays are not unrolled: a few seconds
/// of compiling.
const LONG: usize = 25_000;

/// Lowers all filters.
pub(crate) fn lower_all(compiled: &Compiled) -> Result<Vec<Option<NodeCode>>, String> {
    let nodes = || compiled.flat.graph.node_ids();
    let mut codes: Vec<Option<NodeCode>> =
        nodes().map(|node| lower_node(compiled, node, UNROLL_LIMIT)).collect::<Result<_, _>>()?;
    if statements(&codes) > LONG {
        // Some filters are supported only with their loops unrolled.
        let shorter = |node| lower_node(compiled, node, CHEAP).ok();
        codes = nodes().zip(codes).map(|(node, code)| shorter(node).unwrap_or(code)).collect();
    }
    lower_handlers(compiled, &mut codes)?;
    Ok(codes)
}

/// Statements of all filters, counting equal codes once.
fn statements(codes: &[Option<NodeCode>]) -> usize {
    let size = |code: &NodeCode| {
        let mut count = 0;
        let all = std::iter::once(&code.work).chain(&code.prework);
        all.for_each(|code| walk(&code.body, &mut |_| count += 1));
        count
    };
    if codes.iter().flatten().map(size).sum::<usize>() <= LONG {
        return 0;
    }
    let different: HashMap<String, usize> =
        codes.iter().flatten().map(|code| (format!("{code:?}"), size(code))).collect();
    different.values().sum()
}

fn lower_node(compiled: &Compiled, node: NodeId, unroll_limit: u64) -> Result<Option<NodeCode>, String> {
    let Some(id) = compiled.flat.filter(node) else { return Ok(None) };
    let filter = &compiled.tree.filters[id.0 as usize];
    if !matches!(filter.code, tree::Code::Written { .. }) {
        return Ok(None);
    }
    let code = |which| {
        let lowered = lower(&compiled.program, &compiled.tree, filter, which, unroll_limit);
        let mut code = lowered.map_err(|why| format!("`{}`: {why}", filter.path))?;
        tidy(&mut code);
        drop_checks(&mut code);
        Ok::<_, String>(code)
    };
    let prework = if filter.prework.is_some() { Some(code(Which::Prework)?) } else { None };
    Ok(Some(NodeCode { work: code(Which::Work)?, prework, handlers: BTreeMap::new() }))
}
