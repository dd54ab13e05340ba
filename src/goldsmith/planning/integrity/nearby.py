"""Questions that several findings ask about a stage and its surroundings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.words import write_mode_of

#: Columns a stage adds by itself, by layer and by write mode.
_ADDED = {
    "bronze": ("_source_file", "_ingested_at", "_run_id"),
    "scd2": ("_valid_from", "_valid_to", "_is_current"),
}


def part_read(near: Neighbourhood) -> Dataset | None:
    """The input of which only what is new is read, if there is one."""
    if near.words.read != "new":
        return None
    inputs = near.inputs
    if near.stage.source_id is not None or len(inputs) == 1:
        return inputs[0]
    return None


def lacks(near: Neighbourhood, column: str) -> bool:
    """The stage's rows surely have no such column."""
    facts = near.facts
    if facts is None or facts.columns is None or column in facts.columns:
        return False
    name = column.partition(".")[0].lower()
    given = {given.lower() for given in facts.columns}
    given.update(_ADDED.get(near.words.layer, ()), _ADDED.get(near.words.write_mode, ()))
    for option, is_new in (("rename", dict.values), ("add_columns", dict.keys)):
        said = near.stage.options.get(option, {})
        if not isinstance(said, dict):
            return False
        given.update(str(new).lower() for new in is_new(said))
    return name not in given


def columns_of(near: Neighbourhood) -> str:
    """The columns a stage's SQL gives, short enough to read."""
    columns = (near.facts and near.facts.columns) or ()
    shown = ", ".join(columns[:12])
    return f"{shown}, …" if len(columns) > 12 else shown


@lru_cache(maxsize=1)
def rival_writers(rows: Snapshot) -> Mapping[str, tuple[Stage, ...]]:
    """The enabled stages of each dataset that several write."""
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
    """One of the stages would undo what another wrote."""
    modes = {write_mode_of(stage) for stage in stages}
    return "overwrite" in modes or ("scd2" in modes and len(modes) > 1)
