"""Pydantic models of the API, made from the declared tables, and the shapes routes share."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from goldsmith.catalog.columns import ColumnKind, DeclaredColumn
from goldsmith.catalog.rows import Row

T = TypeVar("T")

_TYPES: dict[ColumnKind, Any] = {
    ColumnKind.TEXT: str,
    ColumnKind.FLAG: bool,
    ColumnKind.WHOLE: int,
    ColumnKind.NUMBER: float,
    ColumnKind.MOMENT: datetime,
    ColumnKind.LIST: list[Any],
    ColumnKind.MAP: dict[str, Any],
    ColumnKind.NAMES: list[str],
    ColumnKind.POLICY: str | dict[str, str],
}


class RequestBody(BaseModel):
    """The base of every request body: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Page(BaseModel, Generic[T]):
    """One page of a list; `next` is the cursor of the next page, or null."""

    items: list[T]
    next: str | None = None


@lru_cache
def model_of(kind: type[Row]) -> type[BaseModel]:
    """The model of a table's rows: every column with its type and its documentation."""
    fields: dict[str, Any] = {column.name: _field(column) for column in kind.table.columns}
    made: type[BaseModel] = create_model(kind.__name__, **fields)
    made.__doc__ = kind.table.purpose
    return made


def _field(column: DeclaredColumn) -> tuple[Any, Any]:
    type_ = _TYPES[column.kind]
    return (type_ | None, Field(default=None, description=column.doc))
