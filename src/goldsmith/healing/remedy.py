"""Remedies: functions that decide what to do about a failure, or return None."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, overload

from goldsmith.credentials import Secrets
from goldsmith.errors import GoldsmithError
from goldsmith.healing.failure import Decision, Failure
from goldsmith.planning.integrity.remedies import ONLY_WHERE_ALLOWED, RemedyDeclaration
from goldsmith.registry import Registry

#: Settings that belong to the pair and are not passed to its remedy.
_OF_PAIRS = ("then", ONLY_WHERE_ALLOWED)


@dataclass(frozen=True, kw_only=True, slots=True)
class RemedyContext:
    """What a remedy that calls a script, webhook or function may use."""

    secrets: Secrets
    folder: Path
    #: Why the stage is stopped, or None. Called again while a remedy waits for an answer.
    stopped: Callable[[], str | None] = lambda: None
    #: The endpoint of AWS Lambda, if not the default.
    lambda_endpoint: str | None = None
    #: Local replacements of Lambda functions, by ARN.
    handlers: Mapping[str, str] = field(default_factory=dict)
    region: str | None = None


class RemedyStopped(Exception):
    """The stage was stopped while a remedy ran; the remedy's answer is not used."""

    def __init__(self, because: str) -> None:
        super().__init__(because)
        self.because = because


@dataclass(eq=False, kw_only=True)
class BadRemedySettings(GoldsmithError):
    """A healing row has settings that its remedy does not know."""

    remedy: str
    unknown: tuple[str, ...]
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"The remedy '{self.remedy}' has no settings called {', '.join(self.unknown)}."

    @property
    def hint(self) -> str:
        return f"It has {', '.join(self.known)}." if self.known else "It has none."


class Remedy(RemedyDeclaration):
    """A remedy that decides about failures."""

    function: Callable[..., Decision | None]

    def __call__(
        self, failure: Failure, settings: Mapping[str, Any], outside: RemedyContext | None
    ) -> Decision | None:
        """The remedy's decision about a failure; None where it has none."""
        own_settings = {name: value for name, value in settings.items() if name not in _OF_PAIRS}
        unknown = tuple(sorted(own_settings.keys() - set(self.settings)))
        if unknown:
            raise BadRemedySettings(remedy=self.name, unknown=unknown, known=self.settings)
        more = {"outside": outside} if self.asks_outside else {}
        return self.function(failure, **own_settings, **more)


@overload
def remedy(function: Callable[..., Decision | None]) -> Remedy: ...
@overload
def remedy(*, loosens: str) -> Callable[[Callable[..., Decision | None]], Remedy]: ...
def remedy(
    function: Callable[..., Decision | None] | None = None, *, loosens: str | None = None
) -> Remedy | Callable[[Callable[..., Decision | None]], Remedy]:
    """Make a remedy of a function `(failure, *, settings…) -> Decision | None`."""
    if function is None:
        return partial(Remedy, loosens=loosens)
    return Remedy(function)


REMEDIES = Registry("remedy", package="goldsmith.healing.remedies", kind=Remedy)
