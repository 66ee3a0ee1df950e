//! The report of a native run says why one thread ran the program.

use crate::common::{compiled, has_compiler};
use thalweg::trace::ReportExt;
use thalweg_codegen::{Cache, Config, Native, Threads, build};
use thalweg_lang::files::Disk;
use thalweg_lang::interpret::{Options, Surroundings};

fn native(text: &str) -> Native {
    build(&compiled(text), &Config { cache: Cache::None, ..Config::default() }).unwrap()
}

/// The remarks in the report of a run on these threads.
fn notes(native: &Native, threads: &Threads) -> Vec<String> {
    let around = Surroundings {
        files: &mut Disk::default(),
        out: Box::new(std::io::sink()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    };
    let options = Options { iterations: Some(20), ..Options::default() };
    let (end, report) = native.run_reported(threads, options, around);
    end.unwrap();
    let report = report.unwrap();
    let shown = report.notes().iter().all(|note| report.to_string().contains(&format!("note: {note}\n")));
    assert!(shown, "{report}");
    assert_eq!(thalweg::Report::from_json(&report.to_json()).unwrap().notes(), report.notes());
    report.notes().to_vec()
}

const PRINTERS: &str = "void->void pipeline Main { add Count(); add Show(); add Last(); }
    void->int filter Count() { int n; work push 1 { push(n++); } }
    int->int filter Show() { work pop 1 push 1 { println(peek(0)); push(pop()); } }
    int->void filter Last() { work pop 1 { println(pop()); } }";

#[test]
fn a_report_names_the_reason_for_one_thread() {
    if !has_compiler("a_report_names_the_reason_for_one_thread") {
        return;
    }
    let printers = native(PRINTERS);
    let order = "one thread ran the program: the order of its firings is visible: several filters print, or one prints \
                 and another may fail";
    assert_eq!(notes(&printers, &Threads::new(2)), [order]);
    assert!(notes(&printers, &Threads::new(1)).is_empty(), "one thread was asked for");

    let silent = native(&PRINTERS.replace("println(peek(0)); ", ""));
    let plan = silent.plan(&Threads::new(1)).unwrap();
    let given = Threads::of(thalweg::Options::new().plan(plan));
    assert!(notes(&silent, &given).is_empty(), "the plan has one thread");
}
