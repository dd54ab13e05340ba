"""A folder that files are dropped into and read from, as a source would have it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from goldsmith.catalog.datasets import Source
from goldsmith.engine.read import schemas
from goldsmith.engine.read.files import FilesRead, read_files
from goldsmith.engine.read.malformed import TEXT
from goldsmith.storage.files import ListedFile, list_files
from goldsmith.storage.storage import Storage


@dataclass(frozen=True, kw_only=True)
class Drop:
    """A source's folder."""

    spark: SparkSession
    storage: Storage
    location: str

    @property
    def folder(self) -> Path:
        folder = Path(self.storage.address(self.location))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, name: str, content: str | bytes) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def put_rows(self, name: str, rows: DataFrame, format: str) -> Path:
        """Rows as one file that Spark writes."""
        temporary = self.folder.parent / f"{self.folder.name}-aside"
        rows.coalesce(1).write.mode("overwrite").format(format).save(str(temporary))
        written = next(file for file in temporary.iterdir() if file.name.startswith("part-"))
        return Path(shutil.move(written, self.folder / name))

    def files(self) -> list[ListedFile]:
        return list_files(self.location, self.storage)

    def source(self, **settings: Any) -> Source:
        options = {key: settings.pop(key) for key in list(settings) if key not in Source.__slots__}
        return Source(source_id="drop", s3_path=self.location, options=options, **settings)

    def infer(self, **settings: Any) -> StructType:
        return schemas.infer(self.spark, self.source(**settings), self.files(), self.storage)

    def read(self, schema: str | StructType | None = None, **settings: Any) -> FilesRead:
        """Everything in the folder; words that are no columns of `sources` are options."""
        given = schema
        if isinstance(schema, str):
            given = ddl(schema)
        return read_files(
            self.spark, self.source(**settings), self.files(), self.storage, schema=given
        )


def ddl(text: str) -> StructType:
    found = DataType.fromDDL(text)
    assert isinstance(found, StructType)
    return found


def plain(rows: DataFrame | None, *columns: str) -> list[Any]:
    """Rows as tuples, or single values, in an order of their own."""
    assert rows is not None
    selection = rows.select(*columns) if columns else rows.drop("_source_file")
    found: Iterable[Any] = (tuple(row) for row in selection.collect())
    if len(selection.columns) == 1:
        found = (row[0] for row in found)
    return sorted(found, key=repr)


def halves(read: FilesRead) -> tuple[list[Any], list[Any]]:
    """Good rows and the texts of malformed records, evaluated in one pass."""
    found = [row.asDict() for row in read.all_rows.collect()]
    good = [
        tuple(row[column] for column in read.schema.names) for row in found if row[TEXT] is None
    ]
    texts = [row[TEXT] for row in found if row[TEXT] is not None]
    single = len(read.schema.names) == 1
    return sorted((row[0] if single else row for row in good), key=repr), sorted(texts)
