"""A control flag names something that does not exist, so it stops nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(Gravity.WARNING, reads=(Flag, Pipeline, Stage, Source, Target))
def flag_for_nothing(rows: Snapshot) -> Iterator[Wrong]:
    for flag in rows.rows(Flag):
        if not _is_there(flag, rows):
            yield Wrong(
                flag,
                f"The flag {flag.flag_name} stands on {flag.entity_type} '{flag.entity_id}', which"
                " does not exist.",
                f"{_advice(flag, rows)}Correct entity_id, or remove the flag.",
            )


def _is_there(flag: Flag, rows: Snapshot) -> bool:
    name = flag.entity_id
    if flag.entity_type == "everything":
        return name == "*"
    if flag.entity_type == "pipeline":
        return name in rows.pipeline_ids
    if flag.entity_type == "stage":
        pipeline, _, order = name.rpartition("-")
        return order.isdecimal() and (pipeline, int(order[:9])) in rows.table(Stage)
    return rows.has_dataset(name)


def _advice(flag: Flag, rows: Snapshot) -> str:
    if flag.entity_type == "everything":
        return "The id of everything is '*'. "
    if flag.entity_type == "stage":
        return "A stage is named pipeline_id-stage_order. "
    known = rows.pipeline_ids if flag.entity_type == "pipeline" else rows.dataset_ids
    return did_you_mean(flag.entity_id, known)
