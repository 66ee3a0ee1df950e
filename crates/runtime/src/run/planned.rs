//! The plan of a run: made from the options' wishes, or the caller's own.

use super::Options;
use super::options::policy;
use crate::error::Error;
use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use thalweg_graph::GraphData;
use thalweg_plan::{Plan, PlanError, Wishes};

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
    Ok(plan)
}

impl Options {
    /// Whether [`Options::plan`] or [`Options::plan_with`] is set.
    pub fn chooses_plan(&self) -> bool {
        self.plan.is_some() || self.plan_with.is_some()
    }

    /// The plan of a graph that a compiler divides into the nodes of a graph of the engine: the plan that these options
    /// hold, or the one that `make` returns from their wishes, as [`Options::plan_with`] changes it. The graph of the
    /// engine then runs with [`Options::of_divided`].
    ///
    /// # Errors
    /// [`Error::Plan`] if the chosen plan does not fit the graph, or from the function of [`Options::plan_with`].
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node, NodeId};
    /// use thalweg_plan::{Division, Plan, Unit, Units};
    /// use thalweg_runtime::Options;
    ///
    /// let mut graph = GraphData::new();
    /// let all = ["a", "b"].map(|name| graph.add(Node::sequential(name)));
    /// let all = all.map(|node| Unit { nodes: vec![node], cost: 1, stateless: false }).to_vec();
    /// let division = Division::Pipeline;
    /// let units = Units { all, whole: None, hand_overs: Vec::new(), division, joins: false, pieces: 1, least_copied: 10, least_gain: 0 };
    ///
    /// let options = Options::new().threads(2);
    /// let plan = options.plan_of(&graph, |wishes| Plan::compiled(&graph, &units, wishes))?;
    /// assert_eq!(plan.segments, [[NodeId(0)], [NodeId(1)]]);
    /// assert_eq!(options.of_divided(&plan).workers(), 2);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn plan_of(&self, graph: &GraphData, make: impl FnOnce(&Wishes) -> Plan) -> Result<Plan, Error> {
        self.choose(graph, || make(&self.wishes(1)))
    }

    /// These options for a graph of the engine that a compiler has made by dividing another one, which has this plan:
    /// with the plan's threads, policy and budget, and without a plan.
    pub fn of_divided(&self, plan: &Plan) -> Options {
        let mut options = self.clone();
        (options.plan, options.plan_with) = (None, None);
        options.threads = Some(plan.threads);
        options.policy = Some(plan.policy.clone());
        options.budget = plan.budget;
        options
    }

    /// The plan that these options hold, or the one that `make` returns, as the function of [`Options::plan_with`]
    /// changes it. One that the caller has given or changed fits the graph.
    fn choose(&self, graph: &GraphData, make: impl FnOnce() -> Plan) -> Result<Plan, Error> {
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
    policy(&plan.policy).map_err(|unknown| misfit(PlanError::policy(&plan, unknown)))?;
    plan.check(graph).map_err(misfit).map(|()| plan)
}

pub(super) fn misfit(error: PlanError) -> Error {
    Error::Plan(Box::new(error))
}
