"""Records the values of tests/ciw.rs, with ciw (pip install ciw==3.2.7). The tests do not need it."""

import ciw


def open_stage(rate, service, threads, time=200_000, seed=1):
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate)], service_distributions=[service], number_of_servers=[threads]
    )
    ciw.seed(seed)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(time)
    waits = [r.waiting_time for r in simulation.get_all_records() if r.arrival_date > time / 10]
    return sum(waits) / len(waits)


def chain(services, threads, rooms, time=40_000, seed=1):
    """Stages with blocking after service behind a source that always has items; items per second."""
    count = len(services)
    routing = [[1.0 if j == i + 1 else 0.0 for j in range(count)] for i in range(count)]
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Deterministic(0.02)] + [None] * (count - 1),
        service_distributions=services,
        number_of_servers=threads,
        queue_capacities=[2] + rooms,
        routing=routing,
    )
    ciw.seed(seed)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(time)
    last = [r for r in simulation.get_all_records(only=["service"]) if r.node == count and r.exit_date > time / 10]
    return len(last) / (time * 0.9)


M = ciw.dists.Exponential
print("M/M/3", open_stage(2.0, M(1 / 1.2), 3))
print("M/M/1", open_stage(0.8, M(1.0), 1))
print("M/D/2", open_stage(1.6, ciw.dists.Deterministic(1.0), 2))
print("M/LN/2", open_stage(1.4, ciw.dists.Lognormal(-0.5 * 0.8047, 0.8047**0.5 * 1.0), 2))
print("two", chain([M(0.5), M(0.4)], [2, 3], [2]))
print("three", chain([M(1.0), M(0.5), M(1.1)], [1, 2, 1], [3, 2]))
print("gamma", chain([ciw.dists.Gamma(4, 0.25), ciw.dists.Gamma(4, 0.5), ciw.dists.Gamma(4, 0.25)], [1, 2, 1], [1, 1]))
print("five", chain([ciw.dists.Gamma(2, 0.5)] * 5, [1] * 5, [2] * 4))
