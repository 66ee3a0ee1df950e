//! DNN beside a plain loop over whole layers.

use crate::support::{assert_chain, assert_everywhere};
use thalweg::embed::graph::Kind;
use thalweg_pipelines::dnn::Parameters;

const SMALL: Parameters = Parameters {
    layers: 11,
    perceptrons: 40,
    thin: 6,
    connections: 5,
    thin_connections: 3,
    batch: 1,
    seed: 4,
};

#[test]
fn results_are_those_of_a_plain_loop_everywhere() {
    for parameters in [
        SMALL,
        Parameters { connections: 40, thin: 40, ..SMALL },
        Parameters {
            layers: 1,
            perceptrons: 1,
            thin: 1,
            connections: 1,
            thin_connections: 1,
            batch: 7,
            seed: 1,
        },
        Parameters { batch: 4, ..SMALL },
    ] {
        let network = parameters.network();
        assert_everywhere(&network.sequential(30, 2), || network.graph(30, 2));
    }
    let network = SMALL.network();
    assert_eq!(network.graph(0, 2).run().expect("a run").into_value(), network.sequential(0, 2));
}

#[test]
fn a_quarter_of_the_edges_is_thin() {
    let network = Parameters::default().network();
    let rates = assert_chain(&network.graph(1, 1).graph().data(), 66, Kind::Parallel);
    let pops: Vec<u32> = rates[1..65].iter().map(|rates| rates.0).collect();
    assert!(pops.iter().enumerate().all(|(layer, pops)| *pops == if layer % 4 == 2 { 32 } else { 512 }));
    assert!((1..65).all(|layer| rates[layer - 1].1 == rates[layer].0));
    let widths = network.widths();
    assert!(widths.iter().zip(&rates).all(|(width, rates)| *width == rates.1 as usize), "{widths:?}");
    let batches = Parameters { batch: 10, ..Parameters::default() }.network();
    let tenfold = assert_chain(&batches.graph(1, 1).graph().data(), 66, Kind::Parallel);
    assert!((1..65).all(|layer| tenfold[layer] == (10 * rates[layer].0, 10 * rates[layer].1)));
    assert_eq!(pops[1..].iter().filter(|pops| **pops == 32).count(), 16, "of 63 edges");
}

#[test]
fn state_is_what_the_parameters_say() {
    let bytes = SMALL.network().state_bytes();
    assert_eq!(bytes.iter().sum::<usize>() as u64, SMALL.state_bytes());
    assert_eq!((bytes[0], bytes[2]), (40 * (5 * 6 + 4), 40 * (3 * 6 + 4)));
}

#[test]
fn inputs_are_rounded_up_to_whole_firings() {
    let network = |batch| Parameters { batch, ..SMALL }.network();
    assert_eq!(network(8).sequential(9, 1), network(1).sequential(16, 1));
    assert_eq!(network(8).sequential(16, 1), network(1).sequential(16, 1));
}

/// The last layer still depends on the input, behind all thin edges, and on weights.
#[test]
fn inputs_and_weights_change_the_result() {
    let network = Parameters::default().network();
    let sums: Vec<u64> = (0..20).map(|seed| network.sequential(1, seed)).collect();
    assert!((1..sums.len()).any(|at| sums[at] != sums[0]), "{sums:?}");
    assert_ne!(Parameters { seed: 2, ..Parameters::default() }.network().sequential(1, 0), sums[0]);
}

#[test]
fn networks_that_cannot_be_are_refused() {
    for (parameters, why) in [
        (Parameters { layers: 0, ..SMALL }, "a network of no layers"),
        (Parameters { perceptrons: 0, ..SMALL }, "a layer of 0 perceptrons, expected 1 to 65536"),
        (Parameters { perceptrons: 65_537, ..SMALL }, "a layer of 65537 perceptrons, expected 1 to 65536"),
        (Parameters { thin: 41, ..SMALL }, "41 of 40 perceptrons cross a thin edge"),
        (Parameters { batch: 0, ..SMALL }, "0 inputs in a firing, expected 1 to 32768"),
        (Parameters { batch: 1 << 16, ..SMALL }, "65536 inputs in a firing, expected 1 to 32768"),
        (
            Parameters { connections: 0, ..SMALL },
            "a perceptron observes 0 of the 40 perceptrons that cross a thick edge",
        ),
        (
            Parameters { thin_connections: 7, ..SMALL },
            "a perceptron observes 7 of the 6 perceptrons that cross a thin edge",
        ),
    ] {
        assert_eq!(parameters.check(), Err(why.to_owned()));
    }
}

#[test]
#[should_panic(expected = "a network of no layers")]
fn a_network_of_no_layers_is_not_made() {
    Parameters { layers: 0, ..SMALL }.network();
}
