"""Remedies: functions that look at a failure and decide, or say that it is not theirs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldsmith.credentials import Secrets
from goldsmith.errors import GoldsmithError
from goldsmith.healing.failure import Decision, Failure
from goldsmith.registry import Registry


@dataclass(frozen=True, kw_only=True, slots=True)
class Outside:
    """What a remedy that asks somebody else may use."""

    secrets: Secrets
    folder: Path
    #: Why the stage is stopped, if it is: asked while somebody is waited for.
    stopped: Callable[[], str | None] = lambda: None
    #: Where AWS is, if not where it usually is.
    aws_endpoint: str | None = None
    region: str | None = None


class RemedyStopped(Exception):
    """The stage was stopped by a row while a remedy was at work; what it would say is not used."""

    def __init__(self, because: str) -> None:
        super().__init__(because)
        self.because = because


@dataclass(eq=False, kw_only=True)
class BadRemedySettings(GoldsmithError):
    """A pair gives its remedy settings it does not know."""

    remedy: str
    unknown: tuple[str, ...]
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"The remedy '{self.remedy}' has no settings called {', '.join(self.unknown)}."

    @property
    def hint(self) -> str:
        return f"It has {', '.join(self.known)}." if self.known else "It has none."


class Remedy:
    """A remedy; its settings are the keywords of its function."""

    def __init__(self, function: Callable[..., Decision | None]) -> None:
        self.function = function
        self.name = function.__name__
        parameters = inspect.signature(function).parameters
        words = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
        #: It asks somebody outside, so it is not cheap and may have effects.
        self.asks_outside = "outside" in words
        self.settings = tuple(word for word in words if word != "outside")

    def __call__(
        self, failure: Failure, settings: Mapping[str, Any], outside: Outside | None
    ) -> Decision | None:
        """What it decides about a failure; None where it has no answer."""
        said = {name: value for name, value in settings.items() if name != "then"}
        unknown = tuple(sorted(said.keys() - set(self.settings)))
        if unknown:
            raise BadRemedySettings(remedy=self.name, unknown=unknown, known=self.settings)
        more = {"outside": outside} if self.asks_outside else {}
        return self.function(failure, **said, **more)


def remedy(function: Callable[..., Decision | None]) -> Remedy:
    """Make a remedy of a function `(failure, *, settings…) -> Decision | None`."""
    return Remedy(function)


REMEDIES = Registry("remedy", package="goldsmith.healing.remedies", kind=Remedy)
