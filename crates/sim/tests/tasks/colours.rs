//! What good, bad and invalid colours change on the paper's machine, 8 domains of 10 cores (sections 5.5.2 to 5.5.4).

use crate::order::check;
use thalweg_sim::tasks::shapes::{self, Links};
use thalweg_sim::tasks::{Colouring, TaskGraph, TaskReport, TaskSettings, run};

/// The reports of all colourings, in the order of [`Colouring::ALL`]: good, bad, invalid, none.
fn reports(graph: &TaskGraph, workers: usize) -> [TaskReport; 4] {
    Colouring::ALL.map(|colouring| {
        let report = run(graph, &TaskSettings { workers, colouring, ..TaskSettings::default() });
        check(graph, &report.order);
        report
    })
}

#[test]
fn good_colours_keep_a_stencil_where_its_data_is() {
    for workers in [20, 40, 80] {
        let [good, bad, _, none] = reports(&shapes::stencil(40, 80, 5, workers), workers);
        let [remote, of_bad, of_none] = [&good, &bad, &none].map(TaskReport::remote_share);
        assert!(remote < 0.35 * of_none, "{workers} workers: {remote} good, {of_none} without colours");
        assert!(
            of_bad > 0.8 && of_bad > of_none,
            "{workers} workers: {of_bad} bad, {of_none} without colours"
        );
        assert!(good.steals() < none.steals(), "{workers} workers: Figure 5.8");
        assert!(good.time as f64 * 1.2 < none.time as f64, "{workers} workers");
    }
}

/// Table 5.2: from 0.41 to 1.10. Table 5.3: from 0.87 to 1.12.
#[test]
fn bad_and_invalid_colours_cost_about_what_they_cost_in_the_paper() {
    for workers in [20, 80] {
        let stencil = shapes::stencil(40, 40, 5, workers);
        let pages = shapes::pages(410, 6, Links::SOCIAL, workers, 1);
        for graph in [stencil, pages, shapes::wavefront(60, 60, true, workers)] {
            let [_, bad, invalid, none] = reports(&graph, workers);
            let speedup = |report: &TaskReport| none.time as f64 / report.time as f64;
            assert!((0.41..1.1).contains(&speedup(&bad)), "{workers} workers: {}", speedup(&bad));
            assert!((0.8..1.12).contains(&speedup(&invalid)), "{workers} workers: {}", speedup(&invalid));
            let difference = invalid.remote_share() - none.remote_share();
            assert!(difference.abs() < 0.15, "{workers} workers: invalid colours are none, {difference}");
        }
    }
}

#[test]
fn with_invalid_colours_the_forced_first_steal_gives_up() {
    let settings = TaskSettings { colouring: Colouring::Invalid, ..TaskSettings::default() };
    let report = run(&shapes::stencil(40, 80, 2, 80), &settings);
    // All but the worker that begins with the sink make all of their forced attempts, in vain.
    let forced = 80 * u64::from(settings.search.first);
    assert_eq!(report.total().forced.tried, 79 * forced);
    assert_eq!(report.total().coloured.stole, 0);
    assert!(report.workers.iter().all(|counts| counts.computed > 0));
}

/// Figure 5.9: the wait for the first coloured steal grows with the number of workers, and is the same for all graphs with
/// all colours at the root.
#[test]
fn the_wait_for_the_first_steal_depends_on_the_workers_alone() {
    let wait = |graph: &TaskGraph, workers| {
        let settings = TaskSettings { workers, ..TaskSettings::default() };
        run(graph, &settings).mean_wait()
    };
    let mut before = 0.0;
    for workers in [20, 40, 80] {
        let stencil = wait(&shapes::stencil(40, 80, 2, workers), workers);
        let pages = wait(&shapes::pages(1_000, 2, Links::CRAWL, workers, 1), workers);
        assert!((0.7..1.3).contains(&(stencil / pages)), "{workers} workers: {stencil} and {pages}");
        assert!(stencil > 1.3 * before, "{workers} workers: {stencil} after {before}");
        before = stencil;
    }
}

#[test]
fn workers_that_prefer_their_domain_have_fewer_remote_accesses() {
    let graph = shapes::pages(410, 10, Links::CRAWL, 80, 1);
    let report = |hierarchical| run(&graph, &TaskSettings { hierarchical, ..TaskSettings::default() });
    let (own, domain) = (report(false), report(true));
    assert!(domain.remote_share() < 0.9 * own.remote_share());
    assert!(domain.time < own.time);
}
