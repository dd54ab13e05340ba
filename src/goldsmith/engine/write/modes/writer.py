"""The input of every write mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldsmith.engine.lake.lake_table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class ModeWrite:
    """Rows to write to a branch of a lake table, and how."""

    rows: DataFrame
    table: LakeTable
    branch: str
    stage_run_id: str
    keys: tuple[str, ...]
    watermark: str | None
    options: Mapping[str, Any]
    #: The branch has no rows yet.
    is_empty: bool = False
