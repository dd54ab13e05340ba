"""Errors of opening, reading and changing the catalog."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.settings.values import without_password


@dataclass(eq=False, kw_only=True)
class CatalogUnreachable(GoldsmithError):
    """The catalog's database does not answer."""

    transient = True
    exit_code = 1

    url: str
    cause: str

    @classmethod
    def of(cls, url: str, cause: object) -> CatalogUnreachable:
        """The error for a catalog whose URL may contain a password."""
        return cls(url=without_password(url), cause=without_password(str(cause).strip(), url))

    def __str__(self) -> str:
        return f"The catalog at {self.url} cannot be reached: {self.cause}"

    @property
    def hint(self) -> str:
        return "`goldsmith config check` tries every connection and says what is wrong."


@dataclass(eq=False, kw_only=True)
class CatalogDamaged(GoldsmithError):
    """The file of the catalog is damaged, or no SQLite database at all."""

    exit_code = 1

    url: str
    cause: str

    @classmethod
    def of(cls, url: str, cause: object) -> CatalogDamaged:
        return cls(url=without_password(url), cause=str(cause).strip())

    def __str__(self) -> str:
        return f"The catalog at {self.url} cannot be read: {self.cause}"

    @property
    def hint(self) -> str:
        return (
            "Nothing was changed. Put it back from a backup (`catalog.db.backup_…` beside it is "
            "from the last migration), together with no `-wal` file of the damaged one."
        )


def is_damaged(error: BaseException | None) -> bool:
    """Whether a driver's error is that the file of a SQLite database is damaged or none."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@dataclass(eq=False, kw_only=True)
class CatalogTooNew(GoldsmithError):
    """The catalog was created or migrated by a newer Goldsmith."""

    found: str
    known: str

    def __str__(self) -> str:
        return (
            f"This catalog has version {self.found}; "
            f"this Goldsmith knows versions up to {self.known}."
        )

    @property
    def hint(self) -> str:
        return "Upgrade Goldsmith, or go back to the backup made before the migration."


@dataclass(eq=False, kw_only=True)
class CatalogTooOld(GoldsmithError):
    """The catalog has to be migrated before this Goldsmith can use it."""

    found: str
    known: str

    def __str__(self) -> str:
        return f"This catalog has version {self.found}; this Goldsmith needs {self.known}."

    @property
    def hint(self) -> str:
        return "`goldsmith catalog migrate` makes a backup and migrates it."


@dataclass(eq=False, kw_only=True)
class RowRefused(GoldsmithError):
    """The database refuses a row: it breaks a constraint or does not fit its column."""

    table: str
    key: str
    cause: str

    def __str__(self) -> str:
        return f"The database refuses {self.table} '{self.key}': {self.cause}"

    @property
    def hint(self) -> str:
        return f"`goldsmith catalog schema` says what a row of {self.table} may hold."


@dataclass(eq=False, kw_only=True)
class UnknownRevision(GoldsmithError):
    """There is no such revision in the history."""

    revision: int
    newest: int

    def __str__(self) -> str:
        return f"There is no change {self.revision} in the history; the newest is {self.newest}."

    @property
    def hint(self) -> str:
        return "`goldsmith catalog history` lists them."


@dataclass(eq=False, kw_only=True)
class ChangedSince(GoldsmithError):
    """A row to be undone was changed again afterwards."""

    table: str
    key: str
    revision: int
    later: int
    undone_to: Mapping[str, Any] | None
    now: Mapping[str, Any] | None

    def __str__(self) -> str:
        return (
            f"{self.table} '{self.key}' was changed again in revision {self.later}, "
            f"after revision {self.revision}.\n"
            f"  undone it would be: {_shown(self.undone_to)}\n"
            f"  it is now:          {_shown(self.now)}"
        )

    @property
    def hint(self) -> str:
        return (
            f"Undo revision {self.later} first, or everything since: "
            f"`goldsmith catalog undo --since {self.revision - 1}`."
        )


def _shown(image: Mapping[str, Any] | None) -> str:
    if image is None:
        return "not there"
    return ", ".join(f"{name}={value!r}" for name, value in image.items() if value is not None)
