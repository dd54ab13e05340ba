"""Read lake tables without Spark: as pyiceberg tables, or only their metadata."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.errors import GoldsmithError
from goldsmith.storage.storage import LAKE, Storage

_ROW_OF_TABLE = Prepared(
    sa.text(
        "SELECT metadata_location, t.* FROM iceberg_tables t WHERE catalog_name = :catalog"
        " AND table_namespace = :namespace AND table_name = :table"
    )
)
_DROP_AS_SEEN = sa.text(
    "DELETE FROM iceberg_tables WHERE catalog_name = :catalog AND table_namespace = :namespace"
    " AND table_name = :table AND metadata_location = :at"
)
_METADATA_FILES = Prepared(
    sa.text(
        "SELECT table_namespace, table_name, metadata_location FROM iceberg_tables"
        " WHERE catalog_name = :catalog"
    )
)
T = TypeVar("T")
#: Errors of reading a metadata file that is missing, truncated or overwritten. JSON, Unicode and
#: pydantic raise ValueError.
UNREADABLE = (FileNotFoundError, ValueError, KeyError, TypeError, EOFError, zlib.error)


@dataclass(eq=False, kw_only=True)
class TableBroken(GoldsmithError):
    """A lake table is in the catalog, but its metadata or files are missing or damaged."""

    exit_code = 1

    table: str
    cause: str

    def __str__(self) -> str:
        return f"The lake table {self.table} cannot be read: {self.cause}"

    @property
    def hint(self) -> str:
        return (
            "Nothing was changed. Put its files back from a backup or an older version of the "
            "bucket; or drop the table and load it again with `goldsmith run --full-refresh`."
        )


@dataclass(eq=False, kw_only=True)
class LakeListBroken(GoldsmithError):
    """The database of the Iceberg catalog is damaged, or no database at all."""

    exit_code = 1

    cause: str

    def __str__(self) -> str:
        return f"The list of the lake's tables cannot be read: {self.cause}"

    @property
    def hint(self) -> str:
        return "Put it back from a backup: without it nobody knows the tables. See [lake] uri."


def table_at(storage: Storage, name: tuple[str, ...]) -> Any | None:
    """A lake table as a pyiceberg table; None if it does not exist."""
    with readable(name):
        return _found(storage, lambda catalog: _load(catalog, name))


def metadata_at(storage: Storage, name: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The metadata JSON of a lake table; None if the table does not exist.

    Stages read it often. Building pyiceberg objects from it takes ten times as long, and longer
    with every snapshot.
    """
    with readable(name):
        return _found(storage, lambda catalog: _say(storage, catalog, name))


@contextmanager
def readable(name: tuple[str, ...]) -> Iterator[None]:
    """Raise TableBroken for any error of reading the table's metadata or files."""
    from pyiceberg.exceptions import ValidationError

    try:
        yield
    except (*UNREADABLE, ValidationError) as error:
        cause = str(error).strip().splitlines() or [type(error).__name__]
        raise TableBroken(table=".".join((LAKE, *name)), cause=cause[0]) from error


def metadata_files(storage: Storage) -> Mapping[tuple[str, ...], str]:
    """The metadata file of every table by name; empty unless the catalog is a database."""
    return _found(storage, _metadata_files) or {}


def rename(storage: Storage, old: tuple[str, ...], new: tuple[str, ...]) -> None:
    """Rename a table in the Iceberg catalog; its files stay where they are."""
    catalog = storage.lake()
    assert catalog is not None  # the table to rename exists
    catalog.create_namespace_if_not_exists(new[:-1])
    catalog.rename_table(old, new)


def drop_name(storage: Storage, name: tuple[str, ...]) -> None:
    """Drop a table from the Iceberg catalog; its files stay."""
    catalog = storage.lake()
    assert catalog is not None
    catalog.drop_table(name)


def _metadata_files(catalog: Any) -> Mapping[tuple[str, ...], str]:
    from pyiceberg.catalog.sql import SqlCatalog

    if not isinstance(catalog, SqlCatalog):
        return {}
    with catalog.engine.connect() as connection:
        found = _METADATA_FILES.rows(connection, {"catalog": catalog.name})
    return {
        (*namespace.split("."), table): str(at).removeprefix("file://").removeprefix("file:")
        for namespace, table, at in found
    }


def drop_if(
    storage: Storage, name: tuple[str, ...], condition: Callable[[Mapping[str, Any]], bool]
) -> None:
    """Drop a table if its metadata meets a condition and it has not changed since.

    Only a catalog in a database can drop a table in the state that was read; with any other
    catalog nothing is dropped.
    """

    def drop(catalog: Any) -> None:
        from pyiceberg.catalog.sql import SqlCatalog

        at = _location(catalog, name) if isinstance(catalog, SqlCatalog) else None
        if at is None or not condition(_read(storage, at)):
            return
        *namespace, table = name
        seen = {"catalog": catalog.name, "namespace": ".".join(namespace), "table": table, "at": at}
        with catalog.engine.begin() as connection:
            connection.execute(_DROP_AS_SEEN, seen)

    _found(storage, drop)


def _found(storage: Storage, look: Callable[[Any], T | None]) -> T | None:
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from sqlalchemy.exc import DatabaseError, OperationalError, ProgrammingError

    try:
        catalog = storage.lake()  # opening it reads the list
        return None if catalog is None else look(catalog)
    except (NoSuchTableError, NoSuchNamespaceError):
        return None
    except (OperationalError, ProgrammingError) as error:
        # The catalog's own tables do not exist until Spark first starts.
        if "iceberg_tables" in str(error.orig):
            return None
        raise
    except DatabaseError as error:
        raise LakeListBroken(cause=str(error.orig)) from error


def _say(storage: Storage, catalog: Any, name: tuple[str, ...]) -> Mapping[str, Any] | None:
    from pyiceberg.catalog.sql import SqlCatalog

    metadata: Mapping[str, Any]
    if not isinstance(catalog, SqlCatalog):
        metadata = json.loads(catalog.load_table(name).metadata.model_dump_json())
        return metadata
    at = _location(catalog, name)
    return None if at is None else _read(storage, at)


def _read(storage: Storage, at: str) -> Mapping[str, Any]:
    from pyiceberg.serializers import Compressor

    unpacked = Compressor.get_compressor(location=at).stream_decompressor
    with storage.lake_io().new_input(at).open() as file, unpacked(file) as text:
        metadata: Mapping[str, Any] = json.loads(text.read())
    if not isinstance(metadata, dict) or "format-version" not in metadata:
        raise ValueError(f"{at} is no metadata of a table")
    return metadata


def _load(catalog: Any, name: tuple[str, ...]) -> Any | None:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.io import load_file_io
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import Table

    if not isinstance(catalog, SqlCatalog):
        return catalog.load_table(name)
    at = _location(catalog, name)
    if at is None:
        return None
    io = load_file_io(catalog.properties, at)
    metadata = FromInputFile.table_metadata(io.new_input(at))
    io = load_file_io({**catalog.properties, **metadata.properties}, at)
    return Table(name, metadata, at, io, catalog)


def _location(catalog: Any, name: tuple[str, ...]) -> str | None:
    """The newest metadata file of a table, from a catalog in a database.

    This queries the row directly: pyiceberg uses an ORM, which takes four times as long as
    reading the table's metadata.
    """
    *namespace, table = name
    key = {"catalog": catalog.name, "namespace": ".".join(namespace), "table": table}
    with catalog.engine.connect() as connection:
        found = _ROW_OF_TABLE.first(connection, key)
    # The last column is `iceberg_type`; schema version V0 has no such column and no views.
    return None if found is None or found[-1] == "VIEW" else str(found[0])
