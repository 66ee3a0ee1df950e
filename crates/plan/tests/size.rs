//! Claim lengths and channel capacities.

use proptest::prelude::*;
use thalweg_graph::{ChannelId, GraphData, InPort, Item, Link, Node, OutPort, Rate};
use thalweg_plan::{Misfit, Plan, Raised, Wishes};

/// A source `a` with push rate `push`, a sink `b` with pop rate `pop` and peek rate `peek`, and a channel of `item`.
fn pair(item: Item, push: Rate, pop: Rate, peek: u64, link: Link) -> GraphData {
    let mut graph = GraphData::new();
    let source = graph.add(Node::sequential("a").output(OutPort::new("out", item).with_push(push)));
    let sink = graph.add(Node::parallel("b").input(InPort::new("in", item).with_pop(pop).with_peek(peek)));
    graph.connect((source, 0), (sink, 0), link).unwrap();
    graph
}

fn plain(item: Item) -> GraphData {
    pair(item, Rate::Dynamic, Rate::Static(1), 1, Link::default())
}

fn on(threads: usize) -> Wishes {
    Wishes::default().threads(threads)
}

#[test]
fn claims_of_small_items_have_hundreds() {
    let plan = Plan::new(&plain(Item::of::<u64>()), &on(2));
    assert_eq!(plan.claim_lengths(), [512, 512]);
    assert_eq!(plan.capacities(), [2048]);
    assert_eq!(Plan::new(&plain(Item::of::<()>()), &on(1)).claim_lengths(), [512, 512]);
    assert_eq!(Plan::new(&plain(Item::of::<u128>()), &on(1)).claim_lengths(), [256, 256]);
}

#[test]
fn claims_of_large_items_have_a_few_kibibytes() {
    let run = |graph: GraphData| Plan::new(&graph, &on(2)).claim_lengths()[1];
    assert_eq!(run(plain(Item::of::<[u8; 64]>())), 64);
    assert_eq!(run(plain(Item::of::<[u8; 4096]>())), 1);
    assert_eq!(run(plain(Item::of::<[u8; 1 << 20]>())), 1);
}

#[test]
fn claim_length_is_limited_in_items() {
    let item = Item::of::<u64>();
    let graph = pair(item, Rate::Static(64), Rate::Static(1000), 1000, Link::default());
    let plan = Plan::new(&graph, &on(2));
    assert_eq!(plan.claim_lengths(), [8, 1]);
    // Twice max(P T, C T) with P = 512, C = 1000, T = 2.
    assert_eq!(plan.capacities(), [4000]);
}

/// The rule of the DANBI paper: a factor times max(P, C) T.
#[test]
fn capacities_by_firings_of_each_thread() {
    let item = Item::of::<u64>();
    let capacity = |push, pop, peek, factor: f64| {
        let graph = pair(item, push, pop, peek, Link::default());
        let plan = Plan::new(&graph, &on(40).firings_per_thread(factor));
        assert!(plan.raised().is_empty() && plan.slots().is_empty());
        plan.capacities()[0]
    };
    let (one, six, ten) = (Rate::Static(1), Rate::Static(6), Rate::Static(10));
    assert_eq!(
        [1.0 / 3.0, 2.0 / 3.0, 1.0, 2.0, 3.0].map(|factor| capacity(six, ten, 10, factor)),
        [134, 267, 400, 800, 1200]
    );
    assert_eq!(capacity(ten, six, 6, 1.0), 400);
    // A firing that peeks at more items than those of all threads.
    assert_eq!(capacity(one, one, 100, 1.0), 100);
    assert_eq!(capacity(Rate::Dynamic, one, 1, 1.0), 40);
    // A capacity of the graph stays.
    let stated = pair(item, one, one, 1, Link::default().with_capacity(7));
    assert_eq!(Plan::new(&stated, &on(40).firings_per_thread(3.0)).capacities(), [7]);
    assert_eq!(capacity(ten, six, 6, f64::MAX), usize::MAX);
}

#[test]
fn capacity_grows_with_threads_up_to_a_mebibyte() {
    let capacity = |threads| Plan::new(&plain(Item::of::<u64>()), &on(threads)).capacities()[0];
    assert_eq!(capacity(1), 1024);
    assert_eq!(capacity(16), 16384);
    assert_eq!(capacity(4096), (1 << 20) / 8);
    assert_eq!(capacity(usize::MAX), (1 << 20) / 8);
}

#[test]
fn two_firings_of_each_side_fit_whatever_their_size() {
    let rate = Rate::Static(1 << 20);
    let link = Link::default().with_initial(7);
    let graph = pair(Item::of::<u64>(), rate, rate, 1 << 21, link);
    assert_eq!(Plan::new(&graph, &on(64)).capacities(), [(5 << 20) + 7]);
}

#[test]
fn capacity_has_room_for_initial_items() {
    let link = Link::default().with_initial(5);
    let graph = pair(Item::of::<u64>(), Rate::Dynamic, Rate::Dynamic, 1, link);
    assert_eq!(Plan::new(&graph, &on(2)).capacities(), [2053]);
}

#[test]
fn capacities_set_by_the_user_are_kept() {
    let link = Link::default().with_capacity(3);
    let graph = pair(Item::of::<u64>(), Rate::Static(2), Rate::Static(3), 3, link);
    let wishes = on(2).capacity(9);
    let plan = Plan::new(&graph, &wishes);
    assert_eq!((plan.capacities(), plan.raised()), (&[3][..], &[][..]));
    assert_eq!(Plan::new(&plain(Item::of::<u64>()), &wishes).capacities(), [9]);
}

#[test]
fn only_channels_of_dedicated_threads_without_settings_can_widen() {
    let item = Item::of::<[u64; 8]>();
    let mut graph = GraphData::new();
    let mut source = Node::sequential("a").output(OutPort::new("out", item));
    *source.blocking_mut() = true;
    let source = graph.add(source);
    let sink = graph.add(Node::sequential("b").input(InPort::new("in", item)));
    graph.connect((source, 0), (sink, 0), Link::default()).unwrap();
    let sizes = |graph: &GraphData, wishes: &Wishes| {
        let plan = Plan::new(graph, wishes);
        (plan.capacities()[0], plan.slots_of(ChannelId(0)))
    };

    assert_eq!(sizes(&graph, &on(2)), (256, 4096));
    assert_eq!(sizes(&graph, &on(64)), (8192, 1 << 14), "a channel has at most 1 MiB");
    assert_eq!(sizes(&graph, &on(4096)), (1 << 14, 1 << 14));
    assert!(Plan::new(&graph, &on(4096)).slots().is_empty());
    assert_eq!(sizes(&graph, &on(2).capacity(256)), (256, 256));
    assert_eq!(sizes(&graph, &on(2).budget(1 << 30)), (256, 256));
    assert_eq!(sizes(&plain(item), &on(2)), (256, 256), "neither end has a dedicated thread");
    // One-to-one threads are a baseline: their channels keep their capacities.
    assert_eq!(sizes(&plain(item), &on(2).thread_per_node(true)), (256, 256));
}

#[test]
fn capacities_too_small_for_a_firing_are_raised_and_reported() {
    let link = |initial| Link::default().with_capacity(0).with_initial(initial);
    let given = |push, pop, peek, initial| {
        let (push, pop) = (Rate::Static(push), Rate::Static(pop));
        let plan = Plan::new(&pair(Item::of::<u64>(), push, pop, peek, link(initial)), &on(2));
        let given = plan.capacities()[0];
        assert_eq!(plan.raised(), [Raised::new(ChannelId(0), 0, given)]);
        given
    };
    assert_eq!(given(1, 1, 1, 0), 1);
    assert_eq!(given(5, 1, 1, 0), 5);
    assert_eq!(given(1, 6, 6, 0), 6);
    assert_eq!(given(1, 1, 7, 0), 7);
    assert_eq!(given(1, 1, 1, 8), 8);
}

#[test]
fn settings_of_the_user_are_kept() {
    let wishes = Wishes::default().threads(0).policy("qes").budget(1 << 20).claim_length(0);
    let plan = Plan::new(&plain(Item::of::<u64>()), &wishes);
    assert_eq!((plan.threads(), plan.policy(), plan.budget()), (1, "qes", Some(1 << 20)));
    assert_eq!(plan.claim_lengths(), [1, 1]);
    let plan = Plan::new(&plain(Item::of::<u64>()), &Wishes::default());
    assert_eq!((plan.threads(), plan.policy(), plan.budget()), (thalweg_plan::threads(), "auto", None));
    assert!(plan.threads() >= 1);
}

#[test]
fn chosen_capacities_leave_half_of_a_budget() {
    let mut graph = GraphData::new();
    let item = Item::of::<u64>();
    for (capacity, peek) in [(None, 1), (None, 1), (Some(64), 1), (None, 300)] {
        let source = graph.add(Node::sequential("a").output(OutPort::new("out", item)));
        let sink = graph.add(Node::sequential("b").input(InPort::new("in", item).with_peek(peek)));
        let link = Link::default().with_capacity(capacity);
        graph.connect((source, 0), (sink, 0), link).unwrap();
    }
    let sized = |budget| Plan::new(&graph, &on(2).maybe(budget, Wishes::budget)).capacities().to_vec();
    let free = sized(None);
    assert_eq!(free, [2048, 2048, 64, 3244]);
    assert_eq!(sized(Some(1 << 20)), free);
    let small = sized(Some(16 << 10));
    assert_eq!(small, [267, 267, 64, 424]);
    assert!(small.iter().sum::<usize>() * 8 <= 8 << 10);
    // Single firings fit even if that exceeds the budget.
    assert_eq!(sized(Some(0)), [1, 1, 64, 300]);
}

fn any_rate() -> impl Strategy<Value = Rate> {
    prop_oneof![Just(Rate::Dynamic), any::<u64>().prop_map(Rate::Static), (0u64..9).prop_map(Rate::Static)]
}

proptest! {
    #[test]
    fn every_new_plan_fits_its_graph(
        (push, pop, peek) in (any_rate(), any_rate(), any::<u64>()),
        (capacity, initial) in (any::<Option<usize>>(), any::<usize>()),
        (threads, budget) in (any::<Option<usize>>(), any::<Option<usize>>()),
        (all, claim_length) in (any::<Option<usize>>(), any::<Option<usize>>()),
        thread_per_node: bool,
    ) {
        let link = Link::default().with_capacity(capacity).with_initial(initial);
        let graph = pair(Item::of::<[u64; 5]>(), push, pop, peek, link);
        let wishes =
            Wishes::default().maybe(threads, Wishes::threads).maybe(budget, Wishes::budget).maybe(all, Wishes::capacity).maybe(claim_length, Wishes::claim_length).thread_per_node(thread_per_node);
        let checked = Plan::new(&graph, &wishes).check(&graph);
        // Sizes that users choose may be too large.
        let too_large = checked.as_ref().is_err_and(|error| matches!(error.misfit(), Misfit::Bytes { .. }));
        prop_assert!(checked.is_ok() || too_large, "{checked:?}");
    }
}
