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
from goldsmith.engine.readers import schemas
from goldsmith.engine.readers.files import FilesRead, read_files
from goldsmith.planning.files import FileSeen, list_files
from goldsmith.planning.places import Places


@dataclass(frozen=True, kw_only=True)
class Drop:
    """A source's folder."""

    spark: SparkSession
    places: Places
    location: str

    @property
    def folder(self) -> Path:
        folder = Path(self.places.address(self.location))
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, name: str, content: str | bytes) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def put_rows(self, name: str, rows: DataFrame, format: str) -> Path:
        """Rows as one file that Spark writes."""
        aside = self.folder.parent / f"{self.folder.name}-aside"
        rows.coalesce(1).write.mode("overwrite").format(format).save(str(aside))
        written = next(file for file in aside.iterdir() if file.name.startswith("part-"))
        return Path(shutil.move(written, self.folder / name))

    def files(self) -> list[FileSeen]:
        return list_files(self.location, self.places)

    def source(self, **said: Any) -> Source:
        options = {key: said.pop(key) for key in list(said) if key not in Source.__slots__}
        return Source(source_id="drop", s3_path=self.location, options=options, **said)

    def infer(self, **said: Any) -> StructType:
        return schemas.infer(self.spark, self.source(**said), self.files(), self.places)

    def read(self, schema: str | StructType | None = None, **said: Any) -> FilesRead:
        """Everything in the folder; words that are no columns of `sources` are options."""
        given = schema
        if isinstance(schema, str):
            given = ddl(schema)
        return read_files(self.spark, self.source(**said), self.files(), self.places, schema=given)


def ddl(text: str) -> StructType:
    found = DataType.fromDDL(text)
    assert isinstance(found, StructType)
    return found


def plain(rows: DataFrame | None, *columns: str) -> list[Any]:
    """Rows as tuples, or single values, in an order of their own."""
    assert rows is not None
    chosen = rows.select(*columns) if columns else rows.drop("_source_file")
    found: Iterable[Any] = (tuple(row) for row in chosen.collect())
    if len(chosen.columns) == 1:
        found = (row[0] for row in found)
    return sorted(found, key=repr)


def halves(read: FilesRead) -> tuple[list[Any], list[Any]]:
    """Good rows and the texts of malformed records, evaluated in one pass."""
    found = [row.asDict() for row in read.all_rows.collect()]
    good = [
        tuple(row[column] for column in read.schema.names)
        for row in found
        if row["_malformed_text"] is None
    ]
    texts = [row["_malformed_text"] for row in found if row["_malformed_text"] is not None]
    single = len(read.schema.names) == 1
    return sorted((row[0] if single else row for row in good), key=repr), sorted(texts)
