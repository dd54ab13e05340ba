"""Write modes: a mode is one file of `engine/write/modes`, which declares all that is known of it.

The registry imports a declaration by its name. So a new write mode needs no list here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.options import Option
from goldsmith.registry import Registry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Replaces(StrEnum):
    """Which existing rows a write replaces."""

    #: None: rows that are loaded again are deleted first, and so have to be found by file or time.
    NOTHING = "nothing"
    SAME_KEYS = "same keys"
    SAME_PARTITIONS = "same partitions"
    EVERYTHING = "everything"

    @property
    def keeps_rows(self) -> bool:
        """A row stays in the table until another row of its key replaces it."""
        return self in (Replaces.NOTHING, Replaces.SAME_KEYS)


class OtherWriters(StrEnum):
    """Which other stages may write the same target."""

    ANY = "any"
    SAME_MODE = "same mode"
    NONE = "none"


def _no_columns(load: Any, names: Mapping[str, str], staging: Any) -> Sequence[Any]:
    del load, names, staging
    return ()


@dataclass(frozen=True, kw_only=True)
class WriteMode:
    """How the rows of a stage are written to its target."""

    #: Which rows a write replaces; takes the stage's options.
    replaces: Callable[[Mapping[str, Any]], Replaces]
    #: The rows a backfill replaces, for people; unset: the rows of the same files or times.
    replaced_rows: str = ""
    #: What a stage reads of its first input if its options do not say: `new` or `all`.
    reads: str = "new"
    #: Rows are matched by the stage's keys.
    needs_keys: bool = False
    #: Every version of a key is kept, so that a load may write more rows than it was given.
    keeps_versions: bool = False
    other_writers: OtherWriters = OtherWriters.ANY
    #: Keys of `stages.options` that only this mode reads.
    options: tuple[Option, ...] = ()
    #: Columns that the mode adds to every row.
    columns: tuple[str, ...] = ()
    #: Adds these columns; takes the rows, the watermark column and the time of the run.
    add_columns: Callable[[DataFrame, str | None, datetime], DataFrame] | None = None
    #: Drops repeats among the rows to write; takes the rows, the keys and the watermark column.
    #: Unset: every row is written.
    deduplicate: Callable[[DataFrame, Sequence[str], str | None], DataFrame] | None = None
    #: Writes rows to a branch of a lake table. Takes an `engine.write.lake_write.LakeWrite`.
    write_to_lake: Callable[[Any], None]
    #: Writes the rows of a staging table to a warehouse table, inside an open transaction, and
    #: returns how many. Takes an `engine.warehouses.warehouse_write.WarehouseWrite`.
    write_to_warehouse: Callable[[Any], int]
    #: The columns of the mode that staged rows lack, as `engine.warehouses.landing` has columns.
    #: Takes the load, the warehouse's name of each column and the staging table.
    warehouse_columns: Callable[[Any, Mapping[str, str], Any], Sequence[Any]] = _no_columns


#: A mode is named by the column `stages.write_mode`, whose values the database checks. The option
#: names modes of other packages.
MODE_OPTION = "write_mode"

WRITE_MODES: Registry[WriteMode] = Registry(
    "write mode", package="goldsmith.engine.write.modes", kind=WriteMode
)
