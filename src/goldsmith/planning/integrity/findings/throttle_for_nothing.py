"""A throttle names no dataset or no group, or one that does not exist, so it limits nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle, ThrottleScope
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.stage_context import Datasets
from goldsmith.planning.throttled import is_member


@catalog_rule(FindingSeverity.WARNING, reads=(Throttle, Source, Target, Stage))
def throttle_for_nothing(rows: CatalogRows) -> Iterator[FoundProblem]:
    for throttle in rows.rows(Throttle):
        name = throttle.entity_id
        if throttle.entity_type is None or name is None:
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' does not say what it limits.",
                "Set entity_type to source, target or group, and entity_id to its id.",
            )
        elif throttle.entity_type == ThrottleScope.GROUP:
            datasets = Datasets(rows)
            if not any(is_member(name, datasets[dataset]) for dataset in rows.dataset_ids):
                yield FoundProblem(
                    throttle,
                    f"Throttle '{throttle.throttle_id}' limits the group '{name}', and no source or"
                    " target belongs to it.",
                    "A group is a location such as s3://bucket/, a type of targets such as"
                    " redshift, or the value of throttle_group in the options of its datasets.",
                )
        elif not rows.has_dataset(name):
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' limits {throttle.entity_type} '{name}', which"
                " has no row in sources or targets.",
                f"{did_you_mean(name, rows.dataset_ids)}Correct entity_id, or remove the throttle.",
            )
