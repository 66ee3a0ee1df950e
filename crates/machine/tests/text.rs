//! The text form of machines: printing and parsing.

use proptest::prelude::*;
use std::fmt::Write;
use thalweg_machine::Machine;

const WHOLE: &str = "\
thalweg-machine 1
domains 8 memory 64 GiB
cores 10 units 2
domains 1 memory 1536 bytes
cores 3 capacity 512
cpus 0-79,200-202 80-159
nodes 0-7,16
cache 1 size 48 KiB line 64 per core
cache 2 line 128 per 5 cores
cache 3 size 32 MiB of 0-9,80-89 10-19,90-99
cache 3 of 200-202
distance 21
limit cpus 0-3,80
limit cores 1.5
limit memory 2 GiB
cost queue 8.5 ns
cost steal 60 ns
cost wake 5000 ns
cost line-cache 40 ns
cost line-domain 60.25 ns
cost line-across 120 ns
cost miss-in-order 3.2 ns
cost miss-at-random 11 ns
cost bandwidth 12000000000 bytes/s
";

fn error(text: &str) -> String {
    Machine::read(text).unwrap_err().to_string()
}

#[test]
fn every_statement_reads_back_as_printed() {
    let machine = Machine::read(WHOLE).unwrap();
    assert_eq!(machine.to_string(), WHOLE);
    assert_eq!((machine.units().len(), machine.cores().len(), machine.domains().len()), (163, 83, 9));
    assert_eq!((machine.threads(), machine.allowed().count()), (1, 5));
    assert_eq!(machine.domains()[8].node(), 16);
    assert_eq!(machine.costs().line_domain(), Some(60.25));
    // The order of statements is free where it has no meaning.
    let mut lines: Vec<&str> = WHOLE.lines().collect();
    lines[5..].reverse();
    assert_eq!(Machine::read(&lines.join("\n")), Ok(machine));
}

#[test]
fn a_person_writes_few_lines() {
    let text = "# planned\r\n\r\nthalweg-machine 1\r\ndomains 8 # sockets\ncores 10\n\tcache 3  size 30 MiB per 10 cores";
    let machine: Machine = text.parse().unwrap();
    assert_eq!((machine.threads(), machine.caches().len()), (80, 8));
    assert!(machine.to_string().contains("cache 3 size 30 MiB per domain\ndistance 20\n"), "{machine}");
}

#[test]
fn errors_name_the_line() {
    let head = "thalweg-machine 1\ndomains 2\ncores 2 units 2\n";
    let after = |line: &str| error(&format!("{head}\n# one comment\n{line}\n"));
    for (line, expected) in [
        ("core 4", "unknown statement `core 4`"),
        ("domains 0", "expected a number from 1 to 1022, found `0`"),
        ("domains 1 memory 4", "unknown statement `domains 1 memory 4`"),
        ("domains 1 memory 4 GB", "expected `bytes`, `KiB`, `MiB` or `GiB`, found `GB`"),
        ("cores 2 units 0", "expected a number from 1 to 8192, found `0`"),
        ("cores 2 capacity 1025", "expected a number from 1 to 1024, found `1025`"),
        ("cores 2 threads 2", "expected `units N` or `capacity N`, found `threads`"),
        ("cores 2 units 2 units 2", "duplicate `units`"),
        ("cores 8000", "expected at most 8192 units, found 16008 up to this line"),
        ("cpus 0-3", "expected 2 lists, one for each unit of a core, found 1"),
        ("cpus 0-3 4-6", "expected 4 CPUs in list 2, one for each core, found 3"),
        ("cpus 0-3 3-6", "CPU 3 is listed twice"),
        ("cpus 3-0 4-7", "expected a range in ascending order, found `3-0`"),
        ("cpus 0-8191 0", "expected at most 0 numbers, found more in `0`"),
        ("nodes 1", "expected numbers of 2 nodes, found 1"),
        ("nodes 1,1", "node 1 is listed twice"),
        ("cache 9 per core", "expected a number from 1 to 8, found `9`"),
        ("cache 1 of 0", "the cache has CPU 0 and lacks CPU 1 of the same core"),
        ("cache 1 of 0-1 0-1", "CPU 0 has two caches of level 1"),
        ("cache 1 of 0-1,8", "the machine has no CPU 8"),
        ("cache 1 of 2-5", "the cache has CPUs of several domains and lacks CPU 0 of the domain of CPU 2"),
        (
            "cache 2 of 0-1\ncache 1 of 0-3",
            "the cache has CPU 0 and lacks CPU 2 of the same cache of level 1",
        ),
        ("cache 1 per 0 cores", "expected a number from 1 to 8192, found `0`"),
        (
            "cache 1 size 4 KiB",
            "expected `size N KiB`, `line N`, `per core`, `per N cores`, `per domain` or `of LIST`, found ``",
        ),
        ("distance 256", "expected a number from 10 to 255, found `256`"),
        ("distances 1 20 10", "expected distances of domain 0, found domain 1"),
        ("distances 0 10", "expected 2 distances, one to each domain, found 1"),
        ("distances 0 10 20", "expected distances of 2 domains, found 1"),
        ("distances 0 20 10\ndistances 1 20 10", "expected distance 10 of domain 0 from itself, found 20"),
        ("distance 20\ndistances 0 10 20", "expected `distance` or `distances`, found both"),
        ("limit cpus 8", "the machine has no CPU 8"),
        ("limit cores 0", "expected a number of cores, as `1.5`, found `0`"),
        ("limit memory 0 KiB", "expected a number from 1 to 18014398509481983, found `0`"),
        (
            "cost luck 1 ns",
            "expected one of queue, steal, wake, line-cache, line-domain, line-across, miss-in-order, miss-at-random, found `luck`",
        ),
        ("cost queue NaN ns", "expected a number from 0.001 to 1000000000000, found `NaN`"),
        ("cost queue 1 us", "unknown statement `cost queue 1 us`"),
        ("\x1b[2J", "unknown statement `\\u{1b}[2J`"),
    ] {
        assert_eq!(after(line), format!("machine, line 6: {expected}"), "{line}");
    }
    for line in [
        "cpus 0-3 4-7",
        "nodes 0-1",
        "distance 20",
        "limit cpus 0",
        "limit cores 1",
        "limit memory 1 KiB",
        "cost queue 1 ns",
        "cost bandwidth 1 bytes/s",
        "cache 1 per core",
    ] {
        let what = error(&format!("{head}{line}\n{line}"));
        assert!(what.starts_with("machine, line 5: duplicate `"), "{line}: {what}");
    }
    assert!(
        error(&format!("{head}cache 1 per core\ncache 1 of 0-1")).contains("line 5: duplicate `cache 1`")
    );
    assert!(
        error(&format!("{head}cache 1 of 0-1\ncache 1 per core")).contains("line 5: duplicate `cache 1`")
    );
    let orphans = error("thalweg-machine 1\ncores 4");
    let expected = "machine, line 2: expected `domains` above `cores`\nhelp: add `domains 1` above this line";
    assert_eq!(orphans, expected);
}

#[test]
fn other_texts_and_other_versions_are_refused() {
    assert_eq!(
        error("thalweg-machine 2\ndomains 1"),
        "machine, line 1: unsupported version: expected `thalweg-machine 1`, found `thalweg-machine 2`\n\
         help: print the machine again with this version of the program, and repeat the edits"
    );
    assert!(error("#!/bin/sh\necho\n").starts_with("machine, line 2: not a machine"));
    assert_eq!(error(""), "machine, line 1: not a machine: expected `thalweg-machine 1`, found no statement");
    assert_eq!(error("thalweg-machine 1\ndomains 3\n"), "machine, line 3: the machine has no cores");
    assert!(Machine::is_text(WHOLE) && !Machine::is_text("thalweg-plan 2\n"));
}

/// Texts that would make a reader that expands first use gigabytes.
#[test]
fn hostile_texts_stay_small() {
    let head = "thalweg-machine 1\ndomains 1024\ncores 8\n";
    for line in
        ["cache 1 of 0-8191", "cpus 0-8191", "cores 8192", "domains 1024", "cache 1 per core", "nodes 0-1023"]
    {
        let text = format!("{head}{}", format!("{line}\n").repeat(50_000));
        let line = Machine::read(&text).unwrap_err().line();
        assert!(line < 8, "line {line}");
    }
    let text = format!("{head}{}", "cache 1 of 0-8191\n".repeat(50_000));
    assert!(error(&text).starts_with("machine, line 5: expected at most 0 numbers"));
    let text = format!("{head}cpus{}", " 0-8191".repeat(50_000));
    assert!(error(&text).starts_with("machine, line 4: expected at most 0 numbers"));
    let long = error(&format!("{head}{}", "x".repeat(1 << 20)));
    assert!(long.len() < 200, "{} bytes", long.len());
}

/// A random group of equal domains: their number, memory, and runs of cores with units and capacity.
type Group = (usize, Option<u64>, Vec<(usize, usize, u16)>);

fn any_groups() -> impl Strategy<Value = Vec<Group>> {
    let run = (1usize..4, 1usize..4, prop_oneof![Just(1024u16), 1u16..=1024]);
    let memory =
        proptest::option::of(prop_oneof![1u64..100, (1u64..64).prop_map(|n| n << 30), Just(u64::MAX)]);
    proptest::collection::vec((1usize..3, memory, proptest::collection::vec(run, 0..3)), 1..4)
}

type Numbers = (Vec<u32>, [Option<u64>; 3], [Option<f64>; 8], Option<u64>, u16);

fn any_numbers() -> impl Strategy<Value = Numbers> {
    let shuffled = Just((0u32..200).collect::<Vec<_>>()).prop_shuffle();
    let limits = proptest::array::uniform3(proptest::option::of(1u64..));
    let costs = proptest::array::uniform8(proptest::option::of(0.001f64..=1e12));
    (shuffled, limits, costs, proptest::option::of(1u64..), 10u16..=255)
}

/// The text of a random machine, with statements in a form that printing may change.
fn text((groups, numbers, shape): &(Vec<Group>, Numbers, [u8; 6])) -> String {
    let (shuffled, limits, costs, bandwidth, distance) = numbers;
    let mut text = "thalweg-machine 1\n".to_owned();
    for (count, memory, runs) in groups {
        let memory = memory.map_or(String::new(), |bytes| format!(" memory {bytes} bytes"));
        writeln!(text, "domains {count}{memory}").unwrap();
        for (cores, units, capacity) in runs {
            writeln!(text, "cores {cores} capacity {capacity} units {units}").unwrap();
        }
    }
    // One core at least.
    text.push_str("domains 1\ncores 1\n");
    let cores: Vec<Vec<usize>> = groups
        .iter()
        .flat_map(|(count, _, runs)| {
            let domain: Vec<usize> = runs.iter().flat_map(|(cores, units, _)| vec![*units; *cores]).collect();
            vec![domain; *count]
        })
        .chain([vec![1]])
        .collect();
    let flat: Vec<usize> = cores.concat();
    let mut cpus: Vec<Vec<u32>> = Vec::new();
    let mut next = shuffled.iter().copied().cycle();
    let mut taken = 0;
    for units in &flat {
        cpus.push(next.by_ref().take(*units).collect());
        taken += units;
    }
    if taken > shuffled.len() || shape[5] == 0 {
        let mut next = 0..;
        cpus = flat.iter().map(|units| next.by_ref().take(*units).collect()).collect();
    }
    let list = |cpus: &[u32]| cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    text.push_str("cpus");
    for i in 0..flat.iter().copied().max().unwrap_or(1) {
        let of_unit: Vec<u32> = cpus.iter().filter_map(|cpus| cpus.get(i).copied()).collect();
        write!(text, " {}", list(&of_unit)).unwrap();
    }
    text.push('\n');
    let nodes: Vec<u32> = (0..cores.len() as u32).map(|node| node * u32::from(shape[4]) + node).collect();
    writeln!(text, "nodes {}", list(&nodes)).unwrap();
    text.push_str(&caches(&cores, &cpus, shape));
    text.push_str(&distances(cores.len(), *distance, shape[3]));
    for (name, limit) in ["cpus", "cores", "memory"].iter().zip(limits) {
        match (*name, limit) {
            (_, None) => {}
            ("cpus", Some(n)) => writeln!(text, "limit cpus {}", cpus[*n as usize % cpus.len()][0]).unwrap(),
            ("cores", Some(n)) => writeln!(text, "limit cores {}.{:03}", n / 1000, n % 1000).unwrap(),
            (_, Some(n)) => writeln!(text, "limit memory {n} bytes").unwrap(),
        }
    }
    for (name, cost) in [
        "queue",
        "steal",
        "wake",
        "line-cache",
        "line-domain",
        "line-across",
        "miss-in-order",
        "miss-at-random",
    ]
    .iter()
    .zip(costs)
    {
        cost.map(|ns| writeln!(text, "cost {name} {ns} ns").unwrap());
    }
    bandwidth.map(|bytes| writeln!(text, "cost bandwidth {bytes} bytes/s").unwrap());
    text
}

/// Nested caches of three levels, shared or listed, with sizes that may differ.
fn caches(domains: &[Vec<usize>], cpus: &[Vec<u32>], shape: &[u8; 6]) -> String {
    let mut text = String::new();
    match shape[0] {
        0 => {}
        1 => text.push_str("cache 1 per core\n"),
        2 => text.push_str("cache 1 line 64 size 2048 bytes per 1 cores\n"),
        n => {
            for (i, cpus) in cpus.iter().enumerate().filter(|(i, _)| i % usize::from(n) != 2) {
                let list = cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
                writeln!(text, "cache 1 size {} KiB of {list}", 32 + i % 3).unwrap();
            }
        }
    }
    if shape[1] > 0 {
        writeln!(text, "cache 3 size 1 MiB line {} per {} cores", shape[1], shape[1]).unwrap();
    }
    let mut at = 0;
    for cores in domains {
        let of_domain: Vec<String> = cpus[at..at + cores.len()].concat().iter().map(u32::to_string).collect();
        at += cores.len();
        if shape[2] > 1 && !of_domain.is_empty() {
            writeln!(text, "cache 4 size {} MiB of {}", shape[2], of_domain.join(",")).unwrap();
        }
    }
    text + if shape[2] == 1 { "cache 4 per domain\n" } else { "" }
}

fn distances(domains: usize, far: u16, shape: u8) -> String {
    let mut text = String::new();
    match shape {
        0 => {}
        1 => writeln!(text, "distance {far}").unwrap(),
        _ => {
            for i in 0..domains {
                write!(text, "distances {i}").unwrap();
                for j in 0..domains {
                    let distance =
                        if i == j { 10 } else { far - (i + j) as u16 % (far - 9).min(u16::from(shape)) };
                    write!(text, " {distance}").unwrap();
                }
                text.push('\n');
            }
        }
    }
    text
}

proptest! {
    #[test]
    fn a_printed_machine_reads_back_as_itself(parts in (any_groups(), any_numbers(), proptest::array::uniform6(0u8..5))) {
        let text = text(&parts);
        let machine = Machine::read(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let printed = machine.to_string();
        let again = Machine::read(&printed).map_err(|error| TestCaseError::fail(format!("{error}\n{printed}")))?;
        prop_assert_eq!(&again, &machine);
        prop_assert_eq!(again.to_string(), printed);
        // The levels are partitions that become coarser.
        for pair in machine.levels().windows(2) {
            prop_assert!(pair[0].groups().len() > pair[1].groups().len());
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = Machine::read(&text);
        let _ = Machine::read(&format!("thalweg-machine 1\n{text}"));
    }

    #[test]
    fn lines_of_known_words_are_read_or_refused_with_a_line_number(
        words in proptest::collection::vec(prop_oneof![
            Just("domains"), Just("cores"), Just("units"), Just("cache"), Just("of"), Just("per"), Just("core"),
            Just("cores"), Just("domain"), Just("cpus"), Just("distance"), Just("distances"), Just("limit"), Just("\n"),
            Just("\n"), Just("1"), Just("2"), Just("0-1"), Just("0,1"), Just("8192"), Just("1024"), Just("size"),
            Just("KiB"), Just("memory"), Just("nodes"), Just("18446744073709551615"), Just("domains 2\ncores 2\n"),
        ], 0..40)
    ) {
        let text = format!("thalweg-machine 1\n{}", words.join(" "));
        if let Err(line) = Machine::read(&text).map_err(|error| error.line()) {
            prop_assert!((1..=text.lines().count() + 1).contains(&line));
        }
    }

    #[test]
    fn a_damaged_text_is_read_or_refused_with_a_line_number(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = WHOLE.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match Machine::read(&text) {
            Err(error) => prop_assert!((1..=text.lines().count() + 1).contains(&error.line())),
            Ok(machine) => prop_assert_eq!(Machine::read(&machine.to_string()), Ok(machine)),
        }
    }
}
