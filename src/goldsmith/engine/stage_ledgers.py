"""The `stage_ledgers` rows: which stage owns a ledger, and what the target holds of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from goldsmith.engine.attempt import Attempt
from goldsmith.journal import row_storage
from goldsmith.journal.definitions import (
    input_files,
    input_snapshots,
    stage_ledgers,
    stage_runs,
)
from goldsmith.journal.tables import StageRun
from goldsmith.planning.ledgers import LedgerMatch, location_of
from goldsmith.planning.locations import is_same_table, table_name

_C = stage_ledgers.c


def facts_of(attempt: Attempt, match: LedgerMatch) -> dict[str, Any]:
    """The facts of a ledger that recording a publish needs, also after a crash."""
    target = attempt.context.target.target if attempt.context.target is not None else None
    assert target is not None  # integrity refuses a stage without one
    return {
        "ledger_id": match.ledger_id,
        "source_id": attempt.context.stage.source_id,
        # On another way the ledger stays that of the declared source.
        "declared_source_id": attempt.context.declared.stage.source_id,
        "table_name": table_name(target, attempt.context.resolved.layer),
        "location": location_of(attempt.context),
    }


def claim(connection: sa.Connection, attempt: Attempt, match: LedgerMatch) -> None:
    """Assign a ledger to this stage; the caller holds the target's lease."""
    stage = attempt.context.stage
    owner = {"pipeline_id": stage.pipeline_id, "stage_order": stage.stage_order}
    if match.ledger is None:
        new = {"ledger_id": match.ledger_id, "target_id": stage.target_id, **owner}
        source_id = attempt.context.declared.stage.source_id
        connection.execute(sa.insert(stage_ledgers), [{**new, "source_id": source_id}])
    elif match.carried_from(attempt.context) is not None:
        connection.execute(
            sa.update(stage_ledgers).where(_C.ledger_id == match.ledger_id).values(**owner)
        )


def count(
    connection: sa.Connection, stage_run: StageRun, *, snapshot: str, table_uuid: str | None
) -> str:
    """Record in its ledger that a stage run was published; return the ledger's id."""
    facts: Mapping[str, Any] = stage_run.facts.get("ledger") or {}
    stage = {"pipeline_id": stage_run.pipeline_id, "stage_order": stage_run.stage_order}
    ledger_id = str(facts.get("ledger_id", "{pipeline_id}-{stage_order}".format(**stage)))
    known = sa.select(_C.ledger_id).where(_C.ledger_id == ledger_id)
    if connection.execute(known).first() is None:  # started by an older version
        connection.execute(sa.insert(stage_ledgers), [{"ledger_id": ledger_id, **stage}])
    values: dict[str, Any] = {
        "stage_name": stage_run.stage_name,
        "target_id": stage_run.target_id,
        **{name: facts[name] for name in ("source_id", "table_name", "location") if name in facts},
    }
    if "declared_source_id" in facts:
        values["source_id"] = facts["declared_source_id"]
    if table_uuid is not None:
        values["table_uuid"] = table_uuid
    if snapshot:  # empty if a load replaced no partition
        values["published_by"] = stage_run.stage_run_id
    values |= _definition(stage_run)
    connection.execute(sa.update(stage_ledgers).where(_C.ledger_id == ledger_id).values(**values))
    return ledger_id


def _definition(stage_run: StageRun) -> dict[str, Any]:
    """The definition of the rows; a window or a replay writes only part of them with it."""
    partly = stage_run.facts.get("window") or stage_run.facts.get("replay")
    return {} if partly else {"definition": stage_run.definition}


def of_table(connection: sa.Connection, ledger_id: str) -> list[str]:
    """The ids of all ledgers of the table that a ledger belongs to."""
    columns = (_C.ledger_id, _C.target_id, _C.table_name)
    this_ledger = connection.execute(sa.select(*columns).where(_C.ledger_id == ledger_id)).one()
    # Two warehouse targets with one location are one table.
    same_location = (
        _C.location == sa.select(_C.location).where(_C.ledger_id == ledger_id).scalar_subquery()
    )
    found = connection.execute(
        sa.select(*columns).where((_C.target_id == this_ledger.target_id) | same_location)
    )
    return [
        row.ledger_id
        for row in found
        if row.target_id == this_ledger.target_id
        or (
            row.table_name
            and this_ledger.table_name
            and is_same_table(row.table_name, this_ledger.table_name)
        )
    ]


def look_again(connection: sa.Connection, ledger_ids: Sequence[str]) -> None:
    """Set `published_by` again after entries of these ledgers were superseded or restored.

    The definition too: a restore brings back rows that an earlier definition has written.
    """
    for ledger_id in ledger_ids:
        newest = sa.union_all(
            *(
                sa.select(table.c.stage_run_id, table.c.token).where(
                    table.c.consumer == ledger_id,
                    table.c.counted.is_(True),
                    table.c.superseded_by.is_(None),
                )
                for table in (input_files, input_snapshots)
            )
        ).order_by(sa.desc("token").nulls_last(), sa.desc("stage_run_id"))
        found = connection.execute(newest.limit(1)).scalar()
        values: dict[str, Any] = {"published_by": found}
        query = sa.select(stage_runs).where(stage_runs.c.stage_run_id == found)
        for stage_run in row_storage.select(connection, StageRun, query):
            values |= _definition(stage_run)
        connection.execute(
            sa.update(stage_ledgers).where(_C.ledger_id == ledger_id).values(**values)
        )


def listing(connection: sa.Connection, stage_run_ids: Sequence[str]) -> list[str]:
    """The ledgers with entries that these stage runs recorded, superseded or published."""
    found: set[str] = set()
    for table in (input_files, input_snapshots):
        query = sa.select(table.c.consumer).where(
            table.c.stage_run_id.in_(stage_run_ids) | table.c.superseded_by.in_(stage_run_ids)
        )
        found |= set(connection.execute(query).scalars())
    published = sa.select(_C.ledger_id).where(_C.published_by.in_(stage_run_ids))
    return sorted(found | set(connection.execute(published).scalars()))
