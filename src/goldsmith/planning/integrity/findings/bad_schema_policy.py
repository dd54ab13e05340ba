"""A stage's schema_policy uses a word or a part that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.words import SCHEMA_POLICIES, stage_id

_PARTS = ("tables", "columns", "types")


@catalog_rule(Gravity.ERROR, reads=(Stage,))
def bad_schema_policy(rows: Snapshot) -> Iterator[Wrong]:
    for stage in rows.rows(Stage):
        if stage.schema_policy is not None:
            yield from _of_stage(stage)


def _of_stage(stage: Stage) -> Iterator[Wrong]:
    policy = stage.schema_policy or ""
    whose = f"The schema_policy of stage {stage_id(stage)}"
    for part, word in ({"": policy} if isinstance(policy, str) else policy).items():
        if part not in ("", *_PARTS):
            yield Wrong(
                stage,
                f"{whose} speaks of '{part}'.",
                f"{did_you_mean(part, _PARTS)}It may speak of {', '.join(_PARTS)}.",
            )
        elif word not in SCHEMA_POLICIES:
            yield Wrong(
                stage,
                f"{whose} says '{word}'{f' for {part}' if part else ''}.",
                f"{did_you_mean(str(word), SCHEMA_POLICIES)}Known: {', '.join(SCHEMA_POLICIES)}.",
            )
