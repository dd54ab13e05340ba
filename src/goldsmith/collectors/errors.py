"""Errors of collections."""

from __future__ import annotations

from dataclasses import dataclass

from goldsmith.errors import GoldsmithError, nearest, one_of


@dataclass(eq=False, kw_only=True)
class WarehouseRefused(GoldsmithError):
    """A warehouse cannot be reached, or refuses the connection."""

    warehouse: str
    because: str
    transient = True
    exit_code = 1

    def __str__(self) -> str:
        return f"{self.warehouse} cannot be collected from: {self.because}"

    @property
    def hint(self) -> str:
        return "Check the settings given with --set, and the rights of the user."


@dataclass(eq=False, kw_only=True)
class CollectionLost(GoldsmithError):
    """A warehouse dropped the connection during a collection; no manifest was written."""

    warehouse: str
    collected: int
    because: str
    transient = True
    exit_code = 1

    def __str__(self) -> str:
        return (
            f"{self.warehouse} ended the connection after {self.collected:,} items: {self.because}"
        )

    @property
    def hint(self) -> str:
        return "Nothing was written; collect again, perhaps with fewer schemas (--include)."


@dataclass(eq=False, kw_only=True)
class FlowNotCollected(GoldsmithError):
    """A warehouse has no such flow."""

    warehouse: str
    flow: str
    reason: str

    def __str__(self) -> str:
        return f"{self.flow} of {self.warehouse} cannot be collected: {self.reason}."

    @property
    def hint(self) -> str:
        return "docs/push/collectors.md lists the flows of each warehouse."


@dataclass(eq=False, kw_only=True)
class BadConnectionSetting(GoldsmithError):
    """A setting of a warehouse's connection is unknown, missing or in plain text."""

    warehouse: str
    setting: str
    problem: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"The setting '{self.setting}' of {self.warehouse} {self.problem}."

    @property
    def hint(self) -> str:
        guess = nearest(self.setting, self.known)
        known = f"Known: {one_of(self.known)}."
        if "reference" in self.problem:
            return "Write --set NAME=env:VARIABLE, or file:PATH, or aws-secret:ARN."
        return f"Did you mean '{guess}'? {known}" if guess and guess != self.setting else known
