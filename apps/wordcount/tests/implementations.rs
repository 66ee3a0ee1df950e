//! All implementations have the counts of a plain map, under every policy, on 1 to 16 threads, with small channels, and
//! for any text.

use std::collections::BTreeMap;

use proptest::prelude::*;
use thalweg::Options;
use thalweg::embed::policy::registry;
use thalweg_wordcount::{
    Case, LONGEST, Ranking, Shape, count, count_text, map_reduce, map_reduce_text, sequential, sort_based,
};

type Lines = Vec<(Vec<u8>, u64)>;

fn lines(ranking: &Ranking) -> Lines {
    let lines: Lines = ranking.iter().map(|(word, count)| (word.to_vec(), count)).collect();
    assert_eq!(lines.len(), ranking.distinct());
    assert_eq!(lines.iter().map(|(_, count)| count).sum::<u64>(), ranking.words());
    lines
}

fn expected(text: &[u8], case: Case) -> Lines {
    let text = if case == Case::Ignored { text.to_ascii_lowercase() } else { text.to_vec() };
    let separates = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte > 127);
    let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
    let words = text.split(separates).flat_map(|run| run.chunks(LONGEST));
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    let mut lines: Lines = counts.into_iter().map(|(word, count)| (word.to_vec(), count)).collect();
    lines.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    lines
}

fn check(text: &[u8], case: Case, shape: Shape, options: &Options) {
    let expected = expected(text, case);
    let flex = count([Ok(text)], case, options).unwrap().0;
    let flex_text = count_text(text, case, options).unwrap().0;
    let reduced = map_reduce([Ok(text)], case, shape, options).unwrap().0;
    let reduced_text = map_reduce_text(text, case, shape, options).unwrap().0;
    let sorted = sort_based(text, case, shape.block, shape.mappers);
    for ranking in [flex, flex_text, reduced, reduced_text, sorted, sequential(text, case)] {
        assert_eq!(lines(&ranking), expected, "{case:?} {shape:?} {options:?}");
    }
}

/// Text of short and long words, some of which are not UTF-8. A few words are frequent and many are rare.
fn text(words: u64) -> Vec<u8> {
    let (mut text, mut state) = (Vec::new(), 5u64);
    for _ in 0..words {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let rank = ((state >> 40) % 60) * ((state >> 50) % 60);
        text.extend(format!("Word{rank}").bytes().chain((0..rank % 23).map(|i| b'a' + i as u8)));
        text.extend_from_slice(if state >> 63 == 1 { b"\xE9, " } else { b"\n" });
    }
    text
}

#[test]
fn all_implementations_agree_under_all_policies() {
    let text = text(4000);
    for policy in registry::names() {
        for threads in [1, 2, 3, 16] {
            for capacity in [1, 2, 3, 64] {
                let options = Options::new().policy(policy).threads(threads).capacity(capacity);
                let shape = Shape { mappers: threads, reducers: capacity.min(5), block: 3000 };
                check(&text, Case::Kept, shape, &options);
            }
        }
    }
    let one_to_one = Options::new().thread_per_node();
    check(&text, Case::Ignored, Shape { mappers: 2, reducers: 3, block: 500 }, &one_to_one);
}

#[test]
fn all_implementations_split_long_runs_alike() {
    let mut text = text(100);
    text.extend(vec![b'q'; 3 * LONGEST + 1]);
    text.extend(b" end");
    for block in [0, 10, LONGEST, 1 << 20] {
        let shape = Shape { mappers: 2, reducers: 2, block };
        check(&text, Case::Kept, shape, &Options::new().threads(2));
    }
}

#[test]
fn texts_without_words() {
    for text in [&b""[..], b" ", b"., \n"] {
        check(text, Case::Kept, Shape::for_workers(3), &Options::new().threads(3));
    }
}

#[test]
fn graphs_grow_in_proportion_to_threads() {
    let text = text(100);
    let channels = |threads: usize| {
        let options = Options::new().threads(threads);
        let flex = count([Ok(&text[..])], Case::Kept, &options).unwrap().1;
        let reduced = map_reduce_text(&text, Case::Kept, Shape::for_workers(threads), &options).unwrap().1;
        [flex, reduced].map(|report| report.graph().channels().len())
    };
    for threads in [1, 100, 400] {
        let [flex, reduced] = channels(threads);
        assert!(flex <= 5 * threads && reduced <= 40 * threads, "{threads}: {flex}, {reduced}");
    }
}

/// Random texts of letters, separators and other bytes, with repeated short words and some long words.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop_oneof![
        4 => "[a-cA-C]{1,3}".prop_map(String::into_bytes),
        2 => "[a-z0-9]{12,40}".prop_map(String::into_bytes),
        2 => "[ .,\n]{1,4}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..20),
        1 => (1..100usize).prop_map(|length| vec![b'x'; length]),
        3 => Just(b" ".to_vec()),
    ];
    prop::collection::vec(pieces, 0..200).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn all_implementations_agree_on_any_text(
        text in texts(),
        ignored: bool,
        (mappers, reducers, block) in (1..4usize, 1..4usize, 1..300usize),
        (threads, capacity) in (1..5usize, 1..4usize),
    ) {
        let case = if ignored { Case::Ignored } else { Case::Kept };
        let options = Options::new().threads(threads).capacity(capacity);
        check(&text, case, Shape { mappers, reducers, block }, &options);
    }
}
