"""Write the SQL a migration runs, as the definitions are today: `freeze_migration.py 0005`.

Only for a migration that was never released: a released one must not change any more.
"""

from __future__ import annotations

import sys

from goldsmith.catalog.migrations import frozen
from goldsmith.journal import definitions

REVISION = "0005"
#: The names of the indexes that are new in it.
MADE = (
    "ix_runs_request",
    "ix_stage_runs_target",
    "ix_input_files_stage_run",
    "ix_input_snapshots_stage_run",
    "ix_healing_uses_at",
    "ix_incidents_status",
)


def main(revision: str) -> None:
    """Write the two files of the migration."""
    if revision != REVISION:
        sys.exit(f"Only {REVISION} is made from today's definitions, not {revision}.")
    known = {str(index.name): index for table in definitions.OBSERVED for index in table.indexes}
    frozen.freeze(revision, [known[name] for name in MADE])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"Say which revision: freeze_migration.py {REVISION}")
    main(sys.argv[1])
