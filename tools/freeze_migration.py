"""Write the SQL a migration runs, as the definitions are today: `freeze_migration.py 0003`.

Only for a migration that was never released: a released one must not change any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import sqlalchemy as sa

from goldsmith.catalog.migrations import frozen
from goldsmith.journal import definitions

REVISION = "0003"
DATABASES = ("sqlite", "postgresql")
#: Columns the migration adds to tables that are there.
ADDED = (
    definitions.input_files.c.superseded_by,
    definitions.input_snapshots.c.superseded_by,
)


def main(revision: str) -> None:
    """Write the two files of the migration."""
    if revision != REVISION:
        sys.exit(f"Only {REVISION} is made from today's definitions, not {revision}.")
    more = {database: tuple(_add_columns(database)) for database in DATABASES}
    frozen.freeze(revision, (definitions.restores,), more)


def _add_columns(database: str) -> Iterator[str]:
    for column in ADDED:
        table = column.table
        assert isinstance(table, sa.Table)
        check = ""
        if database == "sqlite":
            # What the database checks of every text: it has no types of its own.
            says = f"typeof({column.name}) IN ('text', 'null')"
            check = f" CONSTRAINT ck_{table.name}_{column.name} CHECK ({says})"
        yield f"ALTER TABLE {table.name} ADD COLUMN {column.name} TEXT{check}"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"Say which revision: freeze_migration.py {REVISION}")
    main(sys.argv[1])
