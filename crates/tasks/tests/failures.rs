//! Errors and panics in every function of a graph end the run with the node's key, and nothing leaks.

use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use thalweg_runtime::Error;
use thalweg_tasks::{Colour, Context, During, OnDemand, StaticGraph, TaskError, TaskGraph, TaskOptions};

/// The function that panics, for node 50.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Bad {
    Nothing,
    Predecessors,
    Compute,
    Fails,
    Colour,
    Hash,
    Eq,
    Added,
}

/// A key; `alive` of the graph counts the keys that exist.
struct Key {
    n: u32,
    bad: Bad,
    _alive: Arc<()>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.n)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        assert!(self.bad != Bad::Eq || self.n != 50, "bad comparison");
        self.n == other.n
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(self.bad != Bad::Hash || self.n != 50, "bad hash");
        (self.n / 4).hash(state); // Equal hashes make comparisons of keys that differ.
    }
}

/// A binary tree of 127 nodes, each of which needs the two below it and the node 100.
struct Tree {
    bad: Bad,
    alive: Arc<()>,
}

impl Tree {
    fn key(&self, n: u32) -> Key {
        Key { n, bad: self.bad, _alive: self.alive.clone() }
    }
}

impl TaskGraph for Tree {
    type Key = Key;
    type Output = Arc<()>;
    type Error = &'static str;

    fn predecessors(&self, key: &Key, needs: &mut Vec<Key>) {
        needs.extend([2 * key.n, 2 * key.n + 1].iter().filter(|n| **n < 128).map(|n| self.key(*n)));
        if key.n < 64 {
            needs.push(self.key(100));
        }
        assert!(self.bad != Bad::Predecessors || key.n != 50, "bad list");
    }

    fn compute(&self, key: &Key, context: &mut Context<'_, Key, Arc<()>>) -> Result<Arc<()>, &'static str> {
        assert!(self.bad != Bad::Compute || key.n != 50, "bad node");
        if self.bad == Bad::Fails && key.n == 50 {
            return Err("it fails");
        }
        if self.bad == Bad::Added && key.n == 50 {
            context.also(Key { bad: Bad::Hash, ..self.key(50) });
        }
        Ok(self.alive.clone())
    }

    fn colour(&self, key: &Key) -> Option<Colour> {
        assert!(self.bad != Bad::Colour || key.n != 50, "bad colour");
        Some(Colour(key.n % 4))
    }
}

fn panicked(error: TaskError<Key, &'static str>) -> (u32, During, String) {
    match error {
        TaskError::Panicked { key, during, message } => (key.n, during, message),
        other => panic!("{other}"),
    }
}

#[test]
fn a_failure_ends_the_graph_with_the_key() {
    crate::in_team(|| {
        for members in 1..=3 {
            for bad in [
                Bad::Nothing,
                Bad::Predecessors,
                Bad::Compute,
                Bad::Fails,
                Bad::Colour,
                Bad::Hash,
                Bad::Eq,
                Bad::Added,
            ] {
                let alive = Arc::new(());
                let tree = Tree { bad, alive: alive.clone() };
                let result =
                    tree.run_with(tree.key(1), &TaskOptions::new().members(members).domains([0, 1, 2]));
                match (bad, result) {
                    (Bad::Nothing, Ok(finished)) => assert_eq!(finished.len(), 127),
                    (Bad::Fails, Err(TaskError::Failed { key, cause })) => {
                        assert_eq!((key.n, cause), (50, "it fails"))
                    }
                    (Bad::Predecessors, Err(error)) => {
                        assert_eq!(panicked(error), (50, During::Predecessors, "bad list".into()));
                    }
                    (Bad::Compute, Err(error)) => {
                        assert_eq!(panicked(error), (50, During::Compute, "bad node".into()));
                    }
                    (Bad::Colour, Err(error)) => {
                        assert_eq!(panicked(error), (50, During::Colour, "bad colour".into()));
                    }
                    // Node 25 lists node 50, whose key is hashed and compared.
                    (Bad::Hash, Err(error)) => {
                        assert_eq!(panicked(error), (25, During::Predecessors, "bad hash".into()));
                    }
                    (Bad::Eq, Err(error)) => {
                        let (node, during, message) = panicked(error);
                        assert_eq!((during, message.as_str()), (During::Predecessors, "bad comparison"));
                        assert!((24..=25).contains(&node), "{node}");
                    }
                    (Bad::Added, Err(error)) => {
                        assert_eq!(panicked(error), (50, During::Compute, "bad hash".into()));
                    }
                    (bad, result) => panic!("{bad:?}: {result:?}"),
                }
                drop(tree);
                assert_eq!(Arc::strong_count(&alive), 1, "{bad:?} leaks");
            }
        }
    });
}

#[test]
fn a_sink_whose_hash_panics_is_an_error() {
    crate::in_team(|| {
        let alive = Arc::new(());
        let tree = Tree { bad: Bad::Hash, alive: alive.clone() };
        let error = tree.run(tree.key(50)).unwrap_err();
        assert_eq!(error.to_string(), "`predecessors` of node 50 panicked: bad hash");
        drop((tree, error));
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn other_members_stop_at_a_failure() {
    crate::in_team(|| {
        // Endless work: each node adds two. Only the failure of one ends the run.
        struct Endless(AtomicU32);
        impl TaskGraph for Endless {
            type Key = u64;
            type Output = ();
            type Error = u64;
            fn predecessors(&self, _: &u64, _: &mut Vec<u64>) {}
            fn compute(&self, key: &u64, context: &mut Context<'_, u64, ()>) -> Result<(), u64> {
                let computed = self.0.fetch_add(1, Ordering::Relaxed);
                context.also(2 * u64::from(computed) + 2);
                context.also(2 * u64::from(computed) + 3);
                if computed == 20_000 { Err(*key) } else { Ok(()) }
            }
        }
        for members in 1..=3 {
            match Endless(AtomicU32::new(0)).run_with(1, &TaskOptions::new().members(members)) {
                Err(TaskError::Failed { key, cause }) => assert_eq!(key, cause),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn an_explicit_graph_can_be_run_again_after_a_failure() {
    crate::in_team(|| {
        let edges = (1..200).flat_map(|node| [(node / 2, node), (node - 1, node)]);
        let mut graph = StaticGraph::from_edges(200, edges.collect::<Vec<_>>());
        for members in 1..=3 {
            let options = TaskOptions::new().members(members);
            let error = graph.try_run_with(&options, |node| if node == 77 { Err("bad") } else { Ok(()) });
            assert_eq!(error, Err(TaskError::Failed { key: 77, cause: "bad" }));
            let error = graph.run_with(&options, |node| assert!(node != 99, "bad node")).unwrap_err();
            assert_eq!(error.to_string(), "`compute` of node 99 panicked: bad node");
            assert_eq!(graph.run_with(&options, |_| {}).expect("no cycle").total().nodes(), 200);
        }
    });
}

#[test]
fn a_payload_whose_drop_panics_does_no_harm() {
    crate::in_team(|| {
        struct Payload;
        impl Drop for Payload {
            fn drop(&mut self) {
                panic!("in the drop of a payload");
            }
        }
        let mut graph = StaticGraph::from_edges(1, []);
        let error = graph.run(|_| std::panic::panic_any(Payload)).unwrap_err();
        assert_eq!(error.to_string(), "`compute` of node 0 panicked: a value that is no text");
    });
}

/// Two nodes panic at once, and the drops of both payloads panic too.
#[test]
fn payloads_of_two_members_whose_drops_panic_do_no_harm() {
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            panic!("in the drop of a payload");
        }
    }
    crate::in_team(|| {
        let (failing, started) = (AtomicU32::new(0), Instant::now());
        let both_panic = || -> u32 {
            failing.fetch_add(1, Ordering::Relaxed);
            while failing.load(Ordering::Relaxed) < 2 {
                assert!(started.elapsed() < Duration::from_secs(20), "no second member has joined");
                std::hint::spin_loop();
            }
            std::panic::panic_any(Payload)
        };
        let options = TaskOptions::new().members(2);
        let mut graph = StaticGraph::from_edges(2, []);
        let error = graph.run_with(&options, |_| _ = both_panic()).unwrap_err();
        assert!(error.to_string().ends_with("panicked: a value that is no text"), "{error}");
        failing.store(0, Ordering::Relaxed);
        // The sink needs two nodes.
        let graph = OnDemand::new(
            |&n: &u32, needs: &mut Vec<u32>| needs.extend((n == 0).then_some([1, 2]).into_iter().flatten()),
            |&n, _| if n == 0 { 0 } else { both_panic() },
        );
        let error = graph.run_with(0, &options).expect_err("both panic");
        assert!(error.to_string().ends_with("panicked: a value that is no text"), "{error}");
    });
}

/// Two nodes fail at once, and dropping the second error panics: the next run must begin with whole counters.
#[test]
fn an_explicit_graph_can_be_run_again_after_a_panic_in_the_drop_of_an_error() {
    #[derive(Debug)]
    struct Bad;
    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "in the drop of an error");
        }
    }
    crate::in_team(|| {
        // Node 0 comes first. Nodes 1 and 2 fail together; node 3 comes last, and has counted node 0 by then.
        let mut graph = StaticGraph::from_edges(5, [(0, 3), (0, 1), (0, 2), (1, 4), (4, 3)]);
        let (failing, started) = (AtomicU32::new(0), Instant::now());
        let run = catch_unwind(AssertUnwindSafe(|| {
            let result = graph.try_run_with(&TaskOptions::new().members(2), |node| {
                if !(1..=2).contains(&node) {
                    return Ok(());
                }
                failing.fetch_add(1, Ordering::Relaxed);
                while failing.load(Ordering::Relaxed) < 2 {
                    assert!(started.elapsed() < Duration::from_secs(20), "no second member has joined");
                    std::hint::spin_loop();
                }
                Err(Bad)
            });
            std::mem::forget(result);
        }));
        let panic = run.expect_err("the second error is dropped");
        assert_eq!(thalweg_runtime::panic_message(&*panic), "in the drop of an error");
        let order = Mutex::new(Vec::new());
        graph
            .run_with(&TaskOptions::new().members(1), |node| order.lock().unwrap().push(node))
            .expect("no cycle");
        let order = order.into_inner().unwrap();
        let at = |node| order.iter().position(|other| *other == node);
        assert!(order.len() == 5 && at(4) < at(3), "{order:?}");
    });
}

#[test]
#[should_panic(expected = "node 5 of a graph with 5 nodes")]
fn an_edge_to_a_node_that_is_not_there_is_refused() {
    StaticGraph::from_edges(5, [(1, 5)]);
}

#[test]
fn an_error_prints_its_help_and_becomes_that_of_a_run() {
    let cycle = TaskError::<u32>::Cycle { keys: vec![1, 2] };
    let (what, help) =
        ("the graph has a cycle: 1 waits for 2 waits for 1", "remove one of these dependencies");
    assert_eq!((cycle.to_string(), cycle.help().unwrap()), (what.to_owned(), help.to_owned()));
    assert_eq!(format!("{cycle:?}"), format!("{what}\nhelp: {help}"));
    let run = Error::from(cycle);
    assert_eq!((run.to_string(), run.help().unwrap()), (what.to_owned(), help.to_owned()));

    let failed = TaskError::Failed { key: "key", cause: "no disk" };
    assert_eq!(format!("{failed:?}"), "node \"key\" failed: \"no disk\"");
    assert_eq!(Error::from(failed).to_string(), "node `\"key\"` failed: no disk");
    let panicked = |during| {
        let error = TaskError::<u32>::Panicked { key: 7, during, message: "bad".into() };
        Error::from(error).to_string()
    };
    assert_eq!(panicked(During::Compute), "node `7` panicked: bad");
    assert_eq!(panicked(During::Colour), "node `7` panicked: bad (in `colour`)");
}
