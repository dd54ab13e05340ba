"""Vacuum and analyze warehouse tables."""

from __future__ import annotations

from goldsmith.engine.warehouses.landing import WarehouseTable
from goldsmith.engine.warehouses.publish import Session, columns
from goldsmith.settings.sections import WarehouseKind


def vacuum(session: Session, location: str) -> list[str]:
    """Vacuum and analyze a table; return the statements that ran."""
    table = WarehouseTable.at(location, session.kind)
    if columns(session, table) is None:
        return []
    done = _statements(table)
    for sql in done:
        session.run(sql)
    return done


def _statements(table: WarehouseTable) -> list[str]:
    """Each runs outside a transaction: PostgreSQL and Redshift refuse VACUUM inside one."""
    match table.kind:
        case WarehouseKind.DUCKDB:
            return [f"ANALYZE {table.sql}", "CHECKPOINT"]
        case WarehouseKind.POSTGRES:
            return [f"VACUUM (ANALYZE) {table.sql}"]
        case WarehouseKind.REDSHIFT:
            return [f"VACUUM {table.sql}", f"ANALYZE {table.sql}"]
