"""Replace every row, or with `options.overwrite: partitions` the partitions the rows fall into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.options import Option
from goldsmith.catalog.write_modes import OtherWriters, Replaces, WriteMode
from goldsmith.engine.warehouses import statements

if TYPE_CHECKING:
    from goldsmith.engine.warehouses.warehouse_write import WarehouseWrite
    from goldsmith.engine.write.lake_write import LakeWrite

_PARTITIONS = Option(
    name="overwrite",
    type="`partitions`",
    default="all rows are replaced",
    doc="A stage that overwrites replaces only the partitions its rows fall into.",
    example="partitions",
    choices=("partitions",),
)


def _replaces(options: Mapping[str, Any]) -> Replaces:
    is_partly = options.get(_PARTITIONS.name) in _PARTITIONS.choices
    return Replaces.SAME_PARTITIONS if is_partly else Replaces.EVERYTHING


def _write_to_lake(write: LakeWrite) -> None:
    if _replaces(write.options) is Replaces.SAME_PARTITIONS and not write.is_empty:
        write.replace_partitions(write.rows)
    else:
        write.replace_all(write.rows)


def _write_to_warehouse(write: WarehouseWrite) -> int:
    write.run([statements.empty(write.landing), *statements.append(write.landing)])
    return write.count(write.landing.staging)


overwrite = WriteMode(
    replaces=_replaces,
    replaced_rows="the partitions these rows fall into",
    reads="all",
    other_writers=OtherWriters.NONE,
    options=(_PARTITIONS,),
    write_to_lake=_write_to_lake,
    write_to_warehouse=_write_to_warehouse,
)
