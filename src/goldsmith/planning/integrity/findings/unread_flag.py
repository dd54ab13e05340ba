"""A control flag has a name that nothing reads; only `enabled` stops anything."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(Gravity.WARNING, reads=(Flag,))
def unread_flag(rows: Snapshot) -> Iterator[Wrong]:
    for flag in rows.rows(Flag):
        if flag.flag_name != "enabled":
            yield Wrong(
                flag,
                f"The flag '{flag.flag_name}' on {flag.entity_type} '{flag.entity_id}' is read by"
                " nothing.",
                f"{did_you_mean(flag.flag_name, ('enabled',))}Only 'enabled' stops a thing;"
                " others are kept and shown.",
            )
