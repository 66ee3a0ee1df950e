//! The encoder as processes.

use thalweg::{Graph, Output, Rx, Stream, Tx, Value, input, output};

use super::{H264, Stage, Step, chosen, worked};
use crate::job::fold;

/// The result of the network.
pub(super) fn build<W>(size: H264, frame: u64, work: W) -> Output<'static, u64>
where
    W: FnMut(u64, u64) -> u64 + Clone + Send + 'static,
{
    let net = Net { graph: Graph::new(), size, frame, work };
    let (to_me, for_me) = net.graph.feedback([]);
    let (to_mc, for_mc) = net.graph.feedback([]);
    let (to_p, for_p) = net.graph.feedback([]);
    let [rows, current] =
        net.stage("source", Stage::Source, [], move |step, [], txs| source(size, step, txs));
    let [vectors] =
        net.hub("ME", Stage::Me, [rows, for_me], move |team, rxs, txs| inter(size, team, rxs, txs));
    let [inter] =
        net.hub("MC", Stage::Mc, [vectors, for_mc], move |team, rxs, txs| inter(size, team, rxs, txs));
    let ins = [current, inter, for_p];
    let [residual, prediction] =
        net.hub("P", Stage::P, ins, move |team, rxs, txs| predict(size, team, rxs, txs));
    let [transformed] = net.stage("T", Stage::T, [residual], each);
    let [coded, back] = net.stage("Q", Stage::Q, [transformed], each);
    let [scaled] = net.stage("IQ", Stage::Iq, [back], each);
    let [neighbours, rebuilt] =
        net.stage("IT", Stage::It, [prediction, scaled], move |step, rxs, txs| rebuild(size, step, rxs, txs));
    let [again_me, again_mc, shown] =
        net.stage("filter", Stage::Filter, [rebuilt], move |step, rxs, txs| filter(size, step, rxs, txs));
    net.graph.process("picture", shown, (), |mut rx, ()| async move { while rx.recv().await.is_some() {} });
    let ec = net.step(Stage::Ec);
    let result = net.graph.process("EC", vec![coded], (), |rxs, ()| code(ec, array(rxs)));
    again_me.feed(to_me);
    again_mc.feed(to_mc);
    neighbours.feed(to_p);
    result
}

/// The network as far as it has come.
struct Net<W> {
    graph: Graph<'static>,
    size: H264,
    frame: u64,
    work: W,
}

/// The streams of these names.
type Streams<const N: usize> = [Stream<'static, u64>; N];
type Rxs<const N: usize> = [Rx<u64>; N];
type Txs<const N: usize> = [Tx<u64>; N];

impl<W> Net<W>
where
    W: FnMut(u64, u64) -> u64 + Clone + Send + 'static,
{
    fn step(&self, stage: Stage) -> Step<W> {
        Step::new(self.size, stage, self.frame, self.work.clone())
    }

    /// A process that works alone.
    fn stage<const I: usize, const O: usize, P>(
        &self,
        name: &str,
        stage: Stage,
        ins: Streams<I>,
        body: impl FnOnce(Step<W>, Rxs<I>, Txs<O>) -> P + Send + 'static,
    ) -> Streams<O>
    where
        P: Future<Output = ()> + Send + 'static,
    {
        let outs: Vec<_> = (0..O).map(|i| output(&format!("out{i}"))).collect();
        let step = self.step(stage);
        let streams =
            self.graph.process(name, Vec::from(ins), outs, move |rxs: Vec<Rx<u64>>, txs: Vec<Tx<u64>>| {
                body(step, array(rxs), array(txs))
            });
        array(streams)
    }

    /// A process with workers.
    fn hub<const I: usize, const O: usize, P>(
        &self,
        name: &str,
        stage: Stage,
        ins: Streams<I>,
        body: impl FnOnce(Team<W>, Rxs<I>, Txs<O>) -> P + Send + 'static,
    ) -> Streams<O>
    where
        P: Future<Output = ()> + Send + 'static,
    {
        let workers = self.size.workers;
        let (backs, answers): (Vec<_>, Vec<_>) = (0..workers).map(|_| self.graph.feedback([])).unzip();
        let ins: Vec<_> = ins.into_iter().chain(answers).collect();
        let outs: Vec<_> = (0..O + workers).map(|i| output(&format!("out{i}"))).collect();
        let step = self.step(stage);
        let mut streams =
            self.graph.process(name, ins, outs, move |mut rxs: Vec<Rx<u64>>, mut txs: Vec<Tx<u64>>| {
                let (answers, tasks) = (rxs.split_off(I), txs.split_off(O));
                body(Team { step, tasks, answers }, array(rxs), array(txs))
            });
        let tasks = streams.split_off(O);
        for (worker, (task, back)) in tasks.into_iter().zip(backs).enumerate() {
            let answer = self.worker(name, stage, worker, task);
            answer.feed(back);
        }
        array(streams)
    }

    /// One worker of a stage: a part of each task, and an answer.
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
                    tx.send(worked(&mut work, share, task, worker, workers)).await;
                }
            },
        )
    }
}

fn array<T, const N: usize>(all: Vec<T>) -> [T; N] {
    all.try_into().unwrap_or_else(|all: Vec<T>| panic!("{} ends where {N} were declared", all.len()))
}

/// A hub's workers, as the hub sees them.
struct Team<W> {
    step: Step<W>,
    tasks: Vec<Tx<u64>>,
    answers: Vec<Rx<u64>>,
}

impl<W: FnMut(u64, u64) -> u64> Team<W> {
    /// Gives every worker its part and waits for all.
    async fn run(&mut self, message: u64) -> Option<u64> {
        for task in &mut self.tasks {
            task.send(message).await;
        }
        for answer in &mut self.answers {
            let made = answer.recv().await?;
            self.step.note(made);
        }
        Some(self.step.seen)
    }
}

async fn source<W: FnMut(u64, u64) -> u64>(size: H264, mut step: Step<W>, [mut rows, mut current]: Txs<2>) {
    for row in 0..size.frames * size.rows {
        let made = step.run(row);
        rows.send(made).await;
        current.send(made).await;
    }
}

/// ME and MC: what comes in, seen against the frame before; nothing to do for the first frame.
async fn inter<W: FnMut(u64, u64) -> u64>(size: H264, mut team: Team<W>, rxs: Rxs<2>, [mut tx]: Txs<1>) {
    let [mut rows, mut frames] = rxs;
    let mut before = None;
    loop {
        for _ in 0..size.rows {
            let Some(row) = rows.recv().await else { return };
            let made = match before {
                None => row,
                Some(before) => {
                    let Some(made) = team.run(fold(row, before)).await else { return };
                    made
                }
            };
            tx.send(made).await;
        }
        before = frames.recv().await;
    }
}

async fn predict<W: FnMut(u64, u64) -> u64>(size: H264, mut team: Team<W>, rxs: Rxs<3>, txs: Txs<2>) {
    let ([mut current, mut inter, mut rebuilt], [mut residual, mut prediction]) = (rxs, txs);
    for frame in 0..size.frames {
        let mut neighbours = 0;
        for row in 0..size.rows {
            let (Some(current), Some(inter)) = (current.recv().await, inter.recv().await) else { return };
            if row > 0 {
                let Some(above) = rebuilt.recv().await else { return };
                neighbours = above;
            }
            let from = chosen(frame, neighbours, inter);
            let Some(made) = team.run(fold(current, from)).await else { return };
            residual.send(made).await;
            prediction.send(from).await;
        }
    }
}

/// T, Q and IQ: every message, worked on and passed on.
async fn each<W, const O: usize>(mut step: Step<W>, [mut rx]: Rxs<1>, mut txs: Txs<O>)
where
    W: FnMut(u64, u64) -> u64,
{
    while let Some(message) = rx.recv().await {
        let made = step.run(message);
        for tx in &mut txs {
            tx.send(made).await;
        }
    }
}

/// IT: a row as the decoder will see it. The last of a frame has none below that wants it.
async fn rebuild<W: FnMut(u64, u64) -> u64>(size: H264, mut step: Step<W>, rxs: Rxs<2>, txs: Txs<2>) {
    let ([mut prediction, mut scaled], [mut neighbours, mut rebuilt]) = (rxs, txs);
    loop {
        for row in 0..size.rows {
            let (Some(from), Some(scaled)) = (prediction.recv().await, scaled.recv().await) else { return };
            let made = step.run(fold(from, scaled));
            if row + 1 < size.rows {
                neighbours.send(made).await;
            }
            rebuilt.send(made).await;
        }
    }
}

/// Gives each frame, when it is whole, to who looks at it, and to those that need it for the next.
async fn filter<W: FnMut(u64, u64) -> u64>(size: H264, mut step: Step<W>, [mut rx]: Rxs<1>, txs: Txs<3>) {
    let [mut to_me, mut to_mc, mut picture] = txs;
    for frame in 1..=size.frames {
        for _ in 0..size.rows {
            let Some(row) = rx.recv().await else { return };
            step.run(row);
        }
        if frame < size.frames {
            to_me.send(step.seen).await;
            to_mc.send(step.seen).await;
        }
        picture.send(step.seen).await;
    }
}

async fn code<W: FnMut(u64, u64) -> u64>(mut step: Step<W>, [mut rx]: Rxs<1>) -> Value<u64> {
    while let Some(message) = rx.recv().await {
        step.run(message);
    }
    Value(step.seen)
}
