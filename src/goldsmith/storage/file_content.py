"""Compare file content, to tell a file that was touched or copied from one that was rewritten.

S3 lists a hash of the content, a folder only a time. So the ledger stores a checksum for each
file of a folder, computed when the file is loaded. Content is read again only if a file has the
same size and a new etag.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from goldsmith.errors import GoldsmithError
from goldsmith.storage.files import ListedFile, SourceUnreachable, list_files

if TYPE_CHECKING:
    from goldsmith.storage.storage import Storage

#: Larger files get no checksum: if touched, they count as rewritten.
LARGEST = 1 << 30
_CHUNK = 1 << 20
_AT_ONCE = 4
#: An etag that is the MD5 of the content, or of the MD5s of its parts (multipart upload).
_HASH = re.compile(r"[0-9a-f]{32}(?:-(?P<parts>\d+))?")
_OLD_ETAG = re.compile(r"([0-9a-f]+-[0-9a-f]+)-[0-9a-f]+")
#: Common part sizes of multipart uploads.
_PART_SIZES = tuple(
    mib << 20 for mib in (5, 8, 10, 15, 16, 20, 25, 32, 50, 64, 100, 128, 256, 512, 1024)
)
_GONE = ("404", "412", "NoSuchKey", "NotFound", "PreconditionFailed")


@dataclass(eq=False, kw_only=True)
class FileChanged(GoldsmithError):
    """A file was rewritten or deleted between its listing and the publish of its rows."""

    transient = True
    exit_code = 1

    files: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1:,} more" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more} changed while it was read: nothing was published."

    @property
    def hint(self) -> str:
        return "Run it again once the file is complete. Write files elsewhere and move them in."


def with_checksums(
    files: Sequence[ListedFile], known: Mapping[str, tuple[int, str]], storage: Storage
) -> list[ListedFile]:
    """Add checksums to files of a folder; an unchanged file keeps its known checksum."""
    checksums = {file.path: _known_checksum(file, known) for file in files}
    missing = [
        file
        for file in files
        if checksums[file.path] is None
        and file.size <= LARGEST
        and not storage.address(file.path).startswith("s3://")
    ]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        computed = pool.map(lambda file: _checksum(file, storage), missing)
        checksums |= zip((file.path for file in missing), computed, strict=True)
    return [replace(file, checksum=checksums[file.path]) for file in files]


def same_content(files: Sequence[tuple[ListedFile, str]], storage: Storage) -> list[bool]:
    """Whether each file has the content that it had under the etag in the ledger.

    The sizes are known to be equal. The answer is False if it cannot be determined.
    """
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(lambda pair: _is_same(pair[0], pair[1], storage), files))


def renamed(
    files: Sequence[ListedFile], known: Mapping[str, tuple[int, str]], listed_paths: Collection[str]
) -> list[tuple[str, str]]:
    """Pairs of old and new path: new files with the content of a known file that is gone."""
    gone = {
        (size, _content_id(noted_etag)): path
        for path, (size, noted_etag) in known.items()
        if path not in listed_paths and size
    }
    found = [
        (gone.get((file.size, _content_id(file.noted_etag))), file.path)
        for file in files
        if file.path not in known
    ]
    return [(old, new) for old, new in found if old is not None]


def _content_id(noted_etag: str) -> str:
    return noted_etag.partition("#")[2] or noted_etag


def touched_etag(file: ListedFile, noted_etag: str) -> str:
    """The etag to store in the ledger for a file with unchanged content and a new etag."""
    checksum = noted_etag.partition("#")[2]
    return f"{file.etag}#{checksum}" if checksum else file.etag


def is_etag_of(noted_etag: str, file: ListedFile) -> bool:
    """Whether the etag in the ledger is the file's current etag."""
    etag = noted_etag.partition("#")[0]
    # Ledgers older than checksums have etags of folder files without the last part (ctime).
    return etag == file.etag or etag == _OLD_ETAG.sub(r"\1", file.etag)


def look_again(files: Sequence[ListedFile], storage: Storage) -> list[str]:
    """The paths of files that changed or vanished since they were listed."""
    listed: dict[str, tuple[int, str]] = {}
    keys: dict[str, list[str]] = {}
    real = {file.path: storage.address(file.path) for file in files}
    for path, address in real.items():
        if address.startswith("s3://"):
            bucket, _, key = address.removeprefix("s3://").partition("/")
            keys.setdefault(bucket, []).append(key)
        else:
            for seen in list_files(path, storage):
                listed[address] = seen.size, seen.etag
    for bucket, named in keys.items():
        listed |= _in_bucket(bucket, _beginning(min(named), max(named)), storage)
    return [file.path for file in files if listed.get(real[file.path]) != (file.size, file.etag)]


def _beginning(first: str, second: str) -> str:
    """The common prefix of two texts."""
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]


def _in_bucket(bucket: str, beginning: str, storage: Storage) -> dict[str, tuple[int, str]]:
    """Size and etag of every object whose key has this prefix."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        pages = storage.s3().get_paginator("list_objects_v2")
        return {
            f"s3://{bucket}/{item['Key']}": (item["Size"], item["ETag"].strip('"'))
            for page in pages.paginate(Bucket=bucket, Prefix=beginning)
            for item in page.get("Contents", ())
        }
    except (BotoCoreError, ClientError) as error:
        raise SourceUnreachable(location=f"s3://{bucket}/{beginning}", cause=str(error)) from error


def _known_checksum(file: ListedFile, known: Mapping[str, tuple[int, str]]) -> str | None:
    size, noted = known.get(file.path, (None, ""))
    is_same = size == file.size and is_etag_of(noted, file)
    return noted.partition("#")[2] or None if is_same else None


def _checksum(file: ListedFile, storage: Storage) -> str | None:
    try:
        return _digest(file, storage, _Plain())
    except OSError:
        return None  # reading its rows will raise the error


def _is_same(file: ListedFile, noted: str, storage: Storage) -> bool:
    if file.size > LARGEST:
        return False
    checksum = noted.partition("#")[2]
    found = _HASH.fullmatch(noted)
    if checksum:
        hashes: list[tuple[_Hash, str]] = [(_Plain(), checksum)]
    elif found is None:
        return False  # recorded by a version without checksums
    elif found["parts"] is None:
        hashes = [(_Plain("md5"), noted)]
    else:
        parts = int(found["parts"])
        sizes = [size for size in _PART_SIZES if -(-file.size // size) == parts]
        hashes = [(_InParts(size), noted) for size in sizes]
    try:
        return any(_digest(file, storage, made) == wanted for made, wanted in hashes)
    except OSError:
        return False


class _Hash(Protocol):
    def update(self, data: bytes) -> None: ...
    def hexdigest(self) -> str: ...


class _Plain:
    """The hash of the whole content."""

    def __init__(self, name: str = "sha256") -> None:
        self._hash = hashlib.new(name, usedforsecurity=False)

    def update(self, data: bytes) -> None:
        self._hash.update(data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()[:32]


class _InParts:
    """The etag that S3 gives to a multipart upload with parts of one size."""

    def __init__(self, size: int) -> None:
        self._size, self._left = size, size
        self._parts: list[Any] = []

    def update(self, data: bytes) -> None:
        while data:
            if not self._parts or self._left == 0:
                self._parts.append(hashlib.md5(usedforsecurity=False))
                self._left = self._size
            now, data = data[: self._left], data[self._left :]
            self._parts[-1].update(now)
            self._left -= len(now)

    def hexdigest(self) -> str:
        digests = b"".join(part.digest() for part in self._parts)
        return f"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(self._parts)}"


def _digest(file: ListedFile, storage: Storage, made: _Hash) -> str:
    for chunk in _content(storage.address(file.path), file.etag, storage):
        made.update(chunk)
    return made.hexdigest()


def _content(real: str, etag: str, storage: Storage) -> Iterator[bytes]:
    if not real.startswith("s3://"):
        with open(real, "rb") as opened:
            while chunk := opened.read(_CHUNK):
                yield chunk
        return
    from botocore.exceptions import BotoCoreError, ClientError

    bucket, _, key = real.removeprefix("s3://").partition("/")
    try:
        got = storage.s3().get_object(Bucket=bucket, Key=key, IfMatch=f'"{etag}"')
        yield from got["Body"].iter_chunks(_CHUNK)
    except ClientError as error:
        if str(error.response.get("Error", {}).get("Code")) in _GONE:
            raise FileNotFoundError(real) from error
        raise SourceUnreachable(location=real, cause=str(error)) from error
    except BotoCoreError as error:
        raise SourceUnreachable(location=real, cause=str(error)) from error
