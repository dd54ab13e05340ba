"""The retry state of a request, stored in its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from goldsmith.journal.tables import Request

#: The key of the retry state in a request's options.
HEALING = "healing"


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryState:
    """What earlier attempts at a request decided for the next."""

    selection: tuple[str, ...]
    #: The stages to retry; empty: all of the selection.
    stages: tuple[str, ...] = ()
    #: Retry overrides by stage id.
    adjust: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Stages that failed and are not retried.
    held: tuple[str, ...] = ()
    #: How many workers died while they ran this request.
    deaths: int = 0

    @classmethod
    def of(cls, request: Request) -> RetryState:
        options = request.options.get(HEALING, {})
        stages = tuple(options.get("stages", ()))
        return cls(
            selection=tuple(f"stage:{name}" for name in stages) or request.selection,
            stages=stages,
            adjust=options.get("adjust", {}),
            held=tuple(options.get("held", ())),
            deaths=int(options.get("deaths", 0)),
        )

    @property
    def fresh(self) -> bool:
        """Whether to reopen Spark and all connections first."""
        return any(overrides.get("fresh") for overrides in self.adjust.values())

    @property
    def at_once(self) -> int | None:
        """The lowest limit of parallel stages among the overrides; None: no limit."""
        limits = [
            int(overrides["at_once"])
            for overrides in self.adjust.values()
            if overrides.get("at_once")
        ]
        return min(limits, default=None)
