"""An alias: another tool's name for a Goldsmith check, and how its settings translate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = dict[str, Any]


@dataclass(frozen=True)
class Alias:
    """The translation of another tool's check into a Goldsmith check."""

    #: The Goldsmith check.
    to: str
    #: The tool's setting → Goldsmith's setting.
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: Settings the tool implies; a given setting overrides them.
    implied: Mapping[str, Any] = field(default_factory=dict)
    #: Converts settings that differ in more than their name; called after renaming.
    changed: Callable[[Settings], Settings] | None = None

    def apply(self, theirs: Mapping[str, Any]) -> Settings:
        """Translate the tool's settings into an entry for the Goldsmith check."""
        ours = {self.renamed.get(name, name): value for name, value in theirs.items()}
        if self.changed is not None:
            ours = self.changed(ours)
        return {"type": self.to, **self.implied, **ours}
