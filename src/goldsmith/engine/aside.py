"""What the quarantines hold, without Spark: how many rows of each dataset, and some of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldsmith.engine.quarantine import LAYER
from goldsmith.engine.replaying import published_by
from goldsmith.engine.samples import MASK
from goldsmith.errors import GoldsmithError
from goldsmith.journal.journal import Journal
from goldsmith.planning.lake_tables import table_at
from goldsmith.planning.places import Places


@dataclass(eq=False, kw_only=True)
class NoQuarantine(GoldsmithError):
    """No row was ever kept aside for the dataset."""

    exit_code = 1

    dataset: str

    def __str__(self) -> str:
        return f"No row was ever kept aside for '{self.dataset}'."

    @property
    def hint(self) -> str:
        return "`goldsmith quarantine list` has the datasets that rows were kept aside for."


@dataclass(frozen=True, kw_only=True, slots=True)
class Holding:
    """How many rows of a dataset are kept aside."""

    dataset: str
    #: Rows that wait to be mended or discarded, each once, however many checks it broke.
    rows: int
    #: Rows of stage runs that were not published: their input is read again.
    unpublished: int
    checks: Mapping[str, int]
    runs: tuple[str, ...]

    def as_plain(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "rows": self.rows,
            "unpublished": self.unpublished,
            "checks": dict(self.checks),
            "runs": list(self.runs),
        }


def holdings(places: Places, journal: Journal, datasets: Sequence[str]) -> list[Holding]:
    """What is kept aside for each of the datasets that have anything aside."""
    found = []
    for dataset in datasets:
        table = table_at(places, (LAYER, dataset.replace(".", "__")))
        if table is None:
            continue
        columns = ("_stage_run_id", "_run_id", "_replayed_by", "_checks")
        rows = table.scan(selected_fields=columns).to_arrow().to_pylist()
        published = published_by(journal, dataset)
        counted = [row for row in rows if _stands(row, published)]
        unpublished = sum(row["_stage_run_id"] not in published for row in rows)
        if not counted and not unpublished:
            continue
        broke = Counter(check for row in counted for check in row["_checks"] or ())
        runs = dict.fromkeys(row["_run_id"] for row in counted)
        found.append(
            Holding(
                dataset=dataset,
                rows=len(counted),
                unpublished=unpublished,
                checks=dict(sorted(broke.items())),
                runs=tuple(runs),
            )
        )
    return found


def rows_of(
    places: Places,
    journal: Journal,
    dataset: str,
    *,
    run_id: str | None,
    most: int,
    unpublished: bool,
    hide: frozenset[str],
) -> list[dict[str, Any]]:
    """Rows of a quarantine with what they broke and why, newest first."""
    table = table_at(places, (LAYER, dataset.replace(".", "__")))
    if table is None:
        raise NoQuarantine(dataset=dataset)
    published = published_by(journal, dataset)
    chosen = [
        row
        for row in table.scan().to_arrow().to_pylist()
        if (run_id is None or row["_run_id"] == run_id)
        and (row["_stage_run_id"] not in published if unpublished else _stands(row, published))
    ]
    chosen.sort(key=lambda row: (row["_kept_at"], row["_id"]), reverse=True)
    return [_shown(row, row["_stage_run_id"] in published, hide) for row in chosen[:most]]


def discard(
    places: Places,
    journal: Journal,
    dataset: str,
    *,
    run_id: str | None = None,
    ids: Sequence[str] = (),
    unpublished: bool = False,
) -> int:
    """Remove rows of a quarantine for good; how many there were."""
    from pyiceberg.expressions import In

    one_of: Any = In  # pydantic hides what its constructor takes
    table = table_at(places, (LAYER, dataset.replace(".", "__")))
    if table is None:
        raise NoQuarantine(dataset=dataset)
    published = published_by(journal, dataset)
    columns = ("_id", "_run_id", "_stage_run_id", "_replayed_by")
    rows = table.scan(selected_fields=columns).to_arrow().to_pylist()
    going = [
        row["_id"]
        for row in rows
        if (run_id is None or row["_run_id"] == run_id)
        and (not ids or row["_id"] in ids)
        and (row["_stage_run_id"] not in published if unpublished else _stands(row, published))
    ]
    if going:
        table.delete(one_of("_id", going))
    return len(going)


def _stands(row: Mapping[str, Any], published: set[str]) -> bool:
    """The row counts: its stage run was published, and none that took it along was."""
    return row["_stage_run_id"] in published and row["_replayed_by"] not in published


def _shown(row: Mapping[str, Any], is_published: bool, hide: frozenset[str]) -> dict[str, Any]:
    held = json.loads(row["_row"]) if row["_row"] is not None else None
    if held is not None:
        held = {
            name: MASK if name.lower() in hide and value is not None else value
            for name, value in held.items()
        }
    return {
        "id": row["_id"],
        "run_id": row["_run_id"],
        "stage_run_id": row["_stage_run_id"],
        "published": is_published,
        "kept_at": row["_kept_at"].isoformat(),
        "source_file": row["_source_file"],
        "checks": row["_checks"],
        "reasons": row["_reasons"],
        "row": held,
        "text": row["_text"] if not hide else (MASK if row["_text"] is not None else None),
    }
