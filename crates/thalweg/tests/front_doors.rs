//! A chain and the builder give the same graph, and so the same text, plan and result.

use thalweg::{Builder, In, Options, Out, from_iter, input, output, window};

#[test]
fn a_chain_and_the_builder_give_the_same_graph() {
    let chain = from_iter(0..100u64)
        .named("numbers")
        .capacity(32)
        .par_windows(4, 1, |window| window.as_slice().iter().sum::<u64>())
        .named("sums")
        .filter(|sum| sum % 3 != 0)
        .named("sieve")
        .for_each(|_| {})
        .named("end")
        .build()
        .unwrap();

    let mut graph = Builder::new();
    let numbers = graph.source("numbers", 0..100u64).capacity(32);
    let (sums,) = graph
        .kernel("sums", (window("in", numbers).pop(1).peek(4),), (output("out").push(1),))
        .parallel(|(window,), (out,): &mut (Out<u64>,)| out.push(window.as_slice().iter().sum()));
    let (sieved,) = graph.kernel("sieve", (input("in", sums),), (output("out"),)).sequential(
        |(sums,): &mut (In<u64>,), (out,): &mut (Out<u64>,)| {
            let sum = sums.pop();
            if sum % 3 != 0 {
                out.push(sum);
            }
        },
    );
    graph.sink("end", sieved, |_| {});
    let built = graph.build().unwrap();

    assert_eq!(chain.graph().to_string(), built.graph().to_string());
    let options = Options::new().threads(2);
    let (chain, built) = (chain.prepare(&options).unwrap(), built.prepare(&options).unwrap());
    assert_eq!(chain.plan().to_string(), built.plan().to_string());
    let items = |report: thalweg::Report| report.channels.iter().map(|c| c.items).collect::<Vec<_>>();
    assert_eq!(items(chain.run().unwrap()), items(built.run().unwrap()));
}
