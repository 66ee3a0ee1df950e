//! A service under tokio: 600 clients ask for 20 small computations each. One graph answers all, and so does, for comparison, a
//! blocking thread of tokio for each request.
//!
//! ```text
//! cargo run --release --example service
//! ```

use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, oneshot};

const CLIENTS: u64 = 600;
const REQUESTS: u64 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    by_a_graph(&runtime)?;
    by_threads(&runtime)
}

/// Some microseconds of work.
fn compute(number: u64) -> u64 {
    (0..2000).fold(number, |x, i| (x ^ i).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7))
}

struct Request {
    number: u64,
    answer: oneshot::Sender<u64>,
}

/// Answers until the last sender is dropped.
fn serve(mut requests: mpsc::Receiver<Request>) -> Result<(), thalweg::Error> {
    thalweg::from_iter(std::iter::from_fn(move || requests.blocking_recv()))
        .blocking()
        .par_map(|Request { number, answer }| _ = answer.send(compute(number)))
        .unordered()
        .for_each(drop)
        .run()?;
    Ok(())
}

/// All requests are items of one graph.
fn by_a_graph(runtime: &Runtime) -> Result<(), Box<dyn std::error::Error>> {
    let (to_graph, requests) = mpsc::channel(64);
    let graph = std::thread::spawn(move || serve(requests));
    measure(runtime, "one graph", move |number| {
        let to_graph = to_graph.clone();
        async move {
            let (answer, answered) = oneshot::channel();
            to_graph.send(Request { number, answer }).await.ok()?;
            answered.await.ok()
        }
    })?;
    graph.join().map_err(|_| "the graph panicked")??;
    Ok(())
}

/// Each request is a call on a blocking thread, as many at a time as there are cores.
fn by_threads(runtime: &Runtime) -> Result<(), Box<dyn std::error::Error>> {
    let permits = Arc::new(Semaphore::new(runtime.metrics().num_workers()));
    measure(runtime, "spawn_blocking", move |number| {
        let permits = permits.clone();
        async move {
            let _permit = permits.acquire_owned().await.ok()?;
            tokio::task::spawn_blocking(move || compute(number)).await.ok()
        }
    })
}

/// Has all clients ask, one request after the other, and prints how long all answers took.
fn measure<A>(
    runtime: &Runtime,
    name: &str,
    ask: impl Fn(u64) -> A + Clone + Send + 'static,
) -> Result<(), Box<dyn std::error::Error>>
where
    A: Future<Output = Option<u64>> + Send + 'static,
{
    let expected = (0..CLIENTS * REQUESTS).map(compute).fold(0, u64::wrapping_add);
    let begun = Instant::now();
    let sum = runtime.block_on(async move {
        let clients: Vec<_> = (0..CLIENTS).map(|id| tokio::spawn(client(id, ask.clone()))).collect();
        drop(ask);
        let mut sum = 0u64;
        for client in clients {
            sum = sum.wrapping_add(client.await?.ok_or("a request has no answer")?);
        }
        Ok::<u64, Box<dyn std::error::Error>>(sum)
    })?;
    let took = begun.elapsed();
    assert_eq!(sum, expected);
    println!("{name}: {} answers of {CLIENTS} clients in {took:.1?}", CLIENTS * REQUESTS);
    Ok(())
}

/// The sum of the answers to a client's requests.
async fn client<A: Future<Output = Option<u64>>>(id: u64, ask: impl Fn(u64) -> A) -> Option<u64> {
    let mut sum = 0u64;
    for number in REQUESTS * id..REQUESTS * (id + 1) {
        sum = sum.wrapping_add(ask(number).await?);
    }
    Some(sum)
}
