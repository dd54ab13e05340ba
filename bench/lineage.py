"""The lineage graph at 100,000 datasets and 300,000 edges: load, paths, impact.

Prints the time of each question and fails when a limit is exceeded.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from goldsmith.catalog.snapshot import without_collector
from goldsmith.lineage.graph import LineageGraph
from goldsmith.lineage.paths import find_paths
from goldsmith.lineage.walk import downstream, impact, upstream

DATASETS, EDGES, LAYERS = 100_000, 300_000, 12
LIMITS = {"load": 500.0, "k = 10 cheapest paths": 40.0, "impact": 40.0}


def edges(chance: random.Random) -> list[tuple[str, str, float]]:
    """Twelve layers with hub tables: each edge leads to the next layer or one further."""
    size = DATASETS // LAYERS
    found: set[tuple[int, int]] = set()
    while len(found) < EDGES:
        layer = chance.randrange(LAYERS - 1)
        to_layer = min(layer + 1 + (chance.random() < 0.1), LAYERS - 1)
        # The square favours low numbers: a few hub tables feed many.
        source = layer * size + int(size * chance.random() ** 2)
        found.add((source, to_layer * size + chance.randrange(size)))
    return [(f"dataset_{a}", f"dataset_{b}", chance.uniform(1, 10)) for a, b in sorted(found)]


def main() -> int:
    chance = random.Random(7)
    size = DATASETS // LAYERS
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "edges.db")
        connection.execute("CREATE TABLE edges (a TEXT, b TEXT, cost REAL)")
        connection.executemany("INSERT INTO edges VALUES (?, ?, ?)", edges(chance))
        connection.commit()
        started = time.process_time()
        with without_collector(first=True):
            graph = LineageGraph.of_edges(connection.execute("SELECT a, b, cost FROM edges"))
        loaded = (time.process_time() - started) * 1000
        connection.close()
    lasts = [f"dataset_{(LAYERS - 1) * size + chance.randrange(size)}" for _ in range(200)]
    firsts = [f"dataset_{int(size * chance.random() ** 2)}" for _ in range(200)]
    lasts = [name for name in lasts if name in graph]
    firsts = [name for name in firsts if name in graph]
    for warm in (graph.fed_by, graph.feeds, graph.ranks):
        assert warm is not None
    times = {
        "load": [loaded],
        "upstream": [timed(lambda name=name: upstream(graph, name)) for name in lasts],
        "downstream": [timed(lambda name=name: downstream(graph, name)) for name in firsts],
        "k = 10 cheapest paths": [
            timed(lambda name=name: find_paths(graph, name, most=10)) for name in lasts[:100]
        ],
        "impact": [timed(lambda name=name: impact(graph, name)) for name in firsts],
    }
    print(f"{len(graph.names):,} datasets, {len(graph.inputs):,} edges; CPU milliseconds")
    failed = False
    for name, each in times.items():
        mean, p95 = sum(each) / len(each), sorted(each)[int(len(each) * 0.95)]
        limit = LIMITS.get(name)
        over = limit is not None and mean > limit
        failed = failed or over
        bound = "" if limit is None else f"  limit {limit:g}{'  EXCEEDED' if over else ''}"
        print(f"  {name:24} mean {mean:8.1f}  p95 {p95:8.1f}{bound}")
    return 1 if failed else 0


def timed(question: object) -> float:
    started = time.process_time()
    question()  # type: ignore[operator]
    return (time.process_time() - started) * 1000


if __name__ == "__main__":
    sys.exit(main())
