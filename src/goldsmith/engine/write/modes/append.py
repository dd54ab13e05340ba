"""Add the rows to the existing rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.catalog.write_modes import Replaces, WriteMode
from goldsmith.engine.warehouses import statements

if TYPE_CHECKING:
    from goldsmith.engine.warehouses.warehouse_write import WarehouseWrite
    from goldsmith.engine.write.lake_write import LakeWrite


def _write_to_lake(write: LakeWrite) -> None:
    if write.from_scratch:
        write.replace_all(write.rows)
    else:
        write.append(write.rows)


def _write_to_warehouse(write: WarehouseWrite) -> int:
    write.run(statements.append(write.landing))
    return write.count(write.landing.staging)


append = WriteMode(
    replaces=lambda options: Replaces.NOTHING,
    write_to_lake=_write_to_lake,
    write_to_warehouse=_write_to_warehouse,
)
