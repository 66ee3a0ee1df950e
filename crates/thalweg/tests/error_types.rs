//! `{:?}` of an error prints its message: it is what a `main` shows that returns the error.

use super::names::files;
use std::any::type_name;
use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;
use thalweg::embed::graph::Fault;
use thalweg::embed::plan::NoNextPlan;
use thalweg::embed::policy::registry::Unknown;
use thalweg::embed::report::{Grid, Unpredictable};
use thalweg::loops::Assignment;
use thalweg::machine::Machine;
use thalweg::plan::mappers::{self, BadMapping};
use thalweg::plan::{Plan, PlanError, Profile};
use thalweg::tasks::TaskError;
use thalweg::trace::ReportExt;
use thalweg::{Graph, Report, output};

/// The crates whose types the facade names, in `embed` or elsewhere. `queueing`, which `report` names, has a test of its own.
const CRATES: [&str; 8] = ["graph", "machine", "plan", "policy", "report", "runtime", "tasks", "trace"];

/// A type as `crate::Name`, and the texts of a value of it.
struct Printed {
    type_name: String,
    debug: String,
    display: String,
}

fn printed<E: Error>(error: &E) -> Printed {
    let path = type_name::<E>().split('<').next().unwrap_or_default();
    let parts: Vec<&str> = path.trim_start_matches("thalweg_").split("::").collect();
    let type_name = format!("{}::{}", parts[0], parts[parts.len() - 1]);
    Printed { type_name, debug: format!("{error:?}"), display: error.to_string() }
}

/// A graph that cannot be run, since an output is connected to nothing.
fn dangling() -> Graph<'static> {
    let graph = Graph::new();
    _ = graph.source(0..9u64).kernel("split", (output::<u64>("a"), output::<u64>("b"))).sequential(|_, _| ());
    graph
}

/// An error of each type.
fn all() -> Vec<Printed> {
    let (empty, one) =
        (thalweg::graph::GraphData::new(), thalweg::from_iter(0..9u64).collect().graph().build().unwrap());
    let profile = |graph: &_| Profile::default().of_graph(graph);
    let plan = Plan::new(one.graph(), &Default::default());
    let cycle: TaskError<u64> = TaskError::Cycle { keys: vec![1, 2] };
    vec![
        printed(&Fault::Empty),
        printed(&Machine::read("").unwrap_err()),
        printed(&PlanError::policy(&plan, "unknown")),
        printed(&Plan::read("", one.graph()).unwrap_err()),
        printed(&profile(&empty).merge(&profile(one.graph())).unwrap_err()),
        printed(&NoNextPlan::Unmeasured),
        printed(&Profile::declared(one.graph()).unwrap_err()),
        printed(&BadMapping::Stage { stage: 1, times: 2 }),
        printed(&mappers::named("fifo").err().unwrap()),
        printed(&Unknown::Policy { name: "fastest".to_owned() }),
        printed(&Report::from_json("{").unwrap_err()),
        printed(&"thread=4".parse::<Grid>().unwrap_err()),
        printed(&Unpredictable::Unmeasured),
        printed(&"assignment 2".parse::<Assignment>().unwrap_err()),
        printed(&dangling().build().unwrap_err()),
        printed(&thalweg::Error::from(dangling().run().unwrap_err())),
        printed(&dangling().run().unwrap_err()),
        printed(&cycle),
    ]
}

#[test]
fn debug_prints_the_message_of_every_error() {
    let all = all();
    for Printed { type_name, debug, display } in &all {
        assert!(debug.contains(display.as_str()), "{type_name}: {debug:?} is not {display:?}");
    }
    let listed: BTreeSet<String> = all.into_iter().map(|error| error.type_name).collect();
    assert_eq!(listed, declared(), "the list above has an error of each type");
}

/// The types of the crates that implement `Error`, as `crate::Name`, by their sources.
fn declared() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut found = BTreeSet::new();
    for name in CRATES {
        let mut sources = Vec::new();
        files(&crates.join(name).join("src"), &mut sources);
        for source in sources {
            let text = fs::read_to_string(source).unwrap();
            found.extend(text.lines().filter_map(error_type).map(|found| format!("{name}::{found}")));
        }
    }
    found
}

/// The type for which this line implements `Error`.
fn error_type(line: &str) -> Option<&str> {
    let rest = match line.split_once("error_type!(") {
        Some((_, rest)) => rest,
        None => line.strip_prefix("impl")?.split_once("error::Error for ")?.1,
    };
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (!line.starts_with("//") && !name.is_empty()).then_some(name)
}

#[test]
fn types_of_errors_are_found() {
    let cases = [
        ("thalweg_graph::error_type!(Lost);", Some("Lost")),
        ("impl std::error::Error for Lost {}", Some("Lost")),
        ("impl<T> std::error::Error for Lost<T> {", Some("Lost")),
        ("/// thalweg_graph::error_type!(Lost);", None),
        ("        impl ::std::error::Error for $Name {}", None),
    ];
    for (line, expected) in cases {
        assert_eq!(error_type(line), expected, "{line}");
    }
}
