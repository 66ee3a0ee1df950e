//! The text form of plans: printing and parsing.

use proptest::prelude::*;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Link, Node, OutPort};
use thalweg_plan::{Plan, Raised, ReadError, Wishes};

fn graph() -> GraphData {
    let item = Item::of::<u64>();
    let mut graph = GraphData::new();
    let a = graph.add(Node::sequential("new\nline").output(OutPort::new("out", item)));
    let b = graph.add(Node::sequential("sum").input(InPort::new("in", item).peek(4)));
    graph.connect((a, 0), (b, 0), Link { capacity: Some(2), ..Link::default() }).unwrap();
    graph
}

fn plan() -> Plan {
    let wishes = Wishes {
        threads: Some(2),
        policy: Some("qes+pss".to_owned()),
        budget: Some(4096),
        ..Wishes::default()
    };
    Plan::new(&graph(), &wishes)
}

fn parse_error(text: &str) -> String {
    text.parse::<Plan>().unwrap_err().to_string()
}

#[test]
fn prints_one_statement_a_line() {
    let expected = "\
thalweg-plan 1
threads 2
policy qes+pss
budget 4096 bytes
node 0 run 512
node 1 run 512
channel 0 capacity 4
raised 0 from 2 to 4
";
    assert_eq!(plan().to_string(), expected);
    assert_eq!(expected.parse(), Ok(plan()));
}

#[test]
fn names_are_escaped_comments() {
    let expected = r"thalweg-plan 1
threads 2
policy qes+pss
budget 4096 bytes
node 0 run 512  # new\nline
node 1 run 512  # sum
channel 0 capacity 4  # new\nline.out -> sum.in
raised 0 from 2 to 4
";
    let text = plan().on(&graph()).to_string();
    assert_eq!(text, expected);
    assert_eq!(text.parse(), Ok(plan()));
    // Nodes and channels that the graph lacks have no comment.
    assert!(plan().on(&GraphData::new()).to_string().contains("channel 0 capacity 4\n"));
}

#[test]
fn comments_and_whitespace_are_ignored() {
    let text = "# mine\r\n\r\n  thalweg-plan   1\r\npolicy auto # the default\r\n\tthreads 3";
    let plan: Plan = text.parse().unwrap();
    assert_eq!((plan.threads, plan.policy.as_str(), plan.budget), (3, "auto", None));
    assert_eq!(plan.run, []);
}

#[test]
fn errors_name_the_line() {
    let head = "thalweg-plan 1\nthreads 1\npolicy auto\n";
    let after = |line: &str| parse_error(&format!("{head}\n# one comment\n{line}\n"));
    assert_eq!(after("node 1 run 4"), "plan, line 6: expected node 0, found node 1");
    assert_eq!(after("node 0 run 0"), "plan, line 6: expected a number from 1, found 0");
    assert_eq!(after("nodes 4"), "plan, line 6: unknown statement `nodes 4`");
    assert_eq!(after("threads 2"), "plan, line 6: duplicate `threads`");
    assert_eq!(after("raised 0 from 1 to 2"), "plan, line 6: no channel 0 above");
    assert!(after("budget -1 bytes").starts_with("plan, line 6: expected a number from 0 to "));
    assert!(after("channel 0 capacity 99999999999999999999").contains("line 6"));
    assert!(parse_error("thalweg-plan 1\npolicy \\x").contains("line 2: invalid escape in `\\x`"));
}

#[test]
fn other_texts_and_newer_versions_are_refused() {
    assert_eq!(
        parse_error("thalweg-plan 2\nthreads 1"),
        "plan, line 1: unsupported version: expected `thalweg-plan 1`, found `thalweg-plan 2`"
    );
    assert!(parse_error("#!/bin/sh\necho\n").starts_with("plan, line 2: not a plan"));
    assert!(parse_error("").starts_with("plan, line 1: not a plan"));
    assert_eq!(parse_error("thalweg-plan 1\npolicy auto\n"), "plan, line 3: missing `threads`");
    assert_eq!(parse_error("thalweg-plan 1\nthreads 1\n"), "plan, line 3: missing `policy`");
}

/// A random plan, with any values that its fields allow.
fn any_plan() -> impl Strategy<Value = Plan> {
    let sizes = || proptest::collection::vec(1usize.., 0..8);
    let raised =
        proptest::collection::vec((any::<prop::sample::Index>(), any::<usize>(), any::<usize>()), 0..3);
    (sizes(), sizes(), 1usize.., r"\PC*|[\s\x00-\x24\\{}]{0,6}", any::<Option<usize>>(), raised).prop_map(
        |(run, capacities, threads, policy, budget, raised)| {
            let mut plan = Plan::new(&GraphData::new(), &Wishes::default());
            if !capacities.is_empty() {
                let channel = |at: prop::sample::Index| ChannelId(at.index(capacities.len()) as u32);
                let raised = raised.into_iter();
                plan.raised =
                    raised.map(|(at, asked, given)| Raised { channel: channel(at), asked, given }).collect();
            }
            (plan.run, plan.capacities, plan.threads) = (run, capacities, threads);
            (plan.policy, plan.budget) = (policy, budget);
            plan
        },
    )
}

proptest! {
    #[test]
    fn a_printed_plan_reads_back_as_itself(plan in any_plan()) {
        prop_assert_eq!(plan.to_string().parse::<Plan>(), Ok(plan));
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = text.parse::<Plan>();
    }

    #[test]
    fn a_damaged_plan_is_read_or_refused_with_a_line_number(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = plan().to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Err(ReadError { line, .. }) = text.parse::<Plan>() {
            prop_assert!((1..=text.lines().count() + 1).contains(&line));
        }
    }
}
