//! The plan of a run: made from the options' wishes, or the caller's own.

use super::options::policy;
use super::{EmbedOptions, Options};
use crate::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use thalweg_graph::GraphData;
use thalweg_plan::{Plan, PlanError};

/// The error that a caller's function for plans may return.
pub(super) type Cause = Box<dyn std::error::Error + Send + Sync>;

type Choose = dyn Fn(&GraphData, Plan) -> Result<Plan, Cause> + Send + Sync;

/// The caller's function that chooses the plan of a run: see [`Options::plan_with`].
#[derive(Clone)]
pub(super) struct Chooser(Arc<Choose>);

impl Chooser {
    pub(super) fn new(
        choose: impl Fn(&GraphData, Plan) -> Result<Plan, Cause> + Send + Sync + 'static,
    ) -> Chooser {
        Chooser(Arc::new(choose))
    }

    /// Calls `first`, if there is one, and then this function with the plan that it returns.
    pub(super) fn after(self, first: Option<Chooser>) -> Chooser {
        match first {
            Some(Chooser(first)) => Chooser::new(move |graph, made| (self.0)(graph, first(graph, made)?)),
            None => self,
        }
    }
}

// Options have these traits whatever they call: the panic of the function continues in the caller of the run.
impl UnwindSafe for Chooser {}
impl RefUnwindSafe for Chooser {}

impl fmt::Debug for Chooser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a function")
    }
}

/// The plan of a run of `graph`, which fits it. `keepers` nodes share the budget of what nodes keep.
///
/// A plan that the engine has made fits by construction, and only the sizes of its channels are checked.
pub(super) fn decide(graph: &GraphData, options: &Options, keepers: usize) -> Result<Plan, Error> {
    let plan = options.choose(graph, || Plan::new(graph, &options.wishes(keepers)))?;
    if !options.chooses_plan() {
        plan.check_sizes(graph).map_err(misfit)?;
    }
    if plan.has_pools() {
        plan.check_pools(graph).map_err(misfit)?;
    }
    Ok(plan)
}

impl Options {
    /// The plan that these options hold, or the one that `make` returns, as the function of [`Options::plan_with`]
    /// changes it. One that the caller has given or changed fits the graph.
    pub(super) fn choose(&self, graph: &GraphData, make: impl FnOnce() -> Plan) -> Result<Plan, Error> {
        if let Some(plan) = &self.plan {
            return fit(graph, Plan::clone(plan));
        }
        match &self.plan_with {
            Some(Chooser(choose)) => fit(graph, choose(graph, make()).map_err(Error::Plan)?),
            None => Ok(make()),
        }
    }
}

/// The plan, if it fits the graph and names a policy.
fn fit(graph: &GraphData, plan: Plan) -> Result<Plan, Error> {
    policy(plan.policy()).map_err(|unknown| misfit(PlanError::policy(&plan, unknown)))?;
    plan.check(graph).map_err(misfit).map(|()| plan)
}

pub(super) fn misfit(error: PlanError) -> Error {
    Error::Plan(Box::new(error))
}
