//! Random programs: nested streams with consistent rates, weights and windows, some of them dynamic.
//!
//! Each stream is built for given numbers of items that it pops and pushes. So programs balance, and the scheduler
//! may reject only feedback loops with too few items.

use super::{Draft, Pipeline, SplitJoin, any, feedback, first, rates, round};
use proptest::prelude::*;
use thalweg_lang::tree::{Rate, Rates, Weights};

/// The random choices that determine a stream.
#[derive(Clone, Debug)]
pub enum Plan {
    Filter { prework: Option<(u32, u32, u32)>, extra: u32, dynamic: Option<(bool, bool)> },
    Pipeline(Vec<Plan>),
    Duplicate(Vec<Plan>),
    RoundRobin(Vec<(Plan, u32)>),
    Loop { body: Box<Plan>, back: Box<Plan>, round: u32, enqueued: usize },
}

/// Random plans, with or without dynamic rates. Loops may have too few items.
pub fn plan(dynamic: bool) -> impl Strategy<Value = Plan> {
    let prework = proptest::option::weighted(0.2, (0_u32..6, 0_u32..4, 0_u32..6));
    let decides = proptest::option::weighted(0.2, (proptest::bool::ANY, proptest::bool::ANY))
        .prop_map(move |decides| decides.filter(|_| dynamic));
    let leaf = (prework, prop_oneof![3 => Just(0_u32), 1 => 1_u32..6], decides)
        .prop_map(|(prework, extra, dynamic)| Plan::Filter { prework, extra, dynamic });
    leaf.prop_recursive(4, 24, 4, |inner| {
        let several = proptest::collection::vec(inner.clone(), 1..4);
        let weighted = proptest::collection::vec((inner.clone(), 0_u32..4), 1..4);
        prop_oneof![
            3 => several.clone().prop_map(Plan::Pipeline),
            1 => several.prop_map(Plan::Duplicate),
            2 => weighted.prop_map(Plan::RoundRobin),
            1 => (inner.clone(), inner, 1_u32..4, 0_usize..12).prop_map(|(body, back, round, enqueued)| {
                Plan::Loop { body: Box::new(body), back: Box::new(back), round, enqueued }
            }),
        ]
    })
}

/// A program with a stream that pops `take` items for `give` that it pushes.
pub fn program(plan: &Plan, take: u32, give: u32) -> Draft {
    let source = super::filter("Source", 0, 2);
    let sink = super::filter("Sink", 3, 0);
    Pipeline("Main", vec![source, made(plan, take, give), sink])
}

fn made(plan: &Plan, take: u32, give: u32) -> Draft {
    match plan {
        Plan::Filter { prework, extra, dynamic } => filter(*prework, *extra, *dynamic, take, give),
        Plan::Pipeline(plans) => {
            // The number of items between two children is arbitrary.
            let middle = |place: usize| if place == 0 { take } else { 1 + (place as u32 * 2 + take) % 5 };
            let last = |place: usize| if place + 1 == plans.len() { give } else { middle(place + 1) };
            let stream = |(place, plan)| made(plan, middle(place), last(place));
            Pipeline("Pipe", plans.iter().enumerate().map(stream).collect())
        }
        Plan::Duplicate(plans) => {
            let children = plans.iter().map(|plan| made(plan, take, give)).collect();
            let copies = plans.len() as u32;
            let split = SplitJoin("Copy", Weights::Duplicate, children, round(vec![1; plans.len()]));
            Pipeline("Copies", vec![split, super::filter("One", copies, 1)])
        }
        Plan::RoundRobin(plans) => round_robin(plans, take, give),
        Plan::Loop { body, back, round, enqueued } => {
            let (join, split) = ([take, *round], [give, *round]);
            // In a steady state the body pops all items of the joiner; the stream back passes each item on.
            let body = made(body, take + round, give + round);
            feedback("Loop", join, body, split, made(back, 1, 1), *enqueued)
        }
    }
}

/// A split-join with weights that match the children and may be 0.
fn round_robin(plans: &[(Plan, u32)], take: u32, give: u32) -> Draft {
    let none = plans.iter().all(|(_, weight)| *weight == 0);
    let weights: Vec<u32> = plans.iter().map(|(_, weight)| if none { 1 } else { *weight }).collect();
    let children = plans.iter().map(|(plan, _)| made(plan, take, give)).collect();
    let split = weights.iter().map(|weight| weight * take).collect::<Vec<u32>>();
    let join = weights.iter().map(|weight| weight * give).collect::<Vec<u32>>();
    SplitJoin("Deal", round(split), children, round(join))
}

fn filter(
    prework: Option<(u32, u32, u32)>,
    extra: u32,
    dynamic: Option<(bool, bool)>,
    take: u32,
    give: u32,
) -> Draft {
    if let Some((pops, pushes)) = dynamic {
        let rate = |dynamic, count| if dynamic { any() } else { Rate::Static(count) };
        let pop = rate(pops, take);
        let work = Rates { pop, push: rate(pushes, give), peek: pop };
        return Draft::Filter("Any", None, work);
    }
    let work = rates(take + extra, take, give);
    match prework {
        Some((more, pop, push)) => first("First", rates(pop + more, pop, push), work),
        None => Draft::Filter("Work", None, work),
    }
}
