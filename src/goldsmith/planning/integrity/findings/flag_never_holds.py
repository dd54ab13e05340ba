"""A control flag ends before it starts, so it never holds."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule


@catalog_rule(Gravity.WARNING, reads=(Flag,))
def flag_never_holds(rows: Snapshot) -> Iterator[Wrong]:
    for flag in rows.rows(Flag):
        starts, ends = flag.starts_at, flag.ends_at
        if starts is not None and ends is not None and ends <= starts:
            yield Wrong(
                flag,
                f"The flag {flag.flag_name} on {flag.entity_type} '{flag.entity_id}' ends at"
                f" {ends:%Y-%m-%d %H:%M} and starts at {starts:%Y-%m-%d %H:%M}.",
                "Set ends_at after starts_at, or leave one of them empty.",
            )
