"""Tables of the lake found without Spark: as pyiceberg sees them, or only what they say of
themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.planning.places import Places

_ROW_OF_TABLE = Prepared(
    sa.text(
        "SELECT metadata_location, t.* FROM iceberg_tables t WHERE catalog_name = :catalog"
        " AND table_namespace = :namespace AND table_name = :table"
    )
)
T = TypeVar("T")


def table_at(places: Places, name: tuple[str, ...]) -> Any | None:
    """A table of the lake as pyiceberg sees it; None where there is none."""
    return _found(places, lambda catalog: _load(catalog, name))


def metadata_at(places: Places, name: tuple[str, ...]) -> Mapping[str, Any] | None:
    """What a table says of itself, as Iceberg writes it down; None where there is none.

    Stages ask again and again: to make pyiceberg's objects of it takes ten times as long, and
    longer with every snapshot.
    """
    return _found(places, lambda catalog: _say(places, catalog, name))


def _found(places: Places, look: Callable[[Any], T | None]) -> T | None:
    catalog = places.lake()
    if catalog is None:
        return None
    from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
    from sqlalchemy.exc import OperationalError, ProgrammingError

    try:
        return look(catalog)
    except (NoSuchTableError, NoSuchNamespaceError):
        return None
    except (OperationalError, ProgrammingError) as error:
        # Spark makes the list's own tables with the first table of the lake.
        if "iceberg_tables" in str(error.orig):
            return None
        raise


def _say(places: Places, catalog: Any, name: tuple[str, ...]) -> Mapping[str, Any] | None:
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.serializers import Compressor

    said: Mapping[str, Any]
    if not isinstance(catalog, SqlCatalog):
        said = json.loads(catalog.load_table(name).metadata.model_dump_json())
        return said
    at = _location(catalog, name)
    if at is None:
        return None
    unpacked = Compressor.get_compressor(location=at).stream_decompressor
    with places.lake_io().new_input(at).open() as file, unpacked(file) as text:
        said = json.loads(text.read())
    return said


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
    """Where the newest metadata of a table is, as a list of tables in a database has it.

    The one row is asked for here: pyiceberg does it through an ORM, which takes four times as
    long as to read the table's metadata.
    """
    *namespace, table = name
    asked = {"catalog": catalog.name, "namespace": ".".join(namespace), "table": table}
    with catalog.engine.connect() as connection:
        found = _ROW_OF_TABLE.first(connection, asked)
    # The last column says what a row is; the first form of such a list has none, nor views.
    return None if found is None or found[-1] == "VIEW" else str(found[0])
