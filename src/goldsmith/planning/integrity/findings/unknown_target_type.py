"""A target's type is not supported."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import LAKE_TYPES, WAREHOUSE_TYPES, Target
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean

_TYPES = (*LAKE_TYPES, *WAREHOUSE_TYPES)


@catalog_rule(FindingSeverity.ERROR, reads=(Target,))
def unknown_target_type(rows: CatalogRows) -> Iterator[FoundProblem]:
    for target in rows.rows(Target):
        type_ = target.type
        if type_ is not None and type_ not in _TYPES:
            yield FoundProblem(
                target,
                f"Target '{target.target_id}' has the type '{type_}', which is not known.",
                f"{did_you_mean(type_, _TYPES)}Known: {', '.join(_TYPES)}.",
            )
