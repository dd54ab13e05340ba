"""What an earlier attempt at a request left for the next, as the request's options hold it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from goldsmith.journal.tables import Request

#: Where in a request's options stands what healing decided.
HEALING = "healing"


@dataclass(frozen=True, kw_only=True, slots=True)
class Resumed:
    """What an earlier attempt at a request left for the next."""

    selection: tuple[str, ...]
    #: The stages that are tried again; none: all of the selection.
    stages: tuple[str, ...] = ()
    #: What stages do otherwise.
    adjust: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Stages that failed and are not tried again.
    held: tuple[str, ...] = ()
    #: How many workers it has cost.
    deaths: int = 0

    @classmethod
    def of(cls, request: Request) -> Resumed:
        said = request.options.get(HEALING, {})
        stages = tuple(said.get("stages", ()))
        return cls(
            selection=tuple(f"stage:{name}" for name in stages) or request.selection,
            stages=stages,
            adjust=said.get("adjust", {}),
            held=tuple(said.get("held", ())),
            deaths=int(said.get("deaths", 0)),
        )

    @property
    def fresh(self) -> bool:
        """Spark and connections are opened anew first."""
        return any(said.get("fresh") for said in self.adjust.values())

    @property
    def at_once(self) -> int | None:
        """How many stages at once, where fewer than usual."""
        said = [int(one["at_once"]) for one in self.adjust.values() if one.get("at_once")]
        return min(said, default=None)
