"""Files of a dataset as they lie in storage: a folder, or a bucket over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from goldsmith.planning.places import Places


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSeen:
    """One file, as the catalog would address it."""

    path: str
    size: int
    #: Changes when the file is rewritten in place.
    etag: str
    modified_at: datetime


@dataclass(eq=False, kw_only=True)
class SourceUnreachable(GoldsmithError):
    """The place a dataset's files lie in cannot be listed."""

    transient = True
    exit_code = 1

    location: str
    cause: str

    def __str__(self) -> str:
        return f"The files at {self.location} cannot be listed: {self.cause}"

    @property
    def hint(self) -> str:
        return "`goldsmith config check` tries the storage and says what is wrong."


def list_files(location: str, places: Places) -> list[FileSeen]:
    """Every file at an address of the catalog, hidden ones and Spark's own left out."""
    real = places.address(location)
    found = _in_bucket(real, places) if real.startswith("s3://") else _in_folder(real)
    base = location.rstrip("/")
    return sorted(
        (
            FileSeen(path=f"{base}/{inner}" if inner else base, size=s, etag=e, modified_at=m)
            for inner, s, e, m in found
        ),
        key=lambda file: file.path,
    )


def _is_data(inner: str) -> bool:
    return not any(part.startswith(("_", ".")) for part in inner.split("/"))


def _in_folder(real: str) -> Iterator[tuple[str, int, str, datetime]]:
    if os.path.isfile(real):
        yield "", *_seen(real)
        return
    for folder, folders, files in os.walk(real):
        folders[:] = [name for name in folders if _is_data(name)]
        for name in files:
            file = os.path.join(folder, name)
            if _is_data(name):
                try:
                    yield os.path.relpath(file, real).replace(os.sep, "/"), *_seen(file)
                except FileNotFoundError:
                    continue  # it vanished while we were looking


def _seen(file: str) -> tuple[int, str, datetime]:
    stat = os.stat(file)
    when = datetime.fromtimestamp(stat.st_mtime, UTC)
    return stat.st_size, f"{stat.st_mtime_ns:x}-{stat.st_size:x}", when


def _in_bucket(real: str, places: Places) -> Iterator[tuple[str, int, str, datetime]]:
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, prefix = real.removeprefix("s3://").partition("/")
    try:
        client: Any = places.s3()
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        for page in pages:
            for item in page.get("Contents", ()):
                inner = item["Key"][len(prefix) :].lstrip("/")
                if _is_data(inner) and not item["Key"].endswith("/"):
                    yield inner, item["Size"], item["ETag"].strip('"'), item["LastModified"]
    except (BotoCoreError, ClientError) as error:
        raise SourceUnreachable(location=real, cause=str(error)) from error
