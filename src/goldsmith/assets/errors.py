"""Errors of items, manifests and bodies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from goldsmith.errors import GoldsmithError, nearest, one_of


@dataclass(eq=False, kw_only=True)
class BadItem(GoldsmithError):
    """An item of a manifest does not have the shape the receiver takes."""

    flow: str
    item: str
    problem: str

    def __str__(self) -> str:
        return f"Item {self.item} of the flow {self.flow} cannot be pushed: {self.problem}."

    @property
    def hint(self) -> str:
        return "Correct the item in the manifest, or collect again."


@dataclass(eq=False, kw_only=True)
class BadManifest(GoldsmithError):
    """A file is not a manifest of a collection."""

    file: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.file} is not a manifest: {self.problem}."

    @property
    def hint(self) -> str:
        return "It is a JSON object with resource_uuid, its type, collected_at and items or edges."


@dataclass(eq=False, kw_only=True)
class ItemTooLarge(GoldsmithError):
    """One item alone is larger than a receiver takes, compressed."""

    flow: str
    item: str
    size: int
    most: int

    def __str__(self) -> str:
        return (
            f"Item {self.item} of the flow {self.flow} has {self.size:,} bytes compressed; "
            f"the receiver takes {self.most:,}."
        )

    @property
    def hint(self) -> str:
        return "Shorten its query text or leave out columns."


@dataclass(eq=False, kw_only=True)
class UnknownLogType(GoldsmithError):
    """The receiver does not know this log_type."""

    log_type: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"'{self.log_type}' is not a log_type."

    @property
    def hint(self) -> str:
        if self.log_type == "hive":
            return "The log_type of Hive is hive-s3."
        guess = nearest(self.log_type, self.known)
        return (f"Did you mean '{guess}'? " if guess else "") + f"Known: {one_of(self.known)}."
