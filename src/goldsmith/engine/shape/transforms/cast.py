"""Cast columns to other types; a value that does not fit stops the stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from goldsmith.engine.names import name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def cast(rows: DataFrame, *, columns: Mapping[str, str]) -> DataFrame:
    from pyspark.sql import functions as F

    return rows.withColumns({c: F.col(name(c)).cast(type_) for c, type_ in columns.items()})
