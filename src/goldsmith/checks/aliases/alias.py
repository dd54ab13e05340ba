"""An alias: another tool's name for a check of ours, and what its settings are called here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = dict[str, Any]


@dataclass(frozen=True)
class Alias:
    """Another tool's check as one of ours."""

    #: Our check.
    to: str
    #: Their setting → ours.
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: What the tool means without saying so; a setting that is given comes first.
    implied: Mapping[str, Any] = field(default_factory=dict)
    #: For settings that differ in more than their name: given ours, with theirs left over.
    changed: Callable[[Settings], Settings] | None = None

    def apply(self, theirs: Mapping[str, Any]) -> Settings:
        """Their settings by our names."""
        ours = {self.renamed.get(name, name): value for name, value in theirs.items()}
        if self.changed is not None:
            ours = self.changed(ours)
        return {"type": self.to, **self.implied, **ours}
