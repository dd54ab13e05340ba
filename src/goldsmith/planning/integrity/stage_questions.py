"""Helpers that several findings share: questions about a stage and its context."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.transforms import transforms_of
from goldsmith.catalog.write_modes import OtherWriters
from goldsmith.planning.resolved_stage import BRONZE_COLUMNS, mode_of, write_mode_of
from goldsmith.planning.stage_context import Dataset, StageContext


def part_read(context: StageContext) -> Dataset | None:
    """The input of which only new rows are read, if there is one."""
    return context.inputs[0] if context.inputs and context.resolved.read == "new" else None


def lacks(context: StageContext, column: str) -> bool:
    """The stage's result certainly has no such column."""
    facts = context.facts
    if facts is None or facts.columns is None or column in facts.columns:
        return False
    name = column.partition(".")[0].lower()
    given = {given.lower() for given in facts.columns}
    given.update(context.resolved.mode.columns)
    if context.resolved.layer == "bronze":
        given.update(BRONZE_COLUMNS)
    for transform, value in transforms_of(context.stage.options):
        try:
            given.update(new.lower() for new in transform.adds(value))
        except (AttributeError, TypeError):  # the value has a wrong type, which is a finding
            return False
    return name not in given


def columns_of(context: StageContext) -> str:
    """The columns a stage's SQL selects, at most twelve."""
    columns = (context.facts and context.facts.columns) or ()
    shown = ", ".join(columns[:12])
    return f"{shown}, …" if len(columns) > 12 else shown


@lru_cache(maxsize=1)
def rival_writers(rows: CatalogRows) -> Mapping[str, tuple[Stage, ...]]:
    """The enabled writers of each dataset that has several."""
    pipelines = rows.table(Pipeline)

    def runs(stage: Stage) -> bool:
        pipeline = pipelines.get((stage.pipeline_id,))
        return stage.enabled and (pipeline is None or pipeline.enabled)

    rivals = {
        target: tuple(stage for stage in stages if runs(stage))
        for target, stages in rows.writers_of.items()
        if len(stages) > 1
    }
    return {target: stages for target, stages in rivals.items() if len(stages) > 1}


def modes_fight(stages: tuple[Stage, ...]) -> bool:
    """The write modes conflict: one stage would undo what another wrote."""
    modes = {write_mode_of(stage) for stage in stages}
    accepted = {mode_of(stage).other_writers for stage in stages}
    return OtherWriters.NONE in accepted or (OtherWriters.SAME_MODE in accepted and len(modes) > 1)
