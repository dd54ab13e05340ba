"""Register Parquet files as data files of an Iceberg table, without rewriting their rows.

Files from Spark's Parquet writer have no Iceberg field ids. The table's name mapping assigns their
columns, also after columns are added or renamed. pyiceberg registers the files from their footers.
"""

from __future__ import annotations

import logging
import warnings

from goldsmith.engine.lake.lake_table import LakeTable, LostRace
from goldsmith.storage import staging
from goldsmith.storage.spark_addresses import kept_address
from goldsmith.storage.storage import Storage

_LOG = logging.getLogger(__name__)


def register(
    table: LakeTable,
    storage: Storage,
    *,
    folder: str,
    branch: str,
    signed: dict[str, str],
    replace_all: bool,
) -> bool:
    """Add the folder's files to a branch; with `replace_all` they replace every row of the branch.

    `signed` holds the snapshot properties. Return False, with nothing changed, if the table cannot
    take the files: it is partitioned, or only Iceberg's writers write a column's type correctly.
    """
    from pyiceberg.exceptions import CommitFailedException
    from pyiceberg.expressions import AlwaysTrue

    catalog = storage.lake()
    assert catalog is not None  # Spark created the table in this catalog
    known = catalog.load_table(table.parts[1:])
    if not known.spec().is_unpartitioned():
        return False
    files = [kept_address(storage, file) for file in staging.files(storage, folder)]
    transaction = known.transaction()
    try:
        with warnings.catch_warnings():
            # Replacing the rows of an empty table deletes nothing; pyiceberg warns of that.
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
