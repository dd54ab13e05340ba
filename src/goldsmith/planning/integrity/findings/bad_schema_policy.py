"""A stage's schema_policy has an unknown value or an unknown part."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.resolved_stage import SCHEMA_POLICIES, stage_id

_PARTS = ("tables", "columns", "types")


@catalog_rule(FindingSeverity.ERROR, reads=(Stage,))
def bad_schema_policy(rows: CatalogRows) -> Iterator[FoundProblem]:
    for stage in rows.rows(Stage):
        if stage.schema_policy is not None:
            yield from _of_stage(stage)


def _of_stage(stage: Stage) -> Iterator[FoundProblem]:
    policy = stage.schema_policy or ""
    whose = f"The schema_policy of stage {stage_id(stage)}"
    for part, choice in ({"": policy} if isinstance(policy, str) else policy).items():
        if part not in ("", *_PARTS):
            yield FoundProblem(
                stage,
                f"{whose} speaks of '{part}'.",
                f"{did_you_mean(part, _PARTS)}It may speak of {', '.join(_PARTS)}.",
            )
        elif choice not in SCHEMA_POLICIES:
            yield FoundProblem(
                stage,
                f"{whose} says '{choice}'{f' for {part}' if part else ''}.",
                f"{did_you_mean(str(choice), SCHEMA_POLICIES)}Known: {', '.join(SCHEMA_POLICIES)}.",
            )
