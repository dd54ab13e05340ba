"""Write the SQL a migration runs, as the definitions are today: `freeze_migration.py 0002`.

Only for a migration that was never released: a released one must not change any more.
"""

from __future__ import annotations

import sys

from goldsmith.catalog.migrations import frozen
from goldsmith.journal import append_only, definitions
from goldsmith.journal.views import VIEWS

DATABASES = ("sqlite", "postgresql")


def main(revision: str) -> None:
    """Write the two files of the migration."""
    if revision != "0002":
        sys.exit(f"Only 0002 is made from today's definitions, not {revision}.")
    more = {
        database: (*append_only.STATEMENTS[database], *(view.sql(database) for view in VIEWS))
        for database in DATABASES
    }
    frozen.freeze(revision, definitions.OBSERVED, more)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Say which revision: freeze_migration.py 0002")
    main(sys.argv[1])
