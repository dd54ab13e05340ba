"""Two datasets lie in one place, or one inside the other: whoever writes one changes both."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import LAKE_TYPES, Source, Target
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.integrity.finding import Gravity, Wrong, catalog_rule

_HINT = (
    "Give each dataset a place of its own, or let both be one id. Nothing to do if they are meant"
    " to share it: one waits while the other is written."
)

Row = Source | Target


@catalog_rule(Gravity.WARNING, reads=(Source, Target))
def overlapping_locations(rows: Snapshot) -> Iterator[Wrong]:
    folders: dict[str, Row] = {}
    tables: dict[str, Row] = {}
    beside: list[tuple[Row, Row]] = []
    for source in rows.rows(Source):
        if source.s3_path:
            first = folders.setdefault(_folder(source.s3_path), source)
            if first is not source:
                beside.append((first, source))
    for target in rows.rows(Target):
        if not target.location:
            continue
        if target.type is None or target.type in LAKE_TYPES:
            first = folders.setdefault(_folder(target.location), target)
        else:
            first = tables.setdefault(f"{target.type}:{target.location.lower()}", target)
        if first is not target:
            beside.append((first, target))
    for first, row in beside:
        if first.key != row.key:
            yield Wrong(
                row,
                f"Datasets '{first.key[0]}' and '{row.key[0]}' have one location: {_place(row)}.",
                _HINT,
            )
    yield from _inside(folders)


def _folder(path: str) -> str:
    """A prefix with one slash at its end, so that what lies inside follows it in the alphabet."""
    if path.startswith(("s3a:", "s3n:")):
        path = f"s3{path[3:]}"
    return path.rstrip("/") + "/"


def _inside(folders: dict[str, Row]) -> Iterator[Wrong]:
    outer: str | None = None
    for folder in sorted(folders):
        if outer is None or not folder.startswith(outer):
            outer = folder
            continue
        inner_row, outer_row = folders[folder], folders[outer]
        if inner_row.key != outer_row.key:
            yield Wrong(
                inner_row,
                f"Dataset '{inner_row.key[0]}' lies inside '{outer_row.key[0]}':"
                f" {_place(inner_row)} is in {_place(outer_row)}.",
                _HINT,
            )


def _place(row: Row) -> str | None:
    return row.s3_path if isinstance(row, Source) else row.location
