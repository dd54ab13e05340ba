"""Add columns computed by SQL expressions over the existing columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def add_columns(rows: DataFrame, *, columns: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.withColumns({c: F.expr(expression) for c, expression in columns.items()})
