"""A control flag ends before it starts, so it is never in force."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule


@catalog_rule(FindingSeverity.WARNING, reads=(Flag,))
def flag_never_holds(rows: CatalogRows) -> Iterator[FoundProblem]:
    for flag in rows.rows(Flag):
        starts, ends = flag.starts_at, flag.ends_at
        if starts is not None and ends is not None and ends <= starts:
            yield FoundProblem(
                flag,
                f"The flag {flag.flag_name} on {flag.entity_type} '{flag.entity_id}' ends at"
                f" {ends:%Y-%m-%d %H:%M} and starts at {starts:%Y-%m-%d %H:%M}.",
                "Set ends_at after starts_at, or leave one of them empty.",
            )
