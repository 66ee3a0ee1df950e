//! How long activations and firings take: each thread's distributions, by node.
//!
//! All long activations are measured, each for itself, and a sample of the short ones, each for [`SAMPLE`] activations:
//! so the distributions are unbiased, and measuring costs little beside what is measured. The firings of long
//! activations of one firing are measured likewise; of the others those of the sample.

use super::clock::Ticks;
use super::sampler::SAMPLE;
use thalweg_graph::NodeId;
use thalweg_trace::{NodeReport, Service};

/// The ticks from which on an activation is always measured: two to eight microseconds, as processors go.
pub(crate) const ALWAYS_MEASURED: Ticks = 16384;

/// The most nodes whose times one worker measures: a graph of a million nodes would take too much memory.
const MOST_NODES: usize = 1 << 16;

/// An activation to be measured, which has fired. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) ns: f64,
    pub(crate) fired: usize,
    /// It is longer than [`ALWAYS_MEASURED`], or all activations of the node are measured.
    pub(crate) always: bool,
    /// The time of a firing, if the activation is one of the sample.
    pub(crate) firing: Option<f64>,
}

impl Measured {
    /// Adds the activation to the times of its node.
    pub(crate) fn record(&self, service: &mut Service) {
        let sample = u64::from(SAMPLE);
        service.activation.record(self.ns, if self.always { 1 } else { sample });
        if self.always && self.fired == 1 {
            service.firing.record(self.ns, 1);
        } else if let Some(firing) = self.firing {
            service.firing.record(firing, (self.fired as u64).saturating_mul(sample));
        }
    }
}

/// The service times that one worker has measured, by node.
#[derive(Debug, Default)]
pub(crate) struct Services {
    /// Empty until the first measurement.
    nodes: Vec<Option<Box<Service>>>,
    /// The entries of `nodes` that are not `None`.
    measured: usize,
}

impl Services {
    /// Adds an activation of a node, in a graph of this many nodes. No effect if too many other nodes were measured.
    pub(crate) fn add(&mut self, nodes: usize, node: NodeId, activation: Measured) {
        if self.nodes.is_empty() {
            self.nodes = vec![None; nodes];
        }
        let entry = &mut self.nodes[node.index()];
        if entry.is_none() {
            if self.measured == MOST_NODES {
                return;
            }
            self.measured += 1;
        }
        activation.record(entry.get_or_insert_default());
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
    match &mut node.service {
        Some(service) => {
            service.activation.merge(&measured.activation);
            service.firing.merge(&measured.firing);
        }
        none => *none = Some(measured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Measured = Measured { ns: 100.0, fired: 4, always: false, firing: Some(25.0) };
    const LONG: Measured = Measured { ns: 50_000.0, fired: 1, always: true, firing: None };

    #[test]
    fn short_activations_count_for_those_not_measured() {
        let mut services = Services::default();
        services.add(2, NodeId(1), SHORT);
        services.add(2, NodeId(1), LONG);
        let mut nodes = vec![NodeReport::default(); 2];
        services.report(&mut nodes);
        assert_eq!(nodes[0].service, None);
        let service = nodes[1].service.as_deref().unwrap();
        assert_eq!((service.activation.samples(), service.activation.count()), (2, 65));
        assert_eq!((service.firing.samples(), service.firing.count()), (2, 257));
        assert_eq!(service.firing.mean(), (256.0 * 25.0 + 50_000.0) / 257.0);
    }

    #[test]
    fn a_sampled_long_activation_counts_its_firings_for_those_not_measured() {
        let mut service = Service::default();
        Measured { fired: 50, firing: Some(900.0), ..LONG }.record(&mut service);
        Measured { fired: 50, ..LONG }.record(&mut service);
        assert_eq!((service.activation.count(), service.firing.count()), (2, 50 * 64));
        assert_eq!(service.firing.mean(), 900.0);
    }

    #[test]
    fn threads_measurements_add_up() {
        let mut node = NodeReport::default();
        for _ in 0..2 {
            let mut service = Box::<Service>::default();
            LONG.record(&mut service);
            merge(service, &mut node);
        }
        assert_eq!(node.service.unwrap().firing.count(), 2);
    }
}
