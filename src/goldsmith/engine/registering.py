"""Parquet files made files of a table, without writing their rows again.

Spark's own writer knows nothing of Iceberg's field ids: the table maps names to columns for such
files, and keeps that mapping when columns are added or renamed. pyiceberg does it, from the files'
footers, wherever Spark runs.
"""

from __future__ import annotations

import warnings

from goldsmith.engine import staging
from goldsmith.engine.addresses import kept_address
from goldsmith.engine.lake import LakeTable, LostRace
from goldsmith.planning.places import Places


def register(
    table: LakeTable,
    places: Places,
    *,
    folder: str,
    branch: str,
    signed: dict[str, str],
    replace_all: bool,
) -> None:
    """Add the folder's files to a branch, signed with the run's marks, or let it hold only them."""
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.expressions import AlwaysTrue

    catalog = places.lake()
    assert catalog is not None  # Spark made the table there
    known = catalog.load_table(table.parts[1:])
    files = [kept_address(places, file) for file in staging.files(places, folder)]
    try:
        with known.transaction() as transaction, warnings.catch_warnings():
            # To replace the rows of an empty table is nothing to be warned of.
            warnings.filterwarnings("ignore", message="Delete operation did not match")
            if replace_all:
                transaction.delete(AlwaysTrue(), snapshot_properties=signed, branch=branch)
            if files:
                transaction.add_files(
                    files, snapshot_properties=signed, check_duplicate_files=False, branch=branch
                )
    except CommitFailedException as error:
        raise LostRace(table=str(table), cause=str(error)) from error
