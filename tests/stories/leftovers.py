"""What a run must not leave behind, wherever it might lie."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from plain_sql import PlainSql

#: What of the journal is left open, by the words of the answer.
_OPEN = {
    "leases": "SELECT resource FROM leases WHERE owner IS NOT NULL",
    "runs": "SELECT run_id FROM runs WHERE ended_at IS NULL",
    "stage runs": "SELECT stage_run_id FROM stage_runs WHERE ended_at IS NULL",
    "requests": "SELECT request_id FROM requests WHERE status IN ('waiting', 'running')",
    "ledger": "SELECT path FROM input_files WHERE NOT counted",
    "snapshots": "SELECT dataset_id FROM input_snapshots WHERE NOT counted",
}


def of_project(
    folder: Path, *more: tuple[str, Sequence[Any]], catalog: str | None = None
) -> dict[str, list[Any]]:
    """Everything found in an embedded project, and what else the test looked for; empty is good."""
    home = folder / ".goldsmith"
    staging = home / "staging"
    found: dict[str, list[Any]] = {
        "branches": branches(home),
        "staging": sorted(file.name for file in staging.iterdir()) if staging.exists() else [],
        **{what: list(left) for what, left in more},
    }
    with closing(PlainSql(catalog or f"sqlite:///{home / 'catalog.db'}")) as sql:
        for what, query in _OPEN.items():
            found[what] = [row[0] for row in sql.run(query)]
    return {what: left for what, left in found.items() if left}


def branches(home: Path) -> list[str]:
    """Branches of lake tables besides main."""
    lake = lake_of(home)
    return [
        f"{table[-1]}@{ref}"
        for space in lake.list_namespaces()
        for table in lake.list_tables(space)
        for ref in lake.load_table(table).metadata.refs
        if ref != "main"
    ]


def lake_of(home: Path) -> Any:
    """The lake of an embedded project, as an engine that is not Spark sees it."""
    from pyiceberg.catalog import load_catalog

    return load_catalog("lake", type="sql", uri=f"sqlite:///{home / 'lake.db'}")
