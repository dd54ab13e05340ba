"""What every write mode is given, and what it says of what it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldsmith.engine.lake import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class Writing:
    """Rows on their way to a branch of a table."""

    rows: DataFrame
    table: LakeTable
    branch: str
    stage_run_id: str
    keys: tuple[str, ...]
    watermark: str | None
    options: Mapping[str, Any]
    #: The branch has no rows yet.
    is_empty: bool = False
