"""Two datasets have the same location, or one lies inside the other: writing one changes both."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import LAKE_TYPES, Source, Target
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.locations import folder, warehouse_table

_HINT = (
    "Give each dataset a place of its own, or let both be one id. Nothing to do if they are meant"
    " to share it: one waits while the other is written."
)

Row = Source | Target


@catalog_rule(FindingSeverity.WARNING, reads=(Source, Target))
def overlapping_locations(rows: CatalogRows) -> Iterator[FoundProblem]:
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
            table = warehouse_table(target.location)
            first = tables.setdefault(f"{target.type}:{table}", target)
        if first is not target:
            beside.append((first, target))
    for first, row in beside:
        if first.key != row.key:
            yield FoundProblem(
                row,
                f"Datasets '{first.key[0]}' and '{row.key[0]}' have one location: {_path(row)}.",
                _HINT,
            )
    yield from _inside(folders)


def _folder(path: str) -> str:
    """A prefix with one slash at its end, so that folders inside it are sorted after it."""
    return folder(path).rstrip("/") + "/"


def _inside(folders: dict[str, Row]) -> Iterator[FoundProblem]:
    outer: str | None = None
    for inner in sorted(folders):
        if outer is None or not inner.startswith(outer):
            outer = inner
            continue
        inner_row, outer_row = folders[inner], folders[outer]
        if inner_row.key != outer_row.key:
            yield FoundProblem(
                inner_row,
                f"Dataset '{inner_row.key[0]}' lies inside '{outer_row.key[0]}':"
                f" {_path(inner_row)} is in {_path(outer_row)}.",
                _HINT,
            )


def _path(row: Row) -> str | None:
    return row.s3_path if isinstance(row, Source) else row.location
