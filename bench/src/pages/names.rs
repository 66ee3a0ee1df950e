//! Figures' names in words: `chain.s4.w1us.t2` is "chain, 4 stages, 1 us of work, 2 threads".

/// How names begin, and what that means. The longest beginning of whole words counts.
const BEGINNINGS: &[(&str, &str)] = &[
    ("channel.item", "one item at a time"),
    ("channel.slice64", "64 items at a time"),
    ("chain", "chain"),
    ("farm", "farm"),
    ("farm.outputs03", "farm, 0 to 3 outputs an item"),
    ("farm.rounds13", "farm, 1 to 3 rounds an item"),
    ("farm.peek64", "farm, window of 64 items"),
    ("cluster.compress", "zstd level 3 of 200 MB"),
    ("cluster.words", "word count of 200 MB, a table of each process"),
    ("cluster.every_word", "word count of 200 MB, every word to the process of its key"),
    ("cluster.keyed", "numbers counted by key behind a parallel map"),
    ("cluster.peak", "numbers counted by key, window of 32 batches, peak of a process"),
    ("cluster.kill", "from kill -9 to the last exit"),
    ("cluster.stop", "from SIGSTOP to the last exit, silence of 2 s"),
    ("cluster.empty", "empty run, start to end"),
    ("dedup.zstd3.overhead", "zstd level 3, extra processor time"),
    ("dedup.zstd3.speedup", "zstd level 3 in memory, speed-up"),
    ("dedup.zstd3.files", "zstd level 3 from files to a file, speed-up"),
    ("dedup.gzip6.overhead", "gzip level 6, extra processor time"),
    ("dedup.gzip6.speedup", "gzip level 6 in memory, speed-up"),
    ("archives.sources.copy", "sources, copied"),
    ("archives.sources.level1", "sources, packed at level 1"),
    ("archives.sources.level3", "sources, packed at level 3"),
    ("archives.sources.level6", "sources, packed at level 6"),
    ("archives.sources.level9", "sources, packed at level 9"),
    ("archives.sources.pair", "sources, packed with a near-copy"),
    ("archives.sources.unpack", "sources, unpacked"),
    ("archives.sources.unpack_pair", "sources, unpacked with a near-copy"),
    ("archives.toolchain.copy", "toolchain, copied"),
    ("archives.toolchain.level1", "toolchain, packed at level 1"),
    ("archives.toolchain.level3", "toolchain, packed at level 3"),
    ("archives.toolchain.level6", "toolchain, packed at level 6"),
    ("archives.toolchain.level9", "toolchain, packed at level 9"),
    ("archives.toolchain.pair", "toolchain, packed with a near-copy"),
    ("archives.toolchain.unpack", "toolchain, unpacked"),
    ("archives.toolchain.unpack_pair", "toolchain, unpacked with a near-copy"),
    ("report", "measurements of the report"),
    ("report.chain", "measurements of the report, chain"),
    ("report.farm", "measurements of the report, farm"),
    ("pools", "a serial, a parallel and a serial stage"),
    ("pools.steals", "nodes stolen under ws-last"),
    ("timeline", "timeline of the latest 65,536 events"),
    ("live.watch", "live view, 4 snapshots a second, processor time"),
    ("live.snapshot", "snapshot, for each node"),
    ("idle.wait5s", "processor time of a wait of 5 s"),
    ("small.run", "run of one item"),
    ("small.first", "first run of a process, above a first thread"),
    ("small.drop", "drop of an adaptor after its first item"),
    ("small.adaptor", "iterator adaptor of one item"),
    ("small.adaptor.n100", "iterator adaptor of 100 items"),
    ("small.adaptor.n1000", "iterator adaptor of 1000 items"),
    ("small.adaptor.long", "long iterator adaptor"),
    ("small.chain.n100", "chain of 100 items"),
    ("small.chain.n1000", "chain of 1000 items"),
    ("fastq", "FASTQ filter"),
    ("ferret.pools6", "6 stages"),
    ("ferret.pools3", "3 stages"),
    ("ferret.tokens20", "20 tokens"),
    ("ferret.tokens100", "100 tokens"),
    ("ferret.tokens6p", "6 tokens a thread"),
    ("predict", "beside predictions"),
    ("map.program.des", "DES"),
    ("map.program.lz77", "LZ77"),
    ("map.program.dnn", "network of 64 layers"),
    ("map.random", "random pipeline"),
    ("map.again", "again, by themselves"),
    ("map.dilated", "speed-up in dilated time"),
    ("map.model", "computed"),
    ("map.model.speedup", "speed-up, computed"),
    ("map.model.misses", "misses, computed"),
    ("map.model.plan", "nodes of a plan"),
    ("danbi.computing", "speed-up, computing"),
    ("danbi.speedup", "speed-up, dilated"),
    ("danbi.size", "firings of the dilated runs"),
    ("danbi.parts", "parts of the time, 40 dilated workers"),
    ("danbi.costs", "parts of the time, 2 computing workers"),
    ("danbi.variance", "stall by how much firings differ"),
    ("danbi.threads", "workers and suspended firings"),
    ("danbi.queues", "change of the time by queue size"),
    ("danbi.timeline", "parts of the time"),
    ("danbi.dilation", "dilated time over its scale, above real time"),
    ("danbi.peers", ""),
    ("danbi.barrier", "in StreamIt"),
    ("operators", "operator"),
    ("owned.maps", "lines, three sequential maps"),
    ("owned.processes", "lines, three processes"),
    ("owned.map", "lines, one parallel map"),
    ("owned.words", "lines split into words, counted"),
    ("owned.json", "lines of JSON, parsed"),
    ("owned.vectors", "lines split into words, joined"),
    ("owned.keyed", "lines, numbers added up by key"),
    ("owned.stage", "lines"),
    ("owned.blocks.k1", "blocks of 1 KiB"),
    ("owned.blocks.k16", "blocks of 16 KiB"),
    ("owned.blocks.k256", "blocks of 256 KiB"),
    ("loop.handoff", "loop without work"),
    ("loop.handoff.gap20", "loop without work, 20 us after the last"),
    ("loop.meeting", "loop whose iterations meet"),
    ("loop.meeting.gap20", "loop whose iterations meet, 20 us after the last"),
    ("loop.uniform", "even work"),
    ("loop.planted", "first tenth of the iterations costs ten times"),
    ("loop.fib", "join in fib(30)"),
    ("loop.wavefront", "node of a wavefront"),
    ("loop.wavefront.keyed", "node of a wavefront on demand, by key"),
    ("loop.wavefront.keyed.bytes", "task of a wavefront of 10^7 on demand, by key"),
    ("loop.wavefront.build", "node of a wavefront, when it is built"),
    ("loop.heat", "heat diffusion"),
    ("loop.life", "game of life, rows"),
    ("loop.life.b16x16", "game of life, blocks of 16 by 16"),
    ("loop.life.b16x256", "game of life, blocks of 16 by 256"),
    ("loop.life.planted", "game of life, first tenth of the rows costs more"),
    ("app.pagerank.s20", "PageRank, link of a graph of scale 20"),
    ("app.align.pairs.dna", "1000 cells, pairs of DNA"),
    ("app.align.pairs.protein", "1000 cells, pairs of proteins"),
    ("app.align.search.protein", "1000 cells, a protein with 3000 others"),
    ("app.align.pair.dna", "1000 cells, two DNA sequences of 32768 letters"),
    ("app.align.pair.protein", "1000 cells, two proteins of 32768 letters"),
    ("app.align.trace.dna", "1000 cells, an alignment of two DNA sequences of 4096 letters"),
    ("kpn.transaction", "message"),
    ("kpn.transaction.accounted", "message, with time stamps"),
    ("kpn.ring.creation", "hop, processes in the order of the ring"),
    ("kpn.ring.shuffled", "hop, processes in another order"),
    ("kpn.bytes.futures", "async process, one of 10^6"),
    ("kpn.bytes.coroutines", "coroutine, one of 10^5"),
    ("kpn.pipeline", "pipeline"),
    ("kpn.scatter", "scatter-gather"),
    ("kpn.layers", "random network"),
    ("kpn.h264", "encoder"),
    ("gp.pipeline", "pipeline"),
    ("gp.scatter", "scatter-gather, 256 workers"),
    ("gp.layers", "random network"),
    ("gp.tau.layers", "random network, threshold of 1 % idle time"),
    ("wordcount.flex", "network of counters, speed-up"),
    ("wordcount.mr", "MapReduce over processes, for a byte"),
    ("wordcount.flex-mr", "MapReduce's time over the network's"),
    ("hybrid.5a", "pass on, batches of 1"),
    ("hybrid.5b", "two operators, batches of 1"),
    ("hybrid.5c", "pass on"),
    ("hybrid.5d", "pass on, 1 queue"),
    ("hybrid.6a", "100 and 900 computations"),
    ("hybrid.6b", "1000 and 9000 computations"),
    ("hybrid.7a", "pass on, one processor"),
    ("hybrid.7b", "1000, 0 and 1000 computations"),
    ("hybrid.8a", "Huffman coder and decoder"),
    ("hybrid.8b", "bargain finder"),
    ("hybrid.8c", "predicate filter"),
    ("locality.5-1", "nodes"),
    ("locality.5-6.time", "speed-up"),
    ("locality.5-6.ticks", "speed-up in ticks"),
    ("locality.5-7", "remote accesses"),
    ("locality.5-8", "steals"),
    ("locality.5-9", "wait for the first work"),
    ("locality.table-5-2", "bad colours over none"),
    ("locality.table-5-3", "invalid colours over none"),
    ("locality.6-5.time", "speed-up"),
    ("locality.6-5.ticks", "Smith-Waterman, speed-up in ticks"),
    ("locality.6-5.remote", "Smith-Waterman, remote accesses"),
    ("locality.6-6.time", "speed-up"),
    ("locality.6-6.ticks", "life, speed-up in ticks"),
    ("locality.6-6.remote", "life, remote accesses"),
    ("str", ""),
    ("str.dyn.queues", "pass on"),
    ("str.dyn.waits", "pass on, may wait"),
    ("str.dyn.work", "calculate"),
    ("str.dyn.os_thread", "pass on, beside threads"),
    ("str.dyn.huffman", "Huffman coder and decoder"),
    ("str.dyn.vwap", "bargain finder"),
    ("str.dyn.predicate", "predicate filter"),
    ("str.compile.largest.cold", "longest C, compiled anew"),
    ("str.compile.largest.cached", "longest C, found in the cache"),
    ("str.compile.slowest.cached", "slowest to lower, found in the cache"),
];

/// A figure's name in words. Words that are not known stand as they are.
pub fn in_words(name: &str) -> String {
    let begins = |(known, _): &&(&str, &str)| {
        name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let longest = BEGINNINGS.iter().filter(begins).max_by_key(|(known, _)| known.len());
    let (known, meaning) = longest.copied().unwrap_or_default();
    let rest = name[known.len()..].split('.').filter(|word| !word.is_empty());
    let mut words: Vec<String> = rest.map(|word| setting(name, word)).collect();
    words.insert(0, meaning.to_owned());
    words.retain(|word| !word.is_empty());
    words.join(", ")
}

/// A word behind the beginning.
fn setting(name: &str, word: &str) -> String {
    let at = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let (what, number) = word.split_at(at);
    let many = |one: &str| if number == "1" { format!("1 {one}") } else { format!("{number} {one}s") };
    match (what, number) {
        (_, "") => word.replace('_', " "),
        ("w", _) if name.starts_with("hybrid.") => many("computation"),
        ("w", "0") => "no work".into(),
        ("w", time) => format!("{} of work", spaced(time)),
        ("t", _) => many("thread"),
        ("s", _) => many("stage"),
        ("q", _) => many("queue"),
        ("o", _) => many("operator"),
        ("p", "1") if name.starts_with("cluster.") => "1 process".into(),
        ("p", _) if name.starts_with("cluster.") => format!("{number} processes"),
        ("p", _) => many("worker"),
        ("f", _) => format!("windows of {}", many("tick")),
        ("i", _) => format!("one in {number}"),
        ("b", _) => format!("messages of {number} bytes"),
        ("c", _) => format!("room for {number}"),
        ("d", _) => format!("work division {number}"),
        ("r", _) => format!("frames of {}", many("message")),
        ("n", _) if ["kpn.ring", "live"].iter().any(|of| name.starts_with(of)) => {
            format!("{number} processes")
        }
        ("n", _) if name.starts_with("kpn.h264") => format!("{} a stage", many("worker")),
        ("n", _) => many("worker"),
        ("batch", _) => format!("batches of {number}"),
        ("m", _) if name.starts_with("cluster.") => format!("{number} million items"),
        ("", size) if size.ends_with("mb") => size.replace("mb", " MB"),
        _ => word.into(),
    }
}

/// `100ns` as `100 ns`.
fn spaced(time: &str) -> String {
    let at = time.find(|c: char| !c.is_ascii_digit()).unwrap_or(time.len());
    format!("{} {}", &time[..at], &time[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_words() {
        for (name, words) in [
            ("chain.s4.w0.t1", "chain, 4 stages, no work, 1 thread"),
            ("farm.rounds13.w200ns.t2", "farm, 1 to 3 rounds an item, 200 ns of work, 2 threads"),
            ("kpn.h264.r1.n8.t2", "encoder, frames of 1 message, 8 workers a stage, 2 threads"),
            ("kpn.layers.c1.d100.t2", "random network, room for 1, work division 100, 2 threads"),
            ("small.adaptor.n1000.w10us.t2", "iterator adaptor of 1000 items, 10 us of work, 2 threads"),
            ("owned.stage.w50ns.adaptor.mimalloc.t2", "lines, 50 ns of work, adaptor, mimalloc, 2 threads"),
            ("owned.blocks.k16.peers.t2", "blocks of 16 KiB, peers, 2 threads"),
            ("str.fm_radio.t2", "fm radio, 2 threads"),
            ("str.dyn.queues.batch1.q1", "pass on, batches of 1, 1 queue"),
            ("hybrid.5b.w100", "two operators, batches of 1, 100 computations"),
            ("hybrid.7b.batch100.t2", "1000, 0 and 1000 computations, batches of 100, 2 threads"),
            ("hybrid.8b.f10.t1", "bargain finder, windows of 10 ticks, 1 thread"),
            ("wordcount.flex-mr.10mb.t2", "MapReduce's time over the network's, 10 MB, 2 threads"),
            ("channel.slice64", "64 items at a time"),
            (
                "cluster.words.network.p2",
                "word count of 200 MB, a table of each process, network, 2 processes",
            ),
            ("locality.5-7.uk-2002.p80", "remote accesses, uk-2002, 80 workers"),
            ("unknown.x9", "unknown, x9"),
        ] {
            assert_eq!(in_words(name), words);
        }
    }

    /// The table above knows the beginning of each figure that is kept.
    #[test]
    fn kept_figures_are_known() {
        let folder = crate::results::folder();
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let data = super::super::data::Data::read(&files.collect::<Vec<_>>()).unwrap();
        for figure in &data.figures {
            let words = in_words(&figure.name);
            let known = BEGINNINGS.iter().any(|(known, _)| figure.name.starts_with(known));
            assert!(known && !words.contains('.'), "{}: {words}", figure.name);
        }
    }
}
