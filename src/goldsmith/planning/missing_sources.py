"""Sources whose path has no file and never had one: most likely the path is mistyped."""

from __future__ import annotations

import os
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goldsmith.storage.storage import Storage

#: The key in `stage_runs.facts` of the sentences about such sources.
SOURCES_MISSING = "sources_missing"
_MOST = 1000


def describe(dataset: str, location: str, storage: Storage) -> str:
    """A sentence that the path has no file, with the most similar path that exists."""
    base = location.rstrip("/")
    parent, _, name = base.rpartition("/")
    names = () if parent in ("", "s3:/") else _beside(storage.address(parent), storage)
    matches = get_close_matches(name, names, n=1)
    meant = f"; did you mean {parent}/{matches[0]}?" if matches else ""
    source = f"s3_path of source '{dataset}'"
    return f"there is no file at {location} and there never was one ({source}){meant}"


def _beside(real: str, storage: Storage) -> Iterable[str]:
    """The names in a folder or at an S3 prefix, at most `_MOST`."""
    if not real.startswith("s3://"):
        return sorted(os.listdir(real))[:_MOST] if os.path.isdir(real) else ()
    bucket, _, key = real.removeprefix("s3://").partition("/")
    prefix = f"{key.rstrip('/')}/" if key.strip("/") else ""
    found = storage.s3().list_objects_v2(Bucket=bucket, Prefix=prefix, Delimiter="/", MaxKeys=_MOST)
    folders = [entry["Prefix"] for entry in found.get("CommonPrefixes", ())]
    files = [entry["Key"] for entry in found.get("Contents", ())]
    return [path.rstrip("/").rpartition("/")[2] for path in (*folders, *files)]
