"""Find the files of a load: keys and patterns, always below the tenant's own prefix.

`*` and `?` match within one part of a path, `**` spans any number of parts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.storage.files import ListedFile, list_files
from goldsmith.storage.storage import Storage

#: As the clients' own model has it.
MOST_KEYS, MOST_PATTERNS = 100, 10
#: A load matches at most this many files: its row lists them.
MOST_FILES = 10_000
_LONGEST = 1024
_TENANT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,126}\Z")
_WILD = re.compile(r"[*?]")


@dataclass(eq=False, kw_only=True)
class BadLoad(GoldsmithError):
    """A load is not valid as submitted."""

    problem: str

    def __str__(self) -> str:
        return f"The load cannot be accepted: {self.problem}"

    @property
    def hint(self) -> str:
        return "docs/lakehouse.md has the fields of a load and what they may be."


def tenant_location(storage: Storage, tenant: str) -> str:
    """Where the files of a tenant are, as a catalog address; raises BadLoad."""
    if not _TENANT.match(tenant):
        raise BadLoad(problem="the tenant's name has characters other than letters, digits, _, -.")
    return f"{storage.settings.lakehouse.location.rstrip('/')}/{tenant}"


def checked_path(text: Any, *, is_pattern: bool) -> str:
    """A key or pattern that stays below the tenant's prefix; raises BadLoad."""
    what = "pattern" if is_pattern else "file key"
    if not isinstance(text, str) or not text or len(text) > _LONGEST:
        raise BadLoad(problem=f"a {what} is a text of 1 to {_LONGEST} characters.")
    shown = f"the {what} {text[:200]!r}"
    if not text.isprintable() or "\\" in text:
        raise BadLoad(problem=f"{shown} has control characters or backslashes.")
    if "://" in text or text.startswith("/") or re.match(r"[A-Za-z]:", text):
        raise BadLoad(problem=f"{shown} is not relative to the tenant's own location.")
    if any(part in ("", ".", "..") for part in text.split("/")):
        raise BadLoad(problem=f"{shown} has an empty part, `.` or `..`.")
    if is_pattern and re.search(r"[\[\]{}]", text):
        raise BadLoad(problem=f"{shown} has brackets; only *, ** and ? are patterns.")
    return text


def resolve(
    storage: Storage, tenant: str, patterns: Sequence[str], file_keys: Sequence[str]
) -> list[ListedFile]:
    """The files that keys and patterns name, each once; raises BadLoad if there are too many."""
    base = tenant_location(storage, tenant)
    found: dict[str, ListedFile] = {}
    for key in file_keys:
        there = [
            file for file in list_files(f"{base}/{key}", storage) if file.path == f"{base}/{key}"
        ]
        if not there:
            raise BadLoad(problem=f"there is no file with the key {key!r}.")
        found[there[0].path] = there[0]
    for pattern in patterns:
        matches = compiled(pattern)
        folder = f"{base}/{_folder(pattern)}".rstrip("/")
        for file in list_files(folder, storage):
            if matches.fullmatch(file.path.removeprefix(f"{base}/")):
                found[file.path] = file
    if len(found) > MOST_FILES:
        raise BadLoad(
            problem=f"it matches {len(found):,} files; at most {MOST_FILES:,} are loaded at once."
        )
    for file in found.values():
        _refuse_link_outside(storage, base, file)
    return [found[path] for path in sorted(found)]


def _folder(pattern: str) -> str:
    """The folder that every file of a pattern is in: its parts before the first wildcard."""
    parts = pattern.split("/")[:-1]
    wild = next((index for index, part in enumerate(parts) if _WILD.search(part)), len(parts))
    return "/".join(parts[:wild])


@lru_cache(256)
def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a pattern."""
    parts = pattern.split("/")
    text = ""
    for index, part in enumerate(parts):
        is_last = index == len(parts) - 1
        if part == "**":
            text += ".*" if is_last else "(?:[^/]+/)*"
            continue
        text += re.sub(r"\\\*(?:\\\*)*", "[^/]*", re.escape(part)).replace(r"\?", "[^/]")
        text += "" if is_last else "/"
    return re.compile(text, re.DOTALL)


def _refuse_link_outside(storage: Storage, base: str, file: ListedFile) -> None:
    real = storage.address(file.path)
    if real.startswith("s3://"):
        return
    allowed = os.path.realpath(storage.address(base))
    if not os.path.realpath(real).startswith(f"{allowed}{os.sep}"):
        raise BadLoad(problem=f"{file.path} is a link to a file outside the tenant's location.")
