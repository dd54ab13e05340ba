"""A healing row names a remedy that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.remedies import built_in, kind_of, pairs


@catalog_rule(FindingSeverity.ERROR, reads=(HealingAction, HealingStep))
def unknown_remedy(rows: CatalogRows) -> Iterator[FoundProblem]:
    for row in pairs(rows):
        name = str(row.action_script)
        if kind_of(name) is None:
            yield FoundProblem(
                row,
                f"The remedy '{name}' of {row.error_code} does not exist.",
                f"{did_you_mean(name, built_in())}Known: {', '.join(built_in())}. A command is"
                f" written with its path, ./{name}.",
            )
