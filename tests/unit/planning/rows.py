"""Rows written as files write them, made into a snapshot without a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldsmith.catalog.columns import ColumnKind
from goldsmith.catalog.rows import Row, by_key
from goldsmith.catalog.schema import BY_TABLE, DECLARED
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.sql import SqlReader
from goldsmith.planning.stage_context import Datasets, StageContext

Tables = Mapping[str, Iterable[Mapping[str, Any]]]


def rows_of(tables: Tables) -> list[Row]:
    """The rows, columns left out at their defaults."""
    return [_row(BY_TABLE[name], values) for name, rows in tables.items() for values in rows]


def snapshot(rows: Iterable[Row]) -> CatalogRows:
    """A catalog that holds just these rows; of two with one key, the later."""
    kept = list(rows)
    return CatalogRows(
        1,
        {
            kind.table.name: by_key([row for row in kept if isinstance(row, kind)])
            for kind in DECLARED
        },
    )


def neighbourhoods(rows: CatalogRows) -> dict[str, StageContext]:
    """Every stage's neighbourhood, by stage id."""
    reader = SqlReader(rows.dataset_ids)
    return {
        stage_id(stage): StageContext(stage, rows, reader, Datasets(rows))
        for stages in rows.stages_of.values()
        for stage in stages
    }


def _row(kind: type[Row], values: Mapping[str, Any]) -> Row:
    columns = kind.table.by_name
    return kind(
        **{
            name: columns[name].from_storage(value)
            if columns[name].kind in (ColumnKind.NAMES, ColumnKind.LIST, ColumnKind.MOMENT)
            else value
            for name, value in values.items()
        }
    )
