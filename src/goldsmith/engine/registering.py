"""Parquet files made files of a table, without writing their rows again.

Spark's own writer knows nothing of Iceberg's field ids: the table maps names to columns for such
files, and keeps that mapping when columns are added or renamed. pyiceberg does it, from the files'
footers, wherever Spark runs.
"""

from __future__ import annotations

import logging
import warnings

from goldsmith.engine import staging
from goldsmith.engine.addresses import kept_address
from goldsmith.engine.lake import LakeTable, LostRace
from goldsmith.planning.places import Places

_LOG = logging.getLogger(__name__)


def register(
    table: LakeTable,
    places: Places,
    *,
    folder: str,
    branch: str,
    signed: dict[str, str],
    replace_all: bool,
) -> bool:
    """Add the folder's files to a branch, signed with the run's marks, or let it hold only them.

    False, and nothing done, where such files cannot be files of the table: it is partitioned, or
    a column is of a type that only Iceberg's own writers write right.
    """
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.expressions import AlwaysTrue

    catalog = places.lake()
    assert catalog is not None  # Spark made the table there
    known = catalog.load_table(table.parts[1:])
    if not known.spec().is_unpartitioned():
        return False
    files = [kept_address(places, file) for file in staging.files(places, folder)]
    transaction = known.transaction()
    try:
        with warnings.catch_warnings():
            # To replace the rows of an empty table is nothing to be warned of.
            warnings.filterwarnings("ignore", message="Delete operation did not match")
            if replace_all:
                transaction.delete(AlwaysTrue(), snapshot_properties=signed, branch=branch)
            transaction.add_files(
                files, snapshot_properties=signed, check_duplicate_files=False, branch=branch
            )
    except (KeyError, NotImplementedError, TypeError, ValueError) as error:
        _LOG.warning("files of %s are written again: %s", table, error)
        return False
    try:
        transaction.commit_transaction()
    except CommitFailedException as error:
        raise LostRace(table=str(table), cause=str(error)) from error
    return True
