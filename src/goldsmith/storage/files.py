"""List the files of a dataset in a folder or an S3 bucket."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from goldsmith.storage.storage import Storage


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedFile:
    """One file, with its path as a catalog address."""

    path: str
    size: int
    #: Changes when the file is rewritten in place.
    etag: str
    modified_at: datetime
    #: Hash of the content, for a file to load whose etag is no hash of it.
    checksum: str | None = None

    @property
    def noted_etag(self) -> str:
        """The etag for the ledger, with the checksum: a touch changes the etag only."""
        return self.etag if self.checksum is None else f"{self.etag}#{self.checksum}"


@dataclass(eq=False, kw_only=True)
class SourceUnreachable(GoldsmithError):
    """The location of a dataset's files cannot be listed."""

    transient = True
    exit_code = 1

    location: str
    cause: str

    def __str__(self) -> str:
        return f"The files at {self.location} cannot be listed: {self.cause}"

    @property
    def hint(self) -> str:
        return "`goldsmith config check` tries the storage and says what is wrong."


@dataclass(eq=False, kw_only=True)
class SourceMissing(GoldsmithError):
    """The bucket of a dataset's location does not exist."""

    exit_code = 1

    location: str
    bucket: str

    def __str__(self) -> str:
        return f"The files at {self.location} cannot be listed: there is no bucket {self.bucket}."

    @property
    def hint(self) -> str:
        return (
            "Correct the location in the row, or make the bucket; `goldsmith config check` tries "
            "the storage. Nothing was read."
        )


@dataclass(eq=False, kw_only=True)
class FileNameUnreadable(GoldsmithError):
    """The name of a file is not UTF-8, or has a combination of characters Hadoop cannot open."""

    exit_code = 1

    location: str
    name: str
    problem: str = "that is not UTF-8"

    def __str__(self) -> str:
        return f"A file at {self.location} has a name {self.problem}: {self.name}"

    @property
    def hint(self) -> str:
        return "Rename it, or take it away. Nothing was read."


def list_files(location: str, storage: Storage) -> list[ListedFile]:
    """Every file at a catalog address, except hidden files and Spark's own (`_`, `.`)."""
    real = storage.address(location)
    found = _in_bucket(real, storage) if real.startswith("s3://") else _in_folder(real)
    base = location.rstrip("/")
    return sorted(
        (
            ListedFile(path=f"{base}/{inner}" if inner else base, size=s, etag=e, modified_at=m)
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
            if not file.isprintable():
                _refuse_no_text(real, file)
            if _is_data(name):
                try:
                    yield os.path.relpath(file, real).replace(os.sep, "/"), *_seen(file)
                except FileNotFoundError:
                    continue  # deleted during the listing


def _refuse_no_text(real: str, file: str) -> None:
    try:
        file.encode()
    except UnicodeEncodeError as error:
        escaped = os.fsencode(file).decode(errors="backslashreplace")
        raise FileNameUnreadable(location=real, name=escaped) from error


def _seen(file: str) -> tuple[int, str, datetime]:
    stat = os.stat(file)
    when = datetime.fromtimestamp(stat.st_mtime, UTC)
    # Include ctime: unlike mtime, it cannot be set back.
    return stat.st_size, f"{stat.st_mtime_ns:x}-{stat.st_size:x}-{stat.st_ctime_ns:x}", when


def _in_bucket(real: str, storage: Storage) -> Iterator[tuple[str, int, str, datetime]]:
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = real.removeprefix("s3://").partition("/")
    # A prefix is a folder: `raw/orders` must not match `raw/orders-old/`.
    folder = f"{key.rstrip('/')}/" if key.strip("/") else ""
    try:
        client: Any = storage.s3()
        if key and not key.endswith("/"):
            # Among the keys with this prefix, the key itself comes first.
            found = client.list_objects_v2(Bucket=bucket, Prefix=key, MaxKeys=1)
            for item in found.get("Contents", ()):
                if item["Key"] == key:
                    yield "", item["Size"], item["ETag"].strip('"'), item["LastModified"]
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=folder)
        for page in pages:
            for item in page.get("Contents", ()):
                inner = item["Key"][len(folder) :].lstrip("/")
                if _is_data(inner) and not item["Key"].endswith("/"):
                    yield inner, item["Size"], item["ETag"].strip('"'), item["LastModified"]
    except (BotoCoreError, ClientError) as error:
        code = getattr(error, "response", {}).get("Error", {}).get("Code")
        if code == "NoSuchBucket":
            raise SourceMissing(location=real, bucket=bucket) from error
        raise SourceUnreachable(location=real, cause=str(error)) from error
