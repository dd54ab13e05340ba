"""Count, show and discard quarantined rows, without Spark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from goldsmith.engine import faults
from goldsmith.engine.personal_data import masked, masked_text
from goldsmith.engine.quarantine.liveness import COLUMNS, Liveness, liveness_of
from goldsmith.engine.quarantine.quarantine_table import name_of
from goldsmith.errors import GoldsmithError
from goldsmith.journal import events, stage_runs
from goldsmith.journal.ids import new_id
from goldsmith.journal.journal import Journal
from goldsmith.planning.lake import TableHistory
from goldsmith.storage.lake_tables import metadata_at, table_at
from goldsmith.storage.storage import Storage

#: Reads the snapshots of a dataset's lake table; None if it is no lake table.
Histories = Callable[[str], Callable[[], TableHistory] | None]
#: The key in a snapshot's summary that holds the discard that wrote the snapshot.
_DISCARD = "goldsmith-discard"


@dataclass(eq=False, kw_only=True)
class NoQuarantine(GoldsmithError):
    """No row of the dataset was ever quarantined."""

    exit_code = 1

    dataset: str

    def __str__(self) -> str:
        return f"No row of '{self.dataset}' was ever quarantined."

    @property
    def hint(self) -> str:
        return "`goldsmith quarantine list` lists the datasets with quarantined rows."


@dataclass(eq=False, kw_only=True)
class QuarantineGone(GoldsmithError):
    """Published stage runs quarantined rows, and the table that held them does not exist."""

    exit_code = 1

    dataset: str
    rows: int

    def __str__(self) -> str:
        return (
            f"Stage runs quarantined {self.rows:,} rows of '{self.dataset}', and the quarantine"
            f" table {name_of(self.dataset)} is gone."
        )

    @property
    def hint(self) -> str:
        return (
            "Put the lake's list of tables back, or check that the settings of `lake` and"
            " `storage` name the right one: `goldsmith config check`."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class QuarantinedRows:
    """How many rows of a dataset are quarantined."""

    dataset: str
    #: Live rows, which wait to be replayed or discarded; each counts once.
    rows: int
    #: Rows of stage runs that are not in force: their input is read again.
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


def quarantined_rows(
    storage: Storage,
    journal: Journal,
    datasets: Sequence[str],
    histories: Histories = lambda dataset: None,
    *,
    are_declared: bool = False,
) -> list[QuarantinedRows]:
    """Counts for each of the datasets that has quarantined rows.

    With `are_declared` a lost table is refused. An id that is no longer declared may have been
    moved, and its quarantine with it.
    """
    found = []
    recorded = stage_runs.quarantined_by_target(journal) if are_declared else {}
    for dataset in datasets:
        table = table_at(storage, name_of(dataset))
        if table is None:
            if dataset in recorded:
                raise QuarantineGone(dataset=dataset, rows=recorded[dataset])
            continue
        columns = ("_run_id", "_checks", *COLUMNS)
        rows = table.scan(selected_fields=columns).to_arrow().to_pylist()
        now = liveness_of(journal, dataset, rows, histories(dataset))
        counted = [row for row in rows if now.is_live(row)]
        unpublished = sum(now.is_unpublished(row) for row in rows)
        if not counted and not unpublished:
            continue
        broke = Counter(check for row in counted for check in row["_checks"] or ())
        runs = dict.fromkeys(row["_run_id"] for row in counted)
        found.append(
            QuarantinedRows(
                dataset=dataset,
                rows=len(counted),
                unpublished=unpublished,
                checks=dict(sorted(broke.items())),
                runs=tuple(runs),
            )
        )
    return found


def rows_of(
    storage: Storage,
    journal: Journal,
    dataset: str,
    *,
    run_id: str | None,
    most: int,
    unpublished: bool,
    hide: frozenset[str],
    histories: Histories = lambda dataset: None,
) -> list[dict[str, Any]]:
    """Quarantined rows with the checks they broke and the reasons, newest first."""
    table = _existing(storage, journal, dataset)
    rows = table.scan().to_arrow().to_pylist()
    now = liveness_of(journal, dataset, rows, histories(dataset))
    selection = [row for row in rows if _is_meant(row, now, run_id=run_id, unpublished=unpublished)]
    selection.sort(key=lambda row: (row["_kept_at"], row["_id"]), reverse=True)
    return [_shown(row, not now.is_unpublished(row), hide) for row in selection[:most]]


def _existing(storage: Storage, journal: Journal, dataset: str) -> Any:
    """The quarantine table of a dataset; raises if there is none."""
    table = table_at(storage, name_of(dataset))
    if table is not None:
        return table
    if rows := stage_runs.quarantined_by_target(journal).get(dataset):
        raise QuarantineGone(dataset=dataset, rows=rows)
    raise NoQuarantine(dataset=dataset)


def discard(
    storage: Storage,
    journal: Journal,
    dataset: str,
    *,
    run_id: str | None = None,
    ids: Sequence[str] = (),
    unpublished: bool = False,
    actor: str | None = None,
    because: str | None = None,
) -> int:
    """Delete quarantined rows; return their number. The caller holds the target's lease.

    The new snapshot's summary holds the discard: if the process dies before it writes the audit
    log, the next discard writes it.
    """
    from pyiceberg.expressions import In

    one_of: Any = In  # pydantic hides the signature of its constructor
    table = _existing(storage, journal, dataset)
    complete(storage, journal, dataset)
    rows = table.scan(selected_fields=("_id", "_run_id", *COLUMNS)).to_arrow().to_pylist()
    now = liveness_of(journal, dataset, rows)
    discarded_ids = [
        row["_id"]
        for row in rows
        if (not ids or row["_id"] in ids)
        and _is_meant(row, now, run_id=run_id, unpublished=unpublished)
    ]
    if not discarded_ids:
        return 0
    event = events.RowsDiscarded(
        actor=actor,
        dataset_id=dataset,
        discard_id=new_id("discard"),
        rows=len(discarded_ids),
        because=because,
        unpublished=unpublished or None,
    )
    recorded = {"actor": actor, **event.facts}
    table.delete(one_of("_id", discarded_ids), snapshot_properties={_DISCARD: json.dumps(recorded)})
    faults.reach("rows-discarded")
    journal.record(event)
    return len(discarded_ids)


def complete(storage: Storage, journal: Journal, dataset: str) -> None:
    """Write the last discard to the audit log, if its process died before."""
    metadata = metadata_at(storage, name_of(dataset)) or {}
    found = [
        entry for entry in metadata.get("snapshots", ()) if _DISCARD in entry.get("summary", {})
    ]
    if not found:
        return
    last = max(found, key=lambda entry: entry.get("sequence-number", 0))
    event = events.RowsDiscarded(**json.loads(last["summary"][_DISCARD]))
    known = journal.read(kinds=[event.kind])
    if any(entry.facts.get("discard_id") == event.discard_id for entry in known):
        return
    first = journal.read(most=1)
    # A discard older than the log was logged, and its entry was deleted since.
    if first and first[0].at.timestamp() <= last["timestamp-ms"] / 1000:
        journal.record(event)


def _is_meant(
    row: Mapping[str, Any], now: Liveness, *, run_id: str | None, unpublished: bool
) -> bool:
    if run_id is not None and row["_run_id"] != run_id:
        return False
    return now.is_unpublished(row) if unpublished else now.is_live(row)


def _shown(row: Mapping[str, Any], is_published: bool, hide: frozenset[str]) -> dict[str, Any]:
    values = json.loads(row["_row"]) if row["_row"] is not None else None
    return {
        "id": row["_id"],
        "run_id": row["_run_id"],
        "stage_run_id": row["_stage_run_id"],
        "published": is_published,
        "kept_at": row["_kept_at"].isoformat(),
        "source_file": row["_source_file"],
        "checks": row["_checks"],
        "reasons": row["_reasons"],
        "row": None if values is None else masked(values, hide),
        "text": masked_text(row["_text"], hide),
    }
