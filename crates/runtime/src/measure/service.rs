//! How long activations and firings take: each thread's distributions, by node.
//!
//! All long activations are measured, each for itself, and a sample of the short ones, each for [`SAMPLE`] activations,
//! so that measuring costs little beside what is measured. The firings of long activations of one firing are measured
//! likewise; of the others those of the sample. The expected counts are right; in a short run the sample is small, and
//! busy time by firings, which are exact, gives the better mean.

use super::clock::Ticks;
use super::sampler::SAMPLE;
use thalweg_graph::NodeId;
use thalweg_trace::{NodeReport, Service};

/// The ticks from which on an activation is always measured: two to eight microseconds, as processors go.
pub(crate) const ALWAYS_MEASURED: Ticks = 16384;

/// The nodes whose times are measured: the first ones by id. In a graph of a million nodes the distributions of all would
/// take more memory than the nodes. (Few under Miri, where the test of this limit takes long otherwise.)
const MOST_NODES: usize = if cfg!(miri) { 1 << 6 } else { 1 << 14 };

/// An activation to be measured, which has fired. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) ns: f64,
    pub(crate) fired: usize,
    /// It is longer than [`ALWAYS_MEASURED`], or all activations of the node are measured.
    pub(crate) always: bool,
    /// The time of a firing, and the number of firings for which it counts, if firings are measured.
    pub(crate) firing: Option<(f64, u64)>,
}

impl Measured {
    /// Adds the activation to the times of its node.
    pub(crate) fn record(&self, service: &mut Service) {
        service.activation_mut().record(self.ns, if self.always { 1 } else { u64::from(SAMPLE) });
        if self.always && self.fired == 1 {
            service.firing_mut().record(self.ns, 1);
        } else if let Some((ns, count)) = self.firing {
            service.firing_mut().record(ns, count);
        }
    }
}

/// The service times that one worker has measured, by node.
#[derive(Debug, Default)]
pub(crate) struct Services {
    /// Empty until the first measurement; then one for each of the first [`MOST_NODES`] nodes.
    nodes: Vec<Option<Box<Service>>>,
}

impl Services {
    /// Adds an activation of a node, in a graph of this many nodes. No effect for nodes that are not measured.
    pub(crate) fn add(&mut self, nodes: usize, node: NodeId, activation: Measured) {
        if self.nodes.is_empty() {
            self.nodes = vec![None; nodes.min(MOST_NODES)];
        }
        if let Some(entry) = self.nodes.get_mut(node.index()) {
            activation.record(entry.get_or_insert_default());
        }
    }

    /// Adds all that was measured to the nodes of a report.
    pub(crate) fn report(self, nodes: &mut [NodeReport]) {
        for (measured, node) in self.nodes.into_iter().zip(nodes) {
            if let Some(measured) = measured {
                merge(measured, node);
            }
        }
    }
}

/// Adds one thread's measurements of a node to its report.
pub(crate) fn merge(measured: Box<Service>, node: &mut NodeReport) {
    match node.service_mut() {
        Some(service) => {
            service.activation_mut().merge(measured.activation());
            service.firing_mut().merge(measured.firing());
        }
        none => *none = Some(measured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Measured = Measured { ns: 100.0, fired: 4, always: false, firing: Some((25.0, 256)) };
    const LONG: Measured = Measured { ns: 50_000.0, fired: 1, always: true, firing: None };

    #[test]
    fn short_activations_count_for_those_not_measured() {
        let mut services = Services::default();
        services.add(2, NodeId(1), SHORT);
        services.add(2, NodeId(1), LONG);
        let mut nodes = vec![NodeReport::default(); 2];
        services.report(&mut nodes);
        assert_eq!(nodes[0].service(), None);
        let service = nodes[1].service().unwrap();
        assert_eq!((service.activation().samples(), service.activation().count()), (2, 65));
        assert_eq!((service.firing().samples(), service.firing().count()), (2, 257));
        assert_eq!(service.firing().mean(), (256.0 * 25.0 + 50_000.0) / 257.0);
    }

    #[test]
    fn a_sampled_long_activation_counts_its_firings_for_those_not_measured() {
        let mut service = Service::default();
        Measured { fired: 50, firing: Some((900.0, 50 * 64)), ..LONG }.record(&mut service);
        Measured { fired: 50, ..LONG }.record(&mut service);
        assert_eq!((service.activation().count(), service.firing().count()), (2, 50 * 64));
        assert_eq!(service.firing().mean(), 900.0);
    }

    #[test]
    fn only_the_first_nodes_are_measured() {
        let mut services = Services::default();
        services.add(1 << 20, NodeId(MOST_NODES as u32 - 1), LONG);
        services.add(1 << 20, NodeId(MOST_NODES as u32), LONG);
        let mut nodes = vec![NodeReport::default(); MOST_NODES + 1];
        services.report(&mut nodes);
        assert!(nodes[MOST_NODES - 1].service().is_some() && nodes[MOST_NODES].service().is_none());
    }

    #[test]
    fn threads_measurements_add_up() {
        let mut node = NodeReport::default();
        for _ in 0..2 {
            let mut service = Box::<Service>::default();
            LONG.record(&mut service);
            merge(service, &mut node);
        }
        assert_eq!(node.service().unwrap().firing().count(), 2);
    }
}
