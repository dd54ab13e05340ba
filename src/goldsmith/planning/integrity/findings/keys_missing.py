"""A stage merges or keeps versions (scd2) and names no keys, so it cannot tell rows apart."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.planning.integrity.finding import Gravity, Wrong, stage_rule
from goldsmith.planning.neighbourhood import Neighbourhood


@stage_rule(Gravity.ERROR)
def keys_missing(near: Neighbourhood) -> Iterator[Wrong]:
    if not near.stage.keys and near.words.write_mode in ("merge", "scd2"):
        yield Wrong(
            near.stage,
            f"Stage {near.stage_id} writes by {near.words.write_mode} and names no keys.",
            "Set keys to the columns that tell rows apart, or choose append or overwrite.",
        )
