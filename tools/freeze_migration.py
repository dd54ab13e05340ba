"""Write the SQL a migration runs, as the definitions are today: `freeze_migration.py 0004`.

Only for a migration that was never released: a released one must not change any more.
"""

from __future__ import annotations

import sys

from goldsmith.catalog.definitions import TABLES
from goldsmith.catalog.migrations import frozen
from goldsmith.journal import definitions

REVISION = "0004"
MADE = (
    TABLES["healing_limits"],
    TABLES["severities"],
    TABLES["notification_routes"],
    definitions.healing_uses,
    definitions.files_aside,
    definitions.incidents,
    definitions.outbox,
)


def main(revision: str) -> None:
    """Write the two files of the migration."""
    if revision != REVISION:
        sys.exit(f"Only {REVISION} is made from today's definitions, not {revision}.")
    frozen.freeze(revision, MADE)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"Say which revision: freeze_migration.py {REVISION}")
    main(sys.argv[1])
