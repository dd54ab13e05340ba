"""A pair names a remedy that nothing provides."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean
from goldsmith.planning.integrity.remedies import REMEDIES, kind_of, pairs


@catalog_rule(Gravity.ERROR, reads=(HealingAction, HealingStep))
def unknown_remedy(rows: Snapshot) -> Iterator[Wrong]:
    for row in pairs(rows):
        name = str(row.action_script)
        if kind_of(name) is None:
            yield Wrong(
                row,
                f"The remedy '{name}' of {row.error_code} does not exist.",
                f"{did_you_mean(name, REMEDIES)}Known: {', '.join(REMEDIES)}. A command is"
                f" written with its path, ./{name}.",
            )
