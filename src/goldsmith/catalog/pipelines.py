"""Pipelines and their stages: what runs, in which order, what each stage reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from goldsmith.catalog.columns import (
    ColumnKind,
    choice,
    flag,
    key,
    mapping,
    moment,
    names,
    number,
    policy,
    text,
    whole,
)
from goldsmith.catalog.rows import Row, table


class Criticality(StrEnum):
    """The importance of a pipeline when not all can run at once."""

    CRITICAL = "critical"
    NORMAL = "normal"
    LOW = "low"


class Impact(StrEnum):
    """Who notices when a pipeline's data is late."""

    REVENUE = "revenue"
    CUSTOMER = "customer"
    INTERNAL = "internal"
    NONE = "none"


class MissedStarts(StrEnum):
    """The policy for starts that were due while no service ran."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class Overlap(StrEnum):
    """What a due start does while the pipeline still runs or waits."""

    SKIP = "skip"
    QUEUE = "queue"
    STOP = "stop"


class OnCatalogLoss(StrEnum):
    """What a running stage does when the catalog cannot be reached."""

    KEEP = "keep"
    STOP = "stop"


class ShippedWriteMode(StrEnum):
    """The write modes that the column may name: see `catalog/write_modes.py`."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    MERGE = "merge"
    SCD2 = "scd2"


@table(
    "pipelines",
    purpose="One row a pipeline: whether it may run, when, how much it matters and who owns it.",
    read_by="planner, gates, scheduler, healing, incidents",
)
class Pipeline(Row):
    """A named list of stages."""

    pipeline_id: str = key(doc="The pipeline's name.")
    description: str | None = text(default=None, doc="The purpose.")
    enabled: bool = flag(default=True, doc="False stops the pipeline, running stages included.")
    default_retry_id: str | None = text(
        default=None, doc="The retry policy of its stages; unset: no retries."
    )
    created_at: datetime | None = moment(
        default=None, doc="When the row was created.", generated=True
    )
    criticality: str | None = choice(
        default=None,
        choices=Criticality,
        doc="Scheduling profiles order pipelines by it; unset: critical under focus, else normal.",
    )
    impact: str = choice(
        default="none", choices=Impact, doc="Who notices late data; sets an incident's severity."
    )
    schedule: str | None = text(
        default=None,
        doc="A cron line in UTC or with a time zone (`0 6 * * * Europe/Zurich`), `every 15m`, "
        "`after: pipeline`, `after: dataset:ID`, "
        "`on arrival`; unset: only when requested.",
    )
    owner: str | None = text(default=None, doc="Who owns it; incidents name the owner.")
    sla_minutes: int | None = whole(
        default=None, doc="How old its gold data may get, in minutes.", least=0
    )
    tags: tuple[str, ...] = names(default=None, doc="Tags to select it by: `tag:finance`.")
    on_catalog_loss: str = choice(
        default="keep",
        choices=OnCatalogLoss,
        doc="What a running stage does when the catalog cannot be reached.",
    )
    missed_runs: str = choice(
        default="once",
        choices=MissedStarts,
        doc="Starts that were due while no service ran: skipped, run once, or all run.",
    )
    overlap: str = choice(
        default="queue",
        choices=Overlap,
        doc="A start that falls due while the pipeline runs: left out, queued, or the old run is "
        "stopped.",
    )
    catch_up_limit: int = whole(
        default=100, doc="The largest number of missed starts to catch up.", least=0
    )
    run_window: str | None = text(
        default=None,
        doc="When it may start: `22:00-06:00 Europe/Zurich`; unset: at any time.",
    )


@table(
    "stages",
    purpose="One row a stage of a pipeline: what it reads, how it transforms it, what it writes.",
    read_by="planner, engine, kill switch",
    takes_effect="at the next plan; `enabled` at once",
)
class Stage(Row):
    """One stage: read datasets, transform them, write one dataset."""

    pipeline_id: str = key(doc="The pipeline it belongs to.")
    stage_order: int = key(
        kind=ColumnKind.WHOLE,
        doc="Its number in the pipeline: 1 bronze, 2 silver, 3 gold if no layer is given.",
        # `pipeline_id-stage_order` names a stage: `a--1` must not name two.
        least=0,
    )
    stage_name: str | None = text(default=None, doc="What people call it.")
    source_id: str | None = text(
        default=None, doc="The dataset it reads: an id of `sources` or of `targets`."
    )
    target_id: str | None = text(default=None, doc="The dataset it writes: an id of `targets`.")
    validation_set_id: str | None = text(
        default=None, doc="The rule set its rows must pass before they are published."
    )
    enabled: bool = flag(
        default=True, doc="False leaves this stage out of runs, and stops it while it runs."
    )
    layer: str | None = text(
        default=None, doc="bronze, silver, gold …; unset: by the target's name, else the order."
    )
    transform_sql: str | None = text(
        default=None, doc="A SELECT over dataset ids; unset: the edge's SQL, else all columns."
    )
    transform_dialect: str | None = text(
        default=None, doc="The SQL dialect of `transform_sql`; unset: Spark's."
    )
    write_mode: str | None = choice(
        default=None,
        choices=ShippedWriteMode,
        doc="append, overwrite, merge (scd1) or scd2; unset: by layer and keys.",
    )
    keys: tuple[str, ...] = names(default=None, doc="The key columns of merge and scd2.")
    partition_by: tuple[str, ...] = names(
        default=None, doc="Columns or Iceberg transforms (`days(event_ts)`) of the table."
    )
    watermark_column: str | None = text(
        default=None, doc="Orders rows of one key: an older row never replaces a newer one."
    )
    pre_validation_set_id: str | None = text(
        default=None, doc="The rule set its input must pass before it is transformed."
    )
    retry_id: str | None = text(default=None, doc="Its own retry policy; unset: the pipeline's.")
    timeout_sec: int | None = whole(
        default=None, doc="The stage fails with StageTimeout after this many seconds.", least=0
    )
    stop_grace_sec: float | None = number(
        default=None, doc="Seconds tasks may ignore a stop before their worker ends.", least=0
    )
    schema_policy: str | Mapping[str, str] | None = policy(
        default=None,
        doc="evolve, freeze, discard_row or discard_value, for all or by columns and types.",
    )
    options: Mapping[str, Any] = mapping(
        default=None, doc="rename, cast, deduplicate, add columns, read, partial, remedies …"
    )
