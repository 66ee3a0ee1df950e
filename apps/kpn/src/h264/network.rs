//! The encoder as a network of processes.

use thalweg::{Graph, Output, Rx, Stream, Tx, Value, input, output};

use super::{H264, Stage, StageState, choose_prediction, worker_result};
use crate::job::fold;

/// Builds the network. Returns its result.
pub(super) fn build<W>(size: H264, frame: u64, work: W) -> Output<'static, u64>
where
    W: FnMut(u64, u64) -> u64 + Clone + Send + 'static,
{
    let net = NetworkBuilder { graph: Graph::new(), size, frame, work };
    let (to_me, for_me) = net.graph.feedback([]);
    let (to_mc, for_mc) = net.graph.feedback([]);
    let (to_p, for_p) = net.graph.feedback([]);
    let [rows, current] =
        net.stage("source", Stage::Source, [], move |state, [], txs| source(size, state, txs));
    let [vectors] = net.hub("ME", Stage::Me, [rows, for_me], move |hub, rxs, txs| inter(size, hub, rxs, txs));
    let [inter] =
        net.hub("MC", Stage::Mc, [vectors, for_mc], move |hub, rxs, txs| inter(size, hub, rxs, txs));
    let ins = [current, inter, for_p];
    let [residual, prediction] =
        net.hub("P", Stage::P, ins, move |hub, rxs, txs| predict(size, hub, rxs, txs));
    let [transformed] = net.stage("T", Stage::T, [residual], forward);
    let [coded, back] = net.stage("Q", Stage::Q, [transformed], forward);
    let [scaled] = net.stage("IQ", Stage::Iq, [back], forward);
    let [neighbours, rebuilt] = net
        .stage("IT", Stage::It, [prediction, scaled], move |state, rxs, txs| rebuild(size, state, rxs, txs));
    let [frames_me, frames_mc, picture] =
        net.stage("filter", Stage::Filter, [rebuilt], move |state, rxs, txs| filter(size, state, rxs, txs));
    net.graph.process("picture", picture, (), |mut rx, ()| async move { while rx.recv().await.is_some() {} });
    let ec = net.state(Stage::Ec);
    let result = net.graph.process("EC", vec![coded], (), |rxs, ()| entropy_code(ec, array(rxs)));
    frames_me.feed(to_me);
    frames_mc.feed(to_mc);
    neighbours.feed(to_p);
    result
}

/// The network under construction.
struct NetworkBuilder<W> {
    graph: Graph<'static>,
    size: H264,
    frame: u64,
    work: W,
}

type Streams<const N: usize> = [Stream<'static, u64>; N];
type Rxs<const N: usize> = [Rx<u64>; N];
type Txs<const N: usize> = [Tx<u64>; N];

impl<W> NetworkBuilder<W>
where
    W: FnMut(u64, u64) -> u64 + Clone + Send + 'static,
{
    fn state(&self, stage: Stage) -> StageState<W> {
        StageState::new(self.size, stage, self.frame, self.work.clone())
    }

    /// Adds a stage without workers.
    fn stage<const I: usize, const O: usize, P>(
        &self,
        name: &str,
        stage: Stage,
        ins: Streams<I>,
        body: impl FnOnce(StageState<W>, Rxs<I>, Txs<O>) -> P + Send + 'static,
    ) -> Streams<O>
    where
        P: Future<Output = ()> + Send + 'static,
    {
        let outs: Vec<_> = (0..O).map(|i| output(&format!("out{i}"))).collect();
        let state = self.state(stage);
        let streams =
            self.graph.process(name, Vec::from(ins), outs, move |rxs: Vec<Rx<u64>>, txs: Vec<Tx<u64>>| {
                body(state, array(rxs), array(txs))
            });
        array(streams)
    }

    /// Adds a stage with workers.
    fn hub<const I: usize, const O: usize, P>(
        &self,
        name: &str,
        stage: Stage,
        ins: Streams<I>,
        body: impl FnOnce(Hub<W>, Rxs<I>, Txs<O>) -> P + Send + 'static,
    ) -> Streams<O>
    where
        P: Future<Output = ()> + Send + 'static,
    {
        let workers = self.size.workers;
        let (backs, answers): (Vec<_>, Vec<_>) = (0..workers).map(|_| self.graph.feedback([])).unzip();
        let ins: Vec<_> = ins.into_iter().chain(answers).collect();
        let outs: Vec<_> = (0..O + workers).map(|i| output(&format!("out{i}"))).collect();
        let state = self.state(stage);
        let mut streams =
            self.graph.process(name, ins, outs, move |mut rxs: Vec<Rx<u64>>, mut txs: Vec<Tx<u64>>| {
                let (answers, tasks) = (rxs.split_off(I), txs.split_off(O));
                body(Hub { state, tasks, answers }, array(rxs), array(txs))
            });
        let tasks = streams.split_off(O);
        for (worker, (task, back)) in tasks.into_iter().zip(backs).enumerate() {
            let answer = self.worker(name, stage, worker, task);
            answer.feed(back);
        }
        array(streams)
    }

    /// Adds a worker of a stage, which does its part of each task and sends an answer.
    fn worker(
        &self,
        name: &str,
        stage: Stage,
        worker: usize,
        task: Stream<'static, u64>,
    ) -> Stream<'static, u64> {
        let (workers, share) = (self.size.workers, self.size.share(stage, self.frame));
        let mut work = self.work.clone();

        self.graph.process(
            &format!("{name}-worker{worker}"),
            input("task", task),
            output("answer"),
            move |mut rx, mut tx| async move {
                while let Some(task) = rx.recv().await {
                    tx.send(worker_result(&mut work, share, task, worker, workers)).await;
                }
            },
        )
    }
}

fn array<T, const N: usize>(all: Vec<T>) -> [T; N] {
    all.try_into().unwrap_or_else(|all: Vec<T>| panic!("{} ports, expected {N}", all.len()))
}

/// The hub of a stage with workers.
struct Hub<W> {
    state: StageState<W>,
    tasks: Vec<Tx<u64>>,
    answers: Vec<Rx<u64>>,
}

impl<W: FnMut(u64, u64) -> u64> Hub<W> {
    /// Sends the message to every worker and waits for all answers. Returns the checksum.
    async fn run(&mut self, message: u64) -> Option<u64> {
        for task in &mut self.tasks {
            task.send(message).await;
        }
        for answer in &mut self.answers {
            let result = answer.recv().await?;
            self.state.add(result);
        }
        Some(self.state.checksum)
    }
}

async fn source<W: FnMut(u64, u64) -> u64>(
    size: H264,
    mut state: StageState<W>,
    [mut rows, mut current]: Txs<2>,
) {
    for row in 0..size.frames * size.rows {
        let sent = state.run(row);
        rows.send(sent).await;
        current.send(sent).await;
    }
}

/// ME and MC: combine each row with the previous frame. Pass the rows of the first frame on unchanged.
async fn inter<W: FnMut(u64, u64) -> u64>(size: H264, mut hub: Hub<W>, rxs: Rxs<2>, [mut tx]: Txs<1>) {
    let [mut rows, mut frames] = rxs;
    let mut before = None;
    loop {
        for _ in 0..size.rows {
            let Some(row) = rows.recv().await else { return };
            let result = match before {
                None => row,
                Some(before) => {
                    let Some(result) = hub.run(fold(row, before)).await else { return };
                    result
                }
            };
            tx.send(result).await;
        }
        before = frames.recv().await;
    }
}

async fn predict<W: FnMut(u64, u64) -> u64>(size: H264, mut hub: Hub<W>, rxs: Rxs<3>, txs: Txs<2>) {
    let ([mut current, mut inter, mut rebuilt], [mut residual, mut prediction]) = (rxs, txs);
    for frame in 0..size.frames {
        let mut neighbours = 0;
        for row in 0..size.rows {
            let (Some(current), Some(inter)) = (current.recv().await, inter.recv().await) else { return };
            if row > 0 {
                let Some(above) = rebuilt.recv().await else { return };
                neighbours = above;
            }
            let chosen = choose_prediction(frame, neighbours, inter);
            let Some(result) = hub.run(fold(current, chosen)).await else { return };
            residual.send(result).await;
            prediction.send(chosen).await;
        }
    }
}

/// T, Q and IQ: do the work for each message and forward the result.
async fn forward<W, const O: usize>(mut state: StageState<W>, [mut rx]: Rxs<1>, mut txs: Txs<O>)
where
    W: FnMut(u64, u64) -> u64,
{
    while let Some(message) = rx.recv().await {
        let result = state.run(message);
        for tx in &mut txs {
            tx.send(result).await;
        }
    }
}

/// IT: reconstructs a row as the decoder will. Sends it to P, except for the last row of a frame, which has no row
/// below.
async fn rebuild<W: FnMut(u64, u64) -> u64>(size: H264, mut state: StageState<W>, rxs: Rxs<2>, txs: Txs<2>) {
    let ([mut prediction, mut scaled], [mut neighbours, mut rebuilt]) = (rxs, txs);
    loop {
        for row in 0..size.rows {
            let (Some(predicted), Some(scaled)) = (prediction.recv().await, scaled.recv().await) else {
                return;
            };
            let result = state.run(fold(predicted, scaled));
            if row + 1 < size.rows {
                neighbours.send(result).await;
            }
            rebuilt.send(result).await;
        }
    }
}

/// The filter: sends each complete frame to `picture`, and, except for the last frame, to ME and MC.
async fn filter<W: FnMut(u64, u64) -> u64>(
    size: H264,
    mut state: StageState<W>,
    [mut rx]: Rxs<1>,
    txs: Txs<3>,
) {
    let [mut to_me, mut to_mc, mut picture] = txs;
    for frame in 1..=size.frames {
        for _ in 0..size.rows {
            let Some(row) = rx.recv().await else { return };
            state.run(row);
        }
        if frame < size.frames {
            to_me.send(state.checksum).await;
            to_mc.send(state.checksum).await;
        }
        picture.send(state.checksum).await;
    }
}

async fn entropy_code<W: FnMut(u64, u64) -> u64>(mut state: StageState<W>, [mut rx]: Rxs<1>) -> Value<u64> {
    while let Some(message) = rx.recv().await {
        state.run(message);
    }
    Value(state.checksum)
}
