"""`paths`: every way to obtain a dataset, its cost, its age, and whether it is healthy now."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from goldsmith.cli.lineage import graph_of
from goldsmith.cli.output import CliContext, count, echo, how_many, json_option, pass_cli, show

if TYPE_CHECKING:
    from goldsmith.lineage.paths import Path as WayTo


@click.command("paths")
@click.argument("dataset_id")
@click.option("--most", type=how_many, default=10, show_default=True, help="How many to list.")
@click.option("--down", "downs", multiple=True, help="Leave out ways through this dataset.")
@click.option("--no-probe", is_flag=True, help="Do not look at the datasets the ways begin at.")
@json_option
@pass_cli
def paths(
    cli: CliContext,
    dataset_id: str,
    most: int,
    downs: tuple[str, ...],
    no_probe: bool,
    as_json: bool,
) -> None:
    """Show the ways to obtain a dataset: how many there are, and the cheapest.

    Ways that people wrote in dataset_recovery_paths come first. The datasets that the listed ways
    begin at are probed: a way is healthy if none of its datasets is down.
    """
    from goldsmith.catalog.edges import RecoveryPath
    from goldsmith.lineage.paths import find_paths
    from goldsmith.lineage.walk import number_of
    from goldsmith.worker.computed_paths import keep_computed

    graph = graph_of(cli)
    for name in downs:
        number_of(graph, name)
    found = find_paths(graph, dataset_id, most=most, forbidden=downs)
    keep_computed(cli.runtime)
    rows = cli.runtime.catalog_indexer.catalog_index().rows.rows(RecoveryPath)
    written = sorted(
        (row for row in rows if row.dataset_id == dataset_id and row.computed_at is None),
        key=lambda row: row.path_order,
    )
    state = _State(cli, probes=not no_probe)
    declared = [
        {
            "path_order": row.path_order,
            "path_sequence": row.path_sequence,
            "cost": row.cost,
            **state.of(_names(row.path_sequence)),
        }
        for row in written
        if not _uses(row.path_sequence, downs)
    ]
    listed = [_plain(way) | state.of(way.datasets, way.starts) for way in found.cheapest]
    plain = {
        "dataset_id": dataset_id,
        "count": found.count,
        "declared": declared,
        "paths": listed,
        "is_cut": found.is_cut,
        "cycles": [list(cycle) for cycle in found.cycles],
    }

    def text() -> None:
        for row in declared:
            position, sequence = row["path_order"], row["path_sequence"]
            echo(f"written by hand, {position}: {sequence}{_health_text(row)}")
        for index, (way, row) in enumerate(zip(found.cheapest, listed, strict=True), start=1):
            latency = "" if way.latency_sec is None else f", {way.latency_sec:g} s"
            blocked = "" if all(step.runs for step in way.steps) else ", nothing runs it"
            sequence = f"{index}: {' → '.join(way.datasets)}"
            echo(f"{sequence}  (cost {way.cost:g}{latency}{blocked}){_health_text(row)}")
        for cycle in found.cycles:
            echo(f"cycle, no way goes round it: {' → '.join(cycle)}")
        cut = f"; the {len(found.cheapest)} cheapest are listed" if found.is_cut else ""
        without = f" without {', '.join(downs)}" if downs else ""
        echo(f"{count(found.count, 'way')} to {dataset_id}{without}{cut}.")

    show(as_json, plain, text)


class _State:
    """The health of ways right now, and the age of the data they begin at."""

    def __init__(self, cli: CliContext, *, probes: bool) -> None:
        from goldsmith.journal import health
        from goldsmith.journal.lineage_tables import HealthStatus
        from goldsmith.worker.drill import last_data
        from goldsmith.worker.incidents import freshness
        from goldsmith.worker.probes import Probes

        runtime = cli.runtime
        self._rows = runtime.catalog_indexer.catalog_index().rows
        self._probes = Probes.of_service(runtime) if probes else None
        ages = {entry.dataset_id: entry.last_update for entry in freshness(runtime)}
        self._last_data = last_data(runtime, ages)
        self._down = {
            row.dataset_id: row.because or "a probe failed"
            for row in health.all_health(runtime.journal)
            if row.status == HealthStatus.DOWN
        }
        self._probed: dict[str, tuple[str | None, datetime | None]] = {}

    def of(self, datasets: Collection[str], starts: Collection[str] = ()) -> dict[str, Any]:
        """Whether a way is healthy, why not, and how old the newest data of its origins is."""
        origins = starts or list(datasets)[:1]
        reasons = {name: self._down[name] for name in datasets if name in self._down}
        newest: list[datetime | None] = []
        for name in origins if self._probes is not None else ():
            because, last = self._look(name)
            newest.append(last)
            if because is not None:
                reasons.setdefault(name, because)
        known = [at for at in newest if at is not None]
        age = (datetime.now(UTC) - min(known)).total_seconds() if len(known) == len(newest) else 0
        return {
            "healthy": not reasons,
            "because": "; ".join(f"{name}: {why}" for name, why in reasons.items()) or None,
            "stale_sec": round(age, 1) if known and len(known) == len(newest) else None,
        }

    def _look(self, name: str) -> tuple[str | None, datetime | None]:
        from goldsmith.planning.stage_context import dataset_of

        if name not in self._rows.dataset_ids:
            return "it has no row in sources or targets", None
        if name not in self._probed:
            assert self._probes is not None
            because = self._probes.problem(dataset_of(name, self._rows))
            last = self._last_data(name) if because is None else None
            self._probed[name] = because, last
        return self._probed[name]


def _health_text(row: dict[str, Any]) -> str:
    if not row["healthy"]:
        return f"  down: {row['because']}"
    if row["stale_sec"] is None:
        return ""
    return f"  data from {row['stale_sec']:.0f} s ago"


def _names(sequence: str | None) -> list[str]:
    return [name.strip() for name in (sequence or "").split(",") if name.strip()]


def _uses(sequence: str | None, downs: Collection[str]) -> bool:
    return any(name in downs for name in _names(sequence))


def _plain(way: WayTo) -> dict[str, Any]:
    return {
        "path_sequence": way.sequence,
        "cost": way.cost,
        "latency_sec": way.latency_sec,
        "starts": list(way.starts),
        "steps": [step.name for step in way.steps],
        "runs": all(step.runs for step in way.steps),
    }
