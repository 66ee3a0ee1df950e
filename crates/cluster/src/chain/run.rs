//! Runs this process's share of a chain.

use std::io::{self, Write};
use std::sync::{Arc, Once, PoisonError};
use std::thread;

use thalweg::{Error as EngineError, Handle, Options, Output, Prepared};

use super::batch::Failure;
use super::budget;
use super::plan::Plan;
use super::shared::known;
use super::{AnyShared, Shared};
use crate::cluster::Cluster;
use crate::dataflow::{self, Flow};
use crate::ending::Ending;
use crate::engine::Engine;
use crate::error::Error;
use crate::mesh::{self, Limits, Mesh, OwnPulse, Seats, Wire};
use crate::output::FileOutput;
use crate::report::{Counters, Report};
use crate::watch::Watch;

/// Runs the chain, and returns its result in process 0.
pub(super) fn run<'env, R>(
    plan: Plan<'env>,
    output: Output<'env, R>,
    options: &Options,
) -> Result<Option<R>, Error> {
    let begin = plan.begin_at();
    let Plan { cluster, graph, flow, stages, sink, ending, watch, shape, budget, refused, file, .. } = plan;
    if let Some(error) = refused {
        return Err(error);
    }
    *cluster.ending.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&ending);
    if cluster.settings.resume && file.is_none() {
        let text = format!("this chain has no file to go on with: {shape}");
        return Err(Error::new(text).with_help("a run resumes only if its chain ends with `write_file`"));
    }
    let me = cluster.process();
    let explain = |error| explain(&cluster, error);
    let stage_run = graph.prepare(options).map_err(explain)?;
    // What is behind the sink is prepared in every process, for equal errors, and run in one.
    let sink_run = output.prepare(options).map_err(explain)?;
    let behind_sink = sink.as_ref().map(|(_, engine)| engine.clone()).unwrap_or_default();
    let pulse = own_pulse(&flow, watch.clone(), behind_sink);
    let window = flow.window.clone();
    let epochs = format!("{shape} in epochs of {}", window.epoch());
    let (mesh, wires) = meet(&cluster, &epochs, pulse, &ending)?;

    let failed = |text| Error::of(me, format!("process {me} ({}), {text}", cluster.addresses()[me]));
    let mut shared = cluster.shared.lock().unwrap_or_else(PoisonError::into_inner).waiting.clone();
    let here = file.as_ref().filter(|_| me == 0);
    let opened = here.map(|file| {
        let _call = watch.call();
        file.open(&cluster, &shape)
    });
    // All wait for it, so no source is read where the file is refused.
    let mut from = None;
    match opened.transpose() {
        Ok(first) if file.is_some() => {
            let (value, slot) = known(first);
            shared.push(slot);
            from = Some(value);
        }
        Ok(_) => {}
        Err(error) => ending.fail(error),
    }
    let file = file.filter(|_| me == 0);
    if let Err(text) = share(&shared, me, mesh.as_deref(), &watch) {
        ending.fail(failed(text));
    } else if let Some(budget) = budget {
        let bytes = cluster.shared.lock().unwrap_or_else(PoisonError::into_inner).bytes();
        if let Err(text) = budget.share(bytes) {
            ending.fail(failed(text).with_help(budget::HELP));
        }
    }
    if let Some(Some(from)) = from.as_ref().and_then(Shared::get) {
        begin(*from);
    }
    stop_waiting(&flow, &ending);
    stop_engine(stage_run.handle(), &stages, &ending);
    let stages_made = flow.stations.iter().map(|station| &station.outbox);
    let outboxes: Vec<_> = stages_made.chain([&flow.source]).cloned().collect();
    let mut value = None;
    match dataflow::start(flow, me, wires, mesh.clone(), ending.clone()) {
        Err(error) => ending.fail(error),
        Ok(running) => {
            thread::scope(|scope| {
                if let Some((inbox, engine)) = sink.filter(|_| me == 0) {
                    stop_engine(sink_run.handle(), &engine, &ending);
                    let stages = scope.spawn(|| run_stages(stage_run, &cluster, &ending));
                    match sink_run.run() {
                        Ok(run) => value = Some(run.into_value()),
                        Err(failed) => ending.fail(explain(failed.into())),
                    }
                    with_file(&file, &ending, &cluster, &watch, FileOutput::finish);
                    if !inbox.is_complete() {
                        ending.enough();
                    }
                    _ = stages.join();
                } else {
                    run_stages(stage_run, &cluster, &ending);
                }
            });
            // Nothing comes of any stage.
            outboxes.iter().for_each(|outbox| outbox.close());
            if !running.join() {
                let text = format!("process {me}: a thread of the dataflow panicked: please report this");
                ending.fail(Error::of(me, text));
            }
        }
    }
    if let (Some(_), Some(mesh)) = (&file, &mesh) {
        mesh.wait_for_others();
    }
    with_file(&file, &ending, &cluster, &watch, FileOutput::commit);
    let waited = window.waited();
    let counts = match &mesh {
        Some(mesh) => {
            mesh.finish(mesh.counters().counts(waited));
            mesh.counts()
        }
        None => vec![Counters::new(1).counts(waited)],
    };
    match ending.take() {
        Some(error) => Err(match file.and_then(|file| file.help()) {
            Some(help) => error.and_help(help),
            None => error,
        }),
        None => {
            if me == 0 {
                report(&cluster, Report::new(&counts));
            }
            // All processes have them.
            let sent = |slot: &Arc<dyn AnyShared>| shared.iter().any(|it| Arc::ptr_eq(it, slot));
            cluster.shared.lock().unwrap_or_else(PoisonError::into_inner).waiting.retain(|slot| !sent(slot));
            Ok(value)
        }
    }
}

/// Keeps the report of a run, and writes it where the environment asks for it.
fn report(cluster: &Cluster, report: Report) {
    if cluster.settings.prints_report {
        // A standard error that is closed takes nothing.
        _ = write!(io::stderr(), "{report}");
    }
    *cluster.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
}

/// Takes a step with the file, unless this process has none or the run has failed.
fn with_file(
    file: &Option<Arc<FileOutput>>,
    ending: &Ending,
    cluster: &Cluster,
    watch: &Watch,
    step: impl FnOnce(&FileOutput) -> io::Result<()>,
) {
    let Some(file) = file.as_ref().filter(|_| !ending.is_stopped()) else { return };
    let _call = watch.call();
    if let Err(error) = step(file) {
        let of = format!("process 0 ({}), stage write_file", cluster.addresses()[0]);
        ending.fail(Error::of(0, format!("{of}: failed: {error}")).with_source(Some(error.into())));
    }
}

/// Runs the stages of this process to their end.
fn run_stages(prepared: Prepared<'_>, cluster: &Cluster, ending: &Ending) {
    if let Err(failed) = prepared.run() {
        ending.fail(explain(cluster, failed.into()));
    }
}

/// Makes the shared values in process 0, and sends them to the others.
fn share(slots: &[Arc<dyn AnyShared>], me: usize, mesh: Option<&Mesh>, watch: &Watch) -> Result<(), String> {
    if me > 0 {
        let values = mesh.map_or(Vec::new(), |mesh| mesh.shared(slots.len()));
        return slots.iter().zip(values).try_for_each(|(slot, bytes)| slot.decode(&bytes));
    }
    for slot in slots {
        let _call = watch.call();
        slot.make()?;
        if let Some(mesh) = mesh {
            let bytes = slot.encode()?;
            if u32::try_from(bytes.len()).is_err() {
                return Err("a shared value has 4 GiB or more".to_owned());
            }
            mesh.share(&bytes);
        }
    }
    Ok(())
}

/// Lets the early end of the run end that of a graph.
fn stop_engine(run: Handle, engine: &Engine, ending: &Ending) {
    engine.begin(run.clone());
    ending.on_stop(move |_| run.cancel());
}

type Met = (Option<Arc<Mesh>>, Vec<Option<Wire>>);

/// Connects this process to all others, if there are any.
fn meet(cluster: &Cluster, shape: &str, own_pulse: OwnPulse, ending: &Arc<Ending>) -> Result<Met, Error> {
    if cluster.processes() == 1 {
        return Ok((None, vec![None]));
    }
    let settings = &cluster.settings;
    let places = cluster.places()?;
    if !places.are_here && cluster.process() == 0 {
        say_once(
            "note: the processes of this run are on several machines, and what they send is not encrypted",
        );
    }
    let seats = Seats {
        addresses: cluster.addresses(),
        places: &places.by_process,
        listener: settings.listener.as_deref(),
        patience: settings.patience,
        limits: Limits { silence: settings.silence, stall: settings.stall },
    };
    let (mesh, wires) = mesh::connect(seats, &cluster.identity(shape), own_pulse, ending)?;
    Ok((Some(mesh), wires))
}

/// Says something on the standard error at the first run of this program.
fn say_once(text: &str) {
    static SAID: Once = Once::new();
    // A standard error that is closed takes nothing.
    SAID.call_once(|| _ = writeln!(io::stderr(), "{text}"));
}

/// Lets the early end of the run wake each stage that waits for pieces or for room.
fn stop_waiting(flow: &Flow, ending: &Ending) {
    let window = flow.window.clone();
    let inboxes: Vec<_> = flow.stations.iter().filter_map(|station| station.inbox.clone()).collect();
    let stop = move || {
        window.stop();
        inboxes.iter().for_each(|inbox| inbox.stop());
    };
    ending.on_enough(stop.clone());
    ending.on_stop(move |_| stop());
}

/// What this process tells of itself.
fn own_pulse(flow: &Flow, watch: Arc<Watch>, behind_sink: Engine) -> OwnPulse {
    let window = flow.window.clone();
    let inboxes: Vec<_> = flow.stations.iter().filter_map(|station| station.inbox.clone()).collect();
    Box::new(move || {
        let source = window.waits().map(|ticket| format!("source waits with {ticket}"));
        let stages = inboxes.iter().filter_map(|inbox| inbox.wants());
        let stages = stages.map(|(name, ticket)| format!("{name} waits for {ticket}"));
        watch.pulse(
            behind_sink.behind_source(),
            source.into_iter().chain(stages).collect::<Vec<_>>().join(", "),
        )
    })
}

/// An error of the engine as one of the run: it names the process, and the stage and batch of a user's function.
fn explain(cluster: &Cluster, error: EngineError) -> Error {
    let me = cluster.process();
    let of = format!("process {me} ({})", cluster.addresses()[me]);
    let mut help = error.help();
    let (text, cause) = match error {
        EngineError::Node { node, cause } => match cause.downcast::<Failure>() {
            Ok(failure) => {
                help = failure.help.map(str::to_owned).or(help);
                (failure.to_string(), failure.cause)
            }
            Err(cause) => (format!("stage {node}: failed: {cause}"), Some(cause)),
        },
        EngineError::Panic { node, message } => (format!("stage {node}: panicked: {message}"), None),
        other => (other.to_string(), None),
    };
    let error = Error::of(me, format!("{of}, {text}")).with_source(cause);
    match help {
        Some(help) => error.with_help(help),
        None => error,
    }
}
