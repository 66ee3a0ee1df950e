//! The environment of runs on threads: prints, cancellation, counted steady states, input that restarts,
//! every policy of the engine, and programs that several threads run at once.

use crate::common::{Memory, compiled, difference, floats, has_compiler, interpreted, run_on};

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use thalweg_codegen::{Cache, Config, Level, Native, Split, Threads, build, source};
use thalweg_lang::interpret::{Options, Stop, Surroundings, interpret};

const FIRS: &str = "float->float filter Fir(int n) { work pop 1 push 1 peek n { float s = 0;
        for (int i = 0; i < n; i++) s = s * 0.5 + peek(i); pop(); push(s); } }
    float->float filter Decay(float by) { float last; work pop 1 push 1 { last = last * by + pop(); push(last); } }";

fn native(text: &str) -> Native {
    let config = Config { level: Level::Vectors, cache: Cache::None, compiler: None };
    build(&compiled(text), &config).unwrap_or_else(|refusal| panic!("{refusal}\n{text}"))
}

fn some(count: usize, batch: u64) -> Threads {
    Threads::new(count).batch(batch)
}

fn filtered(stream: &str) -> String {
    format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\"); {stream} add FileWriter<float>(\"out\"); }} {FIRS}"
    )
}

#[test]
fn prints_come_in_order() {
    if !has_compiler("prints") {
        return;
    }
    let text = format!(
        "void->void pipeline Main {{ add FileReader<float>(\"in\"); add Fir(9); add Tell(); add Fir(12); add Decay(0.5); add FileWriter<float>(\"out\"); }}
         float->float filter Tell {{ int n; work pop 1 push 1 {{ if (n % 3 == 0) println(n + \": \" + peek(0)); n++; push(pop()); }} }} {FIRS}"
    );
    let (native, files) = (native(&text), floats("in", 700));
    let meant = interpreted(&compiled(&text), &files, None);
    assert!(meant.printed.lines().count() > 200);
    for batch in [1, 9, 64] {
        let done = run_on(&native, &some(3, batch), &files, None);
        assert!(meant == done, "{}", difference(&meant, &done));
    }
}

#[test]
fn every_policy_gives_the_same() {
    if !has_compiler("policies") {
        return;
    }
    for stream in ["add Fir(9); add Fir(14);", "add Fir(9); add Decay(0.5); add Fir(14); add Decay(0.25);"] {
        let text = filtered(stream);
        let (native, files) = (native(&text), floats("in", 1234));
        let meant = interpreted(&compiled(&text), &files, None);
        for policy in thalweg::embed::policy::registry::names() {
            for count in [2, 5] {
                let engine = thalweg::Options::new().threads(count).policy(policy);
                let threads = Threads::of(engine).batch(3);
                let done = run_on(&native, &threads, &files, None);
                assert!(meant == done, "{policy}: {}", difference(&meant, &done));
            }
        }
    }
}

#[test]
fn steady_states_are_counted() {
    if !has_compiler("iterations") {
        return;
    }
    let text = filtered("add Fir(5); add Decay(0.5); add Fir(8);");
    let (native, files) = (native(&text), floats("in", 500));
    for iterations in [0, 1, 7, 8, 9, 63, 64, 65, 200] {
        let meant = interpreted(&compiled(&text), &files, Some(iterations));
        for threads in [some(2, 1), some(2, 8), Threads::new(4)] {
            let done = run_on(&native, &threads, &files, Some(iterations));
            assert!(meant == done, "{iterations}, {threads:?}: {}", difference(&meant, &done));
        }
    }
}

/// A run with input that restarts, cancelled after this many steady states.
fn run(
    files: &mut Memory,
    iterations: Option<u64>,
    stop_after: u64,
    run: impl FnOnce(Options, Surroundings<'_>) -> Result<u64, Stop>,
) -> Result<u64, Stop> {
    let options = Options { iterations, repeat_input: true };
    let reached = Arc::new(AtomicU64::new(0));
    let seen = reached.clone();
    let around = Surroundings {
        files,
        out: Box::new(std::io::sink()),
        interrupted: Box::new(move || seen.load(Ordering::Relaxed) >= stop_after),
        progress: &mut |done| {
            assert!(done >= reached.load(Ordering::Relaxed), "progress goes forward");
            reached.store(done, Ordering::Relaxed);
        },
    };
    run(options, around)
}

#[test]
fn input_restarts() {
    if !has_compiler("repeat") {
        return;
    }
    let text = filtered("add Fir(5); add Fir(30);");
    let (native, program) = (native(&text), compiled(&text));
    for count in [1, 7, 100] {
        let (mut meant, mut done) = (floats("in", count), floats("in", count));
        let first = run(&mut meant, Some(1000), u64::MAX, |options, around| {
            interpret(&program, options, around).map(|outcome| outcome.iterations)
        });
        let second = run(&mut done, Some(1000), u64::MAX, |options, around| {
            native
                .run_on(&some(std::env::var("T").map_or(2, |t| t.parse().unwrap()), 11), options, around)
                .map(|outcome| outcome.iterations)
        });
        assert_eq!(first, second);
        assert!(
            *meant.written.lock().unwrap() == *done.written.lock().unwrap(),
            "{count} items again and again"
        );
    }
}

#[test]
fn a_cancelled_run_ends_soon_with_what_was_done() {
    if !has_compiler("cancel") {
        return;
    }
    let text = filtered("add Fir(5); add Decay(0.5); add Fir(30);");
    let (native, program) = (native(&text), compiled(&text));
    for split in [Split::Auto, Split::Filters, Split::DataParallel] {
        let mut files = floats("in", 77);
        let end = run(&mut files, None, 500, |options, around| {
            native.run_on(&some(3, 10).split(split), options, around).map(|outcome| outcome.iterations)
        });
        assert_eq!(end, Err(Stop::Interrupted));
        let done = files.written.lock().unwrap()["out"].len() as u64;
        assert!((500..3000).contains(&done), "{done} items");
        let mut meant = floats("in", 77);
        run(&mut meant, Some(done), u64::MAX, |options, around| {
            interpret(&program, options, around).map(|outcome| outcome.iterations)
        })
        .unwrap();
        assert!(*meant.written.lock().unwrap() == *files.written.lock().unwrap(), "{split:?}");
    }
}

#[test]
fn emitted_code_has_no_mutable_data() {
    for stream in ["add Fir(5); add Decay(0.5);", "add Fir(80);"] {
        let text = source(&compiled(&filtered(stream)), Level::Vectors).unwrap();
        let data = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("static ") && !line.contains('(') && !line.starts_with("static const")
        };
        assert_eq!(text.lines().find(data), None);
    }
}

#[test]
fn one_program_is_run_by_several_at_once() {
    if !has_compiler("several") {
        return;
    }
    let text = filtered("add Fir(5); add Decay(0.5); add Fir(30);");
    let native = native(&text);
    let meant = interpreted(&compiled(&text), &floats("in", 3000), None).written;
    std::thread::scope(|scope| {
        for count in [1, 1, 2, 3] {
            let (native, meant) = (&native, &meant);
            scope.spawn(move || {
                for _ in 0..20 {
                    let done = run_on(native, &some(count, 7), &floats("in", 3000), None);
                    assert!(*meant == done.written);
                }
            });
        }
    });
}
