//! The flat graph states the facts of the tree.

use crate::streams::*;
use std::fs;
use std::path::Path;
use thalweg_graph::{Footprint, Rate};
use thalweg_lang::flat::{Flat, NodeKind, flatten};
use thalweg_lang::tree::{Filter, Rates, Tree};
use thalweg_lang::{Sources, compile};

/// Asserts that a filter's ports have the rates of an execution, which are read from the ports by `pop` and `push`.
fn check_filter(flat: &Flat, node: thalweg_lang::flat::NodeId, filter: &Filter) {
    let data = flat.node(node);
    assert_eq!(flat.span(node), filter.span, "{}", data.name());
    assert!(data.inputs().len() <= 1 && data.outputs().len() <= 1, "{}", data.name());
    let static_rate =
        |rate: thalweg_lang::tree::Rate| rate.fixed().map_or(Rate::Dynamic, |n| Rate::Static(n.into()));
    let pop = |rates: Rates| if rates.decides_input() { Rate::Dynamic } else { static_rate(rates.pop) };
    let window = |rates: Rates| (pop(rates), u64::from(rates.least_window()));
    for port in data.inputs() {
        assert_eq!((port.pop(), port.peek()), window(filter.work), "{}", data.name());
        assert_eq!(
            port.first().map(|first| (first.pop(), first.peek())),
            filter.prework.map(window),
            "{}",
            data.name()
        );
        let bounds = port.bounds().map_or((0, None), |bounds| (bounds.least(), bounds.most()));
        if port.pop() == Rate::Dynamic {
            assert_eq!(bounds, (filter.work.pop.least().into(), filter.work.pop.most().map(u64::from)));
        }
    }
    for port in data.outputs() {
        assert_eq!(port.push(), static_rate(filter.work.push), "{}", data.name());
        assert_eq!(port.first(), filter.prework.map(|rates| static_rate(rates.push)), "{}", data.name());
    }
}

/// Asserts that the graph of a tree has the facts of the tree.
fn check(flat: &Flat, tree: &Tree) {
    let mut filters = 0;
    for node in flat.graph.node_ids() {
        match flat.kind(node) {
            NodeKind::Filter(id) => {
                filters += 1;
                check_filter(flat, node, &tree.filters[id.0 as usize]);
            }
            NodeKind::Split(_) => assert!(flat.node(node).name().contains(".split")),
            NodeKind::Join(_) => assert!(flat.node(node).name().contains(".join")),
        }
    }
    assert_eq!(filters, tree.filters.len());
    for id in flat.graph.channel_ids() {
        let channel = flat.channel(id);
        assert_eq!(
            channel.link().feedback(),
            channel.from().0 >= channel.to().0,
            "nodes are in data-flow order"
        );
        assert_eq!(channel.link().initial(), flat.initial(id).len());
        assert_eq!(channel.item().name(), flat.shape(id).to_string());
    }
}

#[test]
fn constructs_become_legal_graphs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constructs");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let sources = Sources::of("test.str", fs::read_to_string(&path).unwrap());
        let compiled = compile(&sources).unwrap_or_else(|errors| panic!("{errors:?}"));
        assert_eq!(compiled.flat.graph.check(), Ok(()), "{}", path.display());
        check(&compiled.flat, &compiled.tree);
        for node in compiled.flat.graph.node_ids() {
            if let Some(id) = compiled.flat.filter(node) {
                let path = &compiled.tree.filters[id.0 as usize].path;
                assert_eq!(&compiled.flat.node(node).name(), path, "paths are unique");
            }
        }
        let sends = path.file_stem().unwrap().to_str().unwrap().starts_with("messages");
        assert_eq!(!compiled.flat.graph.messages().is_empty(), sends, "{}", path.display());
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_trees_become_graphs_with_their_facts(plan in random::plan(true)) {
        let tree = tree(random::program(&plan, 2, 3));
        check(&flatten(&tree), &tree);
    }
}

#[test]
fn the_bytes_of_fields_and_parameters_are_known() {
    let text = "void->void pipeline Main { add Count(3); add Fir(8); }\n\
                void->float filter Count(int step) { float at; work push 1 { push(at); at += step; } }\n\
                float->void filter Fir(int n) {\n\
                  float[n] weights; int calls;\n\
                  init { for (int i = 0; i < n; i++) weights[i] = i; }\n\
                  work pop 1 { println(pop() * weights[calls % n]); calls++; }\n\
                }";
    let compiled =
        compile(&Sources::of("test.str", text.to_owned())).unwrap_or_else(|errors| panic!("{errors:?}"));
    let graph = &compiled.flat.graph;
    let states: Vec<_> = graph.node_ids().map(|node| graph.footprint(node)).collect();
    assert_eq!(states, [Footprint::Known(4 * 2), Footprint::Known(4 * (1 + 8 + 1))]);
}
