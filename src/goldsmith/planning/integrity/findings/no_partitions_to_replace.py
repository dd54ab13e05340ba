"""A stage is to replace the partitions its rows fall into, and has none: it would replace all."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.words import is_lake


@stage_rule(Gravity.ERROR)
def no_partitions_to_replace(near: Neighbourhood) -> Iterator[Wrong]:
    stage = near.stage
    if stage.options.get("overwrite") != "partitions":
        return
    whose = f"Stage {near.stage_id} has options.overwrite: partitions and"
    if near.words.write_mode != "overwrite":
        yield Wrong(
            stage,
            f"{whose} writes by {near.words.write_mode}.",
            "Set write_mode to overwrite, or take the option away.",
        )
    elif near.target is not None and not is_lake(near.target.target):
        yield Wrong(
            stage,
            f"{whose} writes to '{stage.target_id}', a table of a warehouse.",
            "Only tables of the lake have partitions. Merge by keys, or replace the whole table.",
        )
    elif not stage.partition_by:
        yield Wrong(
            stage,
            f"{whose} no partition_by.",
            "Set partition_by, as in [days(at)], or take the option away to replace all rows.",
        )
