//! What libraries and compilers ask the options for that they pass on.

use super::Options;
use super::options::policy;
use crate::error::Error;
use crate::threads::cores::parallelism;
use thalweg_graph::GraphData;
use thalweg_plan::{MOST_THREADS, Plan, Wishes};

/// What libraries and compilers ask the options for that they pass on to a run.
pub trait EmbedOptions {
    /// Checks the options, as far as that is possible without a graph.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown policy, for too many threads, for 0 threads, items of capacity, firings or tokens, and
    /// for a plan together with an option that it decides.
    fn check(&self) -> Result<(), Error>;
    /// Whether [`Options::plan`] or [`Options::plan_with`] is set.
    fn chooses_plan(&self) -> bool;
    /// The plan of [`Options::plan`], if it is set: for a library whose own settings give way to a plan.
    fn planned(&self) -> Option<&Plan>;
    /// The number of worker threads of a run with these options. (A function of [`Options::plan_with`] may choose
    /// another one.)
    fn workers(&self) -> usize;
    /// The plan of a graph that a compiler divides into the nodes of a graph of the engine: the plan that these options
    /// hold, or the one that `make` returns from their wishes, as [`Options::plan_with`] changes it. The graph of the
    /// engine then runs with [`of_divided`](Self::of_divided).
    ///
    /// # Errors
    /// [`Error::Plan`] if the chosen plan does not fit the graph, or from the function of [`Options::plan_with`].
    ///
    /// ```
    /// use thalweg_graph::{GraphData, Node, NodeId};
    /// use thalweg_plan::{Division, Plan, Unit, Units};
    /// use thalweg_runtime::{EmbedOptions, Options};
    ///
    /// let mut graph = GraphData::new();
    /// let all = ["a", "b"].map(|name| graph.add(Node::sequential(name)));
    /// let all = all.map(|node| Unit::new(vec![node], 1, false)).to_vec();
    /// let units = Units::new(all, Division::Pipeline);
    ///
    /// let options = Options::new().threads(2);
    /// let plan = options.plan_of(&graph, |wishes| Plan::compiled(&graph, &units, wishes))?;
    /// assert_eq!(plan.segments(), [[NodeId(0)], [NodeId(1)]]);
    /// assert_eq!(options.of_divided(&plan).workers(), 2);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    fn plan_of(&self, graph: &GraphData, make: impl FnOnce(&Wishes) -> Plan) -> Result<Plan, Error>;
    /// These options for a graph of the engine that a compiler has made by dividing another one, which has this plan:
    /// with the plan's threads, policy and budget, and without a plan.
    fn of_divided(&self, plan: &Plan) -> Options;
    /// Gives blocking sources threads of their own in any case: for a library whose own threads wait for such a source.
    #[must_use]
    fn keep_sources(self) -> Self;
    /// Whether no option asks for the threads of a run, so that an iterator adaptor may make results on the caller's thread.
    fn lets_the_caller_work(&self) -> bool;
}

impl EmbedOptions for Options {
    fn check(&self) -> Result<(), Error> {
        let known = self.policy.as_deref().map_or(Ok(()), policy);
        known.map_err(|unknown| Error::Options(unknown.to_string()))?;
        self.check_plan()?;
        self.check_pools()?;
        self.check_tickets()?;
        let least = [
            ("threads", self.threads),
            ("pools", self.pools),
            ("capacity", self.capacity),
            ("claim length", self.run),
            ("tokens", self.tokens),
        ];
        if let Some((what, _)) = least.iter().find(|(_, said)| *said == Some(0)) {
            return Err(Error::Options(format!(
                "{what} 0: at least 1 is needed\nhelp: leave it out for the default"
            )));
        }
        self.check_room()?;
        match self.threads {
            Some(threads) if threads > MOST_THREADS => Err(Error::Options(format!(
                "{threads} threads: at most {MOST_THREADS}\nhelp: leave it out for one for each core"
            ))),
            _ => Ok(()),
        }
    }

    fn chooses_plan(&self) -> bool {
        self.plan.is_some() || self.plan_with.is_some()
    }

    fn planned(&self) -> Option<&Plan> {
        self.plan.as_deref()
    }

    fn workers(&self) -> usize {
        let planned = self.plan.as_ref().map(|plan| plan.threads());
        let of_machine = || self.machine.as_ref().map(|machine| machine.threads().min(MOST_THREADS));
        planned.or(self.threads).or_else(of_machine).unwrap_or_else(parallelism)
    }

    fn plan_of(&self, graph: &GraphData, make: impl FnOnce(&Wishes) -> Plan) -> Result<Plan, Error> {
        self.choose(graph, || make(&self.wishes(1)))
    }

    fn of_divided(&self, plan: &Plan) -> Options {
        let mut options = self.clone();
        (options.plan, options.plan_with) = (None, None);
        // The engine's graph has other nodes, and so other pools.
        options.threads = self.pools.is_none().then_some(plan.threads());
        options.policy = Some(plan.policy().to_owned());
        options.budget = plan.budget();
        options
    }

    fn keep_sources(mut self) -> Options {
        self.keeps_sources = true;
        self
    }

    fn lets_the_caller_work(&self) -> bool {
        let asks = self.deadline.is_some()
            || self.policy.is_some()
            || self.pools.is_some()
            || self.tokens.is_some()
            || self.chooses_plan()
            || self.counted
            || self.unaccounted
            || self.timeline > 0
            || self.dilation.is_some()
            || self.ticket_waits
            || self.pins.is_some()
            || self.domains.is_some()
            || self.thread_per_node
            || self.thread_stack.is_some()
            || self.on_start.is_set();
        !asks
    }
}
