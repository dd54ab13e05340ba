"""Stage the rows of a stage run: good rows where no reader looks, broken rows in quarantine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, StageRowCounts, WorkerResources
from goldsmith.engine.prepare_write import PreparedWrite, keeper_of, prepare_write
from goldsmith.engine.read import bad_value
from goldsmith.engine.read.inputs import InputRows
from goldsmith.engine.shape import watermarks
from goldsmith.engine.write.destinations.destination import Destination, StagedWrite
from goldsmith.engine.write.stage_rows import CountsDisagree
from goldsmith.errors import GoldsmithError
from goldsmith.planning.input_selection import InputSelection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True, slots=True)
class StagedStage:
    """The staged rows of a stage run, which no reader sees before they are published."""

    prepared: PreparedWrite
    write: StagedWrite
    counts: StageRowCounts
    #: How long the write took.
    seconds: float


def write_staged(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    destination: Destination,
    selection: InputSelection,
    rows: DataFrame,
    found: InputRows,
    *,
    moved_days: tuple[str, ...] = (),
) -> StagedStage:
    """Fit the rows to the target, stage them, and quarantine records that could not be parsed."""
    with bad_value.named(attempt, found.rows):
        prepared = prepare_write(spark, attempt, resources, destination, rows, selection)
        started = time.monotonic()
        write = _write(attempt, prepared, destination)
    malformed = _keep_malformed(attempt, resources, found)
    counts = StageRowCounts(
        rows=write.good + write.quarantined + write.dropped + malformed,
        quarantined=write.quarantined + malformed,
        dropped=write.dropped,
        schemas=found.schemas,
        moved_days=moved_days,
    )
    seconds = time.monotonic() - started
    return StagedStage(prepared=prepared, write=write, counts=counts, seconds=seconds)


def _write(attempt: Attempt, prepared: PreparedWrite, destination: Destination) -> StagedWrite:
    """Stage the rows; a check that raises on some row fails and is left out of a second write."""
    try:
        return destination.write_staged(prepared.request)
    except GoldsmithError:
        raise
    except Exception as error:
        if (refused := watermarks.as_raised(error)) is not None:
            raise refused from error
        if attempt.cancel.cause is not None or not prepared.some_check_raises():
            raise
        return destination.write_staged(prepared.request)


def _keep_malformed(attempt: Attempt, resources: WorkerResources, found: InputRows) -> int:
    """Quarantine records that could not be parsed; return their number."""
    keeper = keeper_of(attempt, resources)
    quarantined = 0
    for index, (name, malformed) in enumerate(found.malformed.items()):
        seen = found.counted[name].get.get("malformed") if name in found.counted else None
        if seen == 0:  # the pass that wrote the rows found none
            continue
        written = keeper.keep_malformed(malformed, index)
        if seen is not None and written != seen:
            raise CountsDisagree(
                target=name, counted=f"{seen:,} malformed records", written=f"{written:,}"
            )
        quarantined += written
    faults.reach("quarantine-written")
    return quarantined
