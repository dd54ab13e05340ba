"""Giving a warehouse table's space back and renewing its statistics."""

from __future__ import annotations

from goldsmith.engine.warehouses.landing import Table
from goldsmith.engine.warehouses.publish import Session, columns
from goldsmith.settings.sections import WarehouseKind


def vacuum(session: Session, location: str) -> list[str]:
    """Carry out what there is to do for a table; the statements that did it."""
    table = Table.at(location, session.kind)
    if columns(session, table) is None:
        return []
    done = _statements(table)
    for sql in done:
        session.run(sql)
    return done


def _statements(table: Table) -> list[str]:
    """Each stands outside a transaction: PostgreSQL and Redshift vacuum nowhere else."""
    match table.kind:
        case WarehouseKind.DUCKDB:
            return [f"ANALYZE {table.sql}", "CHECKPOINT"]
        case WarehouseKind.POSTGRES:
            return [f"VACUUM (ANALYZE) {table.sql}"]
        case WarehouseKind.REDSHIFT:
            return [f"VACUUM {table.sql}", f"ANALYZE {table.sql}"]
