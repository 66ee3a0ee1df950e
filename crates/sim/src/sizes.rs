//! Capacities of channels and lengths of claims: those of the model and the settings, or those of a plan.

use crate::{Model, Settings};
use thalweg_graph::NodeId;
use thalweg_plan::Plan;

/// The sizes that a run follows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// By channel: the items that it holds.
    pub(crate) capacities: Vec<usize>,
    /// By node.
    claims: Vec<Claims>,
}

/// The limits of an activation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Claims {
    /// The maximum number of firings of the activation.
    pub(crate) budget: u64,
    /// The maximum number of firings from one publication to the next, or of a parallel node's claim.
    pub(crate) claim: u64,
}

impl Sizes {
    /// The capacities of the model, and the claims of the settings.
    pub(crate) fn of_settings(model: &Model, settings: &Settings) -> Sizes {
        let claims = |node: NodeId| match model.is_parallel(node) {
            true => Claims { budget: settings.run, claim: settings.run },
            false => Claims { budget: settings.budget, claim: settings.slice },
        };
        Sizes {
            capacities: model.graph.channel_ids().map(|id| model.capacity_of(id)).collect(),
            claims: model.graph.node_ids().map(claims).collect(),
        }
    }

    /// Those of a plan. A sequential node has four claims in an activation, as in an engine that reads no clock, and at most as
    /// many firings as the plan's batch. A channel that could not hold what a firing of the model moves is larger than planned.
    pub(crate) fn of_plan(model: &Model, plan: &Plan) -> Sizes {
        let claims = |node: NodeId| {
            let claim = plan.claim_lengths().get(node.index()).map_or(1, |claim| (*claim).max(1) as u64);
            let budget = if model.is_parallel(node) { claim } else { claim.saturating_mul(4) };
            Claims { budget: budget.min(plan.batch().max(1) as u64), claim }
        };
        let planned = |index: usize| plan.capacities().get(index).copied().unwrap_or(0);
        Sizes {
            capacities: model.graph.channel_ids().map(|id| model.fitted(id, planned(id.index()))).collect(),
            claims: model.graph.node_ids().map(claims).collect(),
        }
    }

    /// The limits of an activation of the node.
    pub(crate) fn claims(&self, node: NodeId) -> Claims {
        self.claims[node.index()]
    }
}
