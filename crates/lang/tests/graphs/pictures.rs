//! Pictures of one program with all kinds of streams, and of names that need escapes.

use crate::streams::*;
use thalweg_lang::flat::flatten;
use thalweg_lang::picture::{Form, draw};
use thalweg_lang::tree::{Rate, Rates, StreamKind, Tree, Weights};

fn everything() -> Tree {
    let some = Rate::Dynamic { min: 1, average: Some(2), max: None };
    let bands = SplitJoin(
        "Bands",
        Weights::Duplicate,
        (0..3).map(|_| window("Band", 64, 4, 1)).collect(),
        round([1; 3]),
    );
    let echo = Pipeline("Echo", vec![filter("Damp", 1, 1), filter("Wait", 1, 1)]);
    let echoes = feedback("Echoes", [1, 1], filter("Mix", 2, 2), [1, 1], echo, 2);
    let sources =
        SplitJoin("Sources", round([0, 0]), vec![filter("Low", 0, 1), filter("High", 0, 2)], round([1, 2]));
    let smooth = first("Smooth", rates(0, 0, 2), rates(3, 1, 1));
    tree(Pipeline(
        "Main",
        vec![sources, smooth, bands, dynamic("Pick", any(), some), echoes, filter("Sink", 3, 0)],
    ))
}

fn drawn(tree: &Tree, form: Form) -> String {
    draw(tree, &flatten(tree), form)
}

#[test]
fn as_a_tree() {
    insta::assert_snapshot!(drawn(&everything(), Form::Tree));
}

#[test]
fn as_nodes_and_channels() {
    insta::assert_snapshot!(flatten(&everything()).graph);
}

#[test]
fn windows_of_dynamic_rates() {
    for (least, most, words) in
        [(1, Some(3), "[1,3]/1 -> 1"), (1, None, "*/1 -> 1"), (2, None, "[2,*]/1 -> 1")]
    {
        let peek = Rate::Dynamic { min: least, average: None, max: most };
        let look = Draft::Filter("Look", None, Rates { peek, ..rates(1, 1, 1) });
        let tree = tree(Pipeline("Main", vec![filter("A", 0, 1), look, filter("B", 1, 0)]));
        assert!(drawn(&tree, Form::Tree).contains(words), "{words}");
        let (flat, peek) = (flatten(&tree).graph.to_string(), if least > 1 { " peek 2" } else { "" });
        let line = format!("in pop [1, 1]{peek}, out push 1, ");
        assert!(flat.contains(&line), "{flat}");
    }
}

#[test]
fn as_dot() {
    insta::assert_snapshot!(flatten(&everything()).graph.to_nested_dot());
}

#[test]
fn as_svg() {
    insta::assert_snapshot!(drawn(&everything(), Form::Svg));
}

#[test]
fn renaming_filters_preserves_meaning() {
    let mut tree = tree(Pipeline("Main", vec![filter("A", 0, 1), filter("B", 1, 0)]));
    let StreamKind::Pipeline(children) = &mut tree.root.kind else { unreachable!() };
    let name = "\"<&>\\\n\u{1}";
    children[0].name = name.into();
    tree.root.name = name.into();
    let svg = drawn(&tree, Form::Svg);
    assert!(svg.contains("&quot;&lt;&amp;&gt;\\\u{fffd}\u{fffd}</text>") && !svg.contains(name));
    assert!(drawn(&tree, Form::Tree).starts_with(r#""\"<&>\\\n\u{1}": void -> void pipeline"#));
}

#[test]
fn deep_trees_are_drawn_without_recursion() {
    let mut tree = tree(Pipeline("Main", vec![filter("A", 0, 1), filter("B", 1, 0)]));
    for _ in 0..2000 {
        let mut outer = tree.root.clone();
        outer.kind = StreamKind::Pipeline(vec![std::mem::replace(&mut tree.root, outer.clone())]);
        tree.root = outer;
    }
    let flat = flatten(&tree);
    assert_eq!((flat.nodes().len(), flat.channels().len()), (2, 1));
    for form in [Form::Tree, Form::Svg] {
        assert!(draw(&tree, &flat, form).contains('A'));
    }
}

/// The boxes of a drawing: left, top, right, bottom.
fn boxes(svg: &str) -> Vec<[i64; 4]> {
    let number = |line: &str, key: &str| -> i64 {
        let rest = &line[line.find(key).unwrap() + key.len()..];
        rest[..rest.find('"').unwrap()].parse().unwrap()
    };
    let area = |line: &str| {
        let (x, y) = (number(line, " x=\""), number(line, " y=\""));
        [x, y, x + number(line, " width=\""), y + number(line, " height=\"")]
    };
    svg.lines().filter(|line| line.trim_start().starts_with("<rect")).map(area).collect()
}

fn beside(a: [i64; 4], b: [i64; 4]) -> bool {
    a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]
}

fn within(a: [i64; 4], b: [i64; 4]) -> bool {
    a[0] > b[0] && a[1] > b[1] && a[2] < b[2] && a[3] < b[3]
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

    #[test]
    fn boxes_are_beside_or_within_each_other(plan in random::plan(true)) {
        let tree = tree(random::program(&plan, 2, 3));
        let boxes = boxes(&drawn(&tree, Form::Svg));
        assert!(boxes.len() > tree.filters.len());
        for (place, a) in boxes.iter().enumerate() {
            for b in &boxes[..place] {
                assert!(beside(*a, *b) || within(*a, *b), "{a:?} and {b:?}");
            }
        }
    }
}
