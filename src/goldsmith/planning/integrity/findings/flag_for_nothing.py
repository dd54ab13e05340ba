"""A control flag names something that does not exist or that no stage uses, so it stops nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import stage_id


@catalog_rule(FindingSeverity.WARNING, reads=(Flag, Pipeline, Stage, Source, Target, Edge))
def flag_for_nothing(rows: CatalogRows) -> Iterator[FoundProblem]:
    for flag in rows.rows(Flag):
        wrong = _wrong(flag, rows)
        if wrong is not None:
            whose = f"The flag {flag.flag_name} stands on {flag.entity_type} '{flag.entity_id}'"
            hint = f"{_advice(flag, rows)}Correct entity_id, or remove the flag."
            yield FoundProblem(flag, f"{whose}, which {wrong}.", hint)


def _wrong(flag: Flag, rows: CatalogRows) -> str | None:
    """Why the flag stops nothing; None where it stops something."""
    if not _is_there(flag, rows):
        return "does not exist"
    if flag.entity_type == "target" and not _is_written(flag.entity_id, rows):
        return "no stage writes: it stops nothing"
    if flag.entity_type == "source" and not _may_be_read(flag.entity_id, rows):
        return "no stage reads: it stops nothing"
    return None


def _is_there(flag: Flag, rows: CatalogRows) -> bool:
    name = flag.entity_id
    if flag.entity_type == "everything":
        return name == "*"
    if flag.entity_type == "pipeline":
        return name in rows.pipeline_ids
    if flag.entity_type == "stage":
        stage = _meant(name, rows)
        return stage is not None and stage_id(stage) == name
    return rows.has_dataset(name)


def _meant(name: str, rows: CatalogRows) -> Stage | None:
    """The stage that an id probably means: `p-1` for `p-01`, which has no effect as written."""
    pipeline, _, order = name.rpartition("-")
    return rows.get(Stage, pipeline, int(order[:9])) if order.isdecimal() else None


def _is_written(dataset: str, rows: CatalogRows) -> bool:
    return any(stage.target_id == dataset for stage in rows.rows(Stage))


def _may_be_read(dataset: str, rows: CatalogRows) -> bool:
    """A stage has the dataset as `source_id`, or some SQL contains its id."""
    stages, edges = rows.rows(Stage), rows.rows(Edge)
    sql = [stage.transform_sql for stage in stages] + [edge.transformation_sql for edge in edges]
    # `orders` is not part of the SQL because `orders_old` is.
    whole = re.compile(rf"(?<!\w){re.escape(dataset)}(?!\w)", re.IGNORECASE)
    return any(stage.source_id == dataset for stage in stages) or any(
        whole.search(text) for text in sql if text
    )


def _advice(flag: Flag, rows: CatalogRows) -> str:
    name = flag.entity_id
    if flag.entity_type == "everything":
        return "The id of everything is '*'. "
    if flag.entity_type == "stage":
        stage = _meant(name, rows)
        meant = f"Did you mean '{stage_id(stage)}'? " if stage is not None else ""
        return f"{meant}A stage is named pipeline_id-stage_order. "
    if flag.entity_type == "target" and rows.has_dataset(name):
        return "A flag on a source stops what reads it. " if _may_be_read(name, rows) else ""
    if flag.entity_type == "source" and rows.has_dataset(name):
        return "A flag on a target stops what writes it. " if _is_written(name, rows) else ""
    known = rows.pipeline_ids if flag.entity_type == "pipeline" else rows.dataset_ids
    return did_you_mean(name, known)
