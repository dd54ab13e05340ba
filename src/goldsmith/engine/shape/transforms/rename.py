"""Give columns other names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def rename(rows: DataFrame, *, columns: Mapping[str, str]) -> DataFrame:
    return rows.withColumnsRenamed(dict(columns))
