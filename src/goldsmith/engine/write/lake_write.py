"""What a write mode is given to write rows to a lake table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldsmith.engine.lake.lake_table import LakeTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True, slots=True)
class LakeWrite:
    """Rows to write to a branch of a lake table, and how."""

    #: The rows, without the repeats that the mode drops.
    rows: DataFrame
    table: LakeTable
    branch: str
    stage_run_id: str
    keys: tuple[str, ...]
    watermark: str | None
    options: Mapping[str, Any]
    #: All existing rows have to go: none may be left beside the rows of this write.
    from_scratch: bool = False
    #: No existing row counts: the table is new, or `from_scratch`.
    is_empty: bool = False

    @property
    def sql_name(self) -> str:
        """The branch, quoted for SQL."""
        return self.table.branch_name(self.branch)

    def existing(self) -> DataFrame:
        """The rows of the branch before this write."""
        return self.table.spark.table(self.sql_name)

    def append(self, rows: DataFrame) -> None:
        self.table.append(rows, self.branch, self.stage_run_id)

    def replace_all(self, rows: DataFrame) -> None:
        self.table.overwrite(rows, self.branch, self.stage_run_id)

    def replace_partitions(self, rows: DataFrame) -> None:
        """Replace the partitions the rows fall into."""
        self.table.overwrite_partitions(rows, self.branch, self.stage_run_id)

    def delete_all(self) -> None:
        self.table.spark.sql(f"DELETE FROM {self.sql_name}")

    def merge(self, statement: str) -> None:
        """Run a MERGE into the branch."""
        self.table.merge(statement, self.stage_run_id)
