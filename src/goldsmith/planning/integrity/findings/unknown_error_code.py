"""A healing row is for an error code that nothing raises, so its remedy never acts."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.error_codes import DECLARED, is_raised
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.remedies import pairs


@catalog_rule(FindingSeverity.WARNING, reads=(HealingAction, HealingStep))
def unknown_error_code(rows: CatalogRows) -> Iterator[FoundProblem]:
    for row in pairs(rows):
        if not is_raised(row.error_code):
            yield FoundProblem(
                row,
                f"Nothing raises the error code '{row.error_code}', so its remedy never acts.",
                f"{did_you_mean(row.error_code, DECLARED)}`goldsmith errors list` has the codes.",
            )
