"""A throttle names no dataset, or one that does not exist, so it limits nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(Throttle, Source, Target))
def throttle_for_nothing(rows: CatalogRows) -> Iterator[FoundProblem]:
    for throttle in rows.rows(Throttle):
        name = throttle.entity_id
        if throttle.entity_type is None or name is None:
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' does not say what it limits.",
                "Set entity_type to source or target, and entity_id to the dataset's id.",
            )
        elif not rows.has_dataset(name):
            yield FoundProblem(
                throttle,
                f"Throttle '{throttle.throttle_id}' limits {throttle.entity_type} '{name}', which"
                " has no row in sources or targets.",
                f"{did_you_mean(name, rows.dataset_ids)}Correct entity_id, or remove the throttle.",
            )
