"""A control flag has a name other than `enabled`, so it stops nothing."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(Flag,))
def unread_flag(rows: CatalogRows) -> Iterator[FoundProblem]:
    for flag in rows.rows(Flag):
        if flag.flag_name != "enabled":
            yield FoundProblem(
                flag,
                f"The flag '{flag.flag_name}' on {flag.entity_type} '{flag.entity_id}' is read by"
                " nothing.",
                f"{did_you_mean(flag.flag_name, ('enabled',))}Only 'enabled' stops a thing;"
                " others are kept and shown.",
            )
