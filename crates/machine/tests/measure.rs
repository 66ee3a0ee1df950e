//! The costs of the machine that executes the tests.

use std::time::{Duration, Instant};
use thalweg_machine::{Costs, Machine};

#[test]
fn costs_are_plausible_and_measured_in_two_seconds() {
    let machine = Machine::here();
    let begin = Instant::now();
    let costs = Costs::measure(&machine);
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    let lines = [costs.line_cache(), costs.line_domain(), costs.line_across()];
    assert!(lines.iter().flatten().all(|ns| (1.0..1e7).contains(ns)), "{costs:?}");
    assert!(costs.wake().is_none_or(|ns| (10.0..1e9).contains(&ns)), "{costs:?}");
    assert!(costs.bandwidth().is_none_or(|bytes| bytes > 1_000_000), "{costs:?}");
    assert_eq!((costs.queue(), costs.steal()), (None, None));
    if cfg!(target_os = "linux") && machine.threads() > 1 {
        assert!(costs.wake().is_some(), "{costs:?}");
    }
    let measured = machine.with_costs(costs.clone());
    assert_eq!(Machine::read(&measured.to_string()).unwrap().costs(), &costs);
}

#[test]
fn a_cpu_that_is_not_there_has_no_line_transfer() {
    let text = "thalweg-machine 1\ndomains 1\ncores 2\ncpus 9000,9001\ncache 3 size 512 MiB per domain\n";
    let costs = Costs::measure(&Machine::read(text).unwrap());
    assert_eq!((costs.line_cache(), costs.bandwidth()), (None, None));
}

#[test]
fn costs_without_meaning_count_as_not_measured() {
    let mut costs = Costs::default();
    (*costs.queue_mut(), *costs.steal_mut(), *costs.bandwidth_mut()) = (Some(f64::NAN), Some(-1.0), Some(0));
    (*costs.wake_mut(), *costs.line_cache_mut()) = (Some(5000.5), Some(f64::INFINITY));
    let machine = Machine::uniform(1, 2).with_costs(costs);
    assert_eq!(machine.to_string(), "thalweg-machine 1\ndomains 1\ncores 2\ncost wake 5000.5 ns\n");
}
