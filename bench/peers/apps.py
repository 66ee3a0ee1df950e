"""Peers of the applications: NetworKit and parasail, both of PyPI (`pip install networkit parasail numpy`).

    apps.py pagerank FOLDER THREADS ITERATIONS   NetworKit's PageRank
    apps.py score FUNCTION FOLDER THREADS        parasail, the scores of all queries with all targets
    apps.py trace FUNCTION FOLDER THREADS        the same with traceback

Prints the seconds of the timed region, the shortest of three, and a checksum. Reading files, building NetworKit's graph, and
starting threads are not timed. parasail has no threads: each of THREADS threads takes the pairs of every THREADS-th query, or with one query of
every THREADS-th target.
"""

import sys
import time
from pathlib import Path
from threading import Barrier, Thread

ROUNDS = 3
# As `Scoring` of the figures: match, mismatch, and the costs (open, extend).
DNA, DNA_GAPS, PROTEIN_GAPS = (2, -3), (5, 2), (11, 1)


def best(rounds, run):
    """The shortest time of several runs, and the last result."""
    seconds = []
    for _ in range(rounds):
        begun = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - begun)
    return min(seconds), result


def pagerank(folder, threads, iterations):
    import networkit
    import numpy

    networkit.setNumberOfThreads(threads)
    read = lambda name, kind: numpy.fromfile(folder / name, dtype=kind)
    sources, targets, ranks = read("sources", "u4"), read("targets", "u4"), read("ranks", "f8")
    graph = networkit.GraphFromCoo((sources, targets), n=len(ranks), directed=True)

    def run():
        # The defaults but for the end: a tolerance that no change reaches, so that all iterations are done.
        centrality = networkit.centrality
        ranking = centrality.PageRank(graph, damp=0.85, tol=1e-300,
                                      distributeSinks=centrality.SinkHandling.DistributeSinks)
        ranking.maxIterations = iterations
        ranking.norm = centrality.Norm.L1_NORM
        ranking.run()
        return ranking

    seconds, ranking = best(ROUNDS, run)
    if ranking.numberOfIterations() != iterations:
        sys.exit(f"{ranking.numberOfIterations()} iterations")
    worst = numpy.abs(numpy.array(ranking.scores()) - ranks).max()
    if not worst <= 1e-9:
        sys.exit(f"a rank differs by {worst}")
    print(f"{seconds:.9f} 1")


def align(mode, function, folder, threads):
    import parasail

    queries, targets = ((folder / name).read_text().split() for name in ("queries", "targets"))
    is_dna = set("".join(queries)) <= set("ACGT")
    matrix = parasail.matrix_create("ACGT", *DNA) if is_dna else parasail.blosum62
    gaps = DNA_GAPS if is_dna else PROTEIN_GAPS
    scores = [0] * threads

    if mode == "trace":
        function = getattr(parasail, f"sw_trace_{function}")
        one = lambda query, target: function(query, target, *gaps, matrix)
        profile = lambda query: query
    else:
        method, width = function.split("_")
        profile_of = getattr(parasail, f"profile_create_{width}")
        function = getattr(parasail, f"sw_{method}_profile_{width}")
        one = lambda profile, target: function(profile, target, *gaps)
        profile = lambda query: profile_of(query, matrix)

    def share(thread):
        scores[thread] = 0
        by_query = len(queries) > 1
        for query in queries[thread::threads] if by_query else queries:
            prepared = profile(query)
            for target in targets if by_query else targets[thread::threads]:
                scores[thread] += one(prepared, target).score

    begin, end = Barrier(threads), Barrier(threads)

    def worker(thread):
        for _ in range(ROUNDS):
            begin.wait()
            share(thread)
            end.wait()

    def run():
        begin.wait()
        share(0)
        end.wait()

    others = [Thread(target=worker, args=(thread,)) for thread in range(1, threads)]
    for other in others:
        other.start()
    seconds, _ = best(ROUNDS, run)
    for other in others:
        other.join()
    print(f"{seconds:.9f} {sum(scores)}")


def main():
    match sys.argv[1:]:
        case ["pagerank", folder, threads, iterations]:
            pagerank(Path(folder), int(threads), int(iterations))
        case ["score" | "trace" as mode, function, folder, threads]:
            align(mode, function, Path(folder), int(threads))
        case _:
            sys.exit(__doc__)


main()
