"""A check: one function whose signature is its settings, found by the name of its file.

A row check returns the condition of a *broken* row; a dataset check returns what to measure
(`measures.py`). A setting of type `Field` is written as a column's name, and the function receives
the column. Positional-only parameters (`rows`, `context`) are no settings: the evaluation passes
them. Nothing here needs Spark: the functions import it when they are called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import Any, Literal

from goldsmith.checks.field import Field
from goldsmith.checks.patterns import why_not
from goldsmith.checks.settings import CheckSetting, Share
from goldsmith.errors import nearest
from goldsmith.registry import Registry

_BOUNDS = frozenset(("min", "max"))


class Cost(StrEnum):
    """What it costs to measure a check."""

    #: No job: the schema or the journal has the answer.
    NOTHING = "nothing"
    #: Measured in the pass that writes or evaluates the rows.
    RIDES = "rides on the write"
    #: Measured in the one job that counts the keys of all such checks.
    KEYS = "the key job"
    #: Measured in an extra pass over the rows.
    PASS = "a pass of its own"
    #: Reads another dataset.
    LOOKUP = "reads another dataset"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check: its name, its message about broken data, and the settings it takes."""

    name: str
    #: The message about a broken row or dataset, with settings in braces.
    says: str
    is_row_check: bool
    cost: Cost
    function: Callable[..., Any]
    settings: Mapping[str, CheckSetting]
    #: Arguments of the function that are no settings: rows, context.
    injected: tuple[str, ...] = ()
    #: At least one of these must be given.
    any_of: tuple[str, ...] = ()

    @cached_property
    def documentation(self) -> str:
        """The docstring of the check's file."""
        return inspect.cleandoc(import_module(self.function.__module__).__doc__ or "")

    @cached_property
    def usage(self) -> str:
        """The check's own settings with their types, then the names of those all checks take."""
        own = ", ".join(setting.usage for setting in self.settings.values())
        return f"{own}; of every check: {', '.join(EVERY_CHECK)}"

    def problems(self, settings: Mapping[str, Any]) -> list[str]:
        """What is wrong with the settings of a check_def entry, each as the end of a sentence."""
        found: list[str] = []
        for name, value in settings.items():
            setting = self.settings.get(name) or EVERY_CHECK.get(name)
            if setting is None:
                if name != "type":
                    found.append(self._unknown(str(name)))
            elif not setting.takes(value):
                found.append(f"takes {setting.kind} as {name}, and {_shown(value)} is not one")
            elif setting.is_regex:
                found += _bad_patterns(value)
        for name in self._required:
            if name not in settings:
                found.append(f"needs the setting {name}")
        if settings.get("per") is not None and not self.is_row_check:
            found.append("takes no per, for it is no check of single rows")
        # `min: null` with `max: null` counts as given: every value is between them.
        are_empty = _BOUNDS.issubset(self.any_of) and _BOUNDS.issubset(settings)
        given = any(settings.get(name) is not None for name in self.any_of)
        if self.any_of and not given and not are_empty:
            found.append(f"needs the setting {' or '.join(self.any_of)}")
        return found

    def columns(self, settings: Mapping[str, Any]) -> Iterator[str]:
        """The names of columns in the settings."""
        for setting in (*self.settings.values(), EVERY_CHECK["per"]):
            if setting.name in settings:
                yield from setting.columns(settings[setting.name])

    @cached_property
    def _required(self) -> tuple[str, ...]:
        return tuple(setting.name for setting in self.settings.values() if setting.is_required)

    def _unknown(self, name: str) -> str:
        guess = nearest(name[:100], (*self.settings, *EVERY_CHECK))
        return f"has no setting '{name}'" + (f" (did you mean '{guess}'?)" if guess else "")


def row_check(*, says: str, any_of: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Check]:
    """Make a check of single rows: the function returns the condition of a broken row."""
    return _maker(says, any_of, Cost.RIDES, is_row_check=True)


def dataset_check(
    *, says: str, any_of: tuple[str, ...] = (), cost: Cost = Cost.RIDES
) -> Callable[[Callable[..., Any]], Check]:
    """Make a check of all rows together, or of their schema."""
    return _maker(says, any_of, cost, is_row_check=False)


def _maker(
    says: str, any_of: tuple[str, ...], cost: Cost, *, is_row_check: bool
) -> Callable[[Callable[..., Any]], Check]:
    def make(function: Callable[..., Any]) -> Check:
        settings, injected = _parameters(function)
        return Check(
            name=function.__name__,
            says=says,
            is_row_check=is_row_check,
            cost=cost,
            function=function,
            settings=settings,
            injected=injected,
            any_of=any_of,
        )

    return make


def _parameters(
    function: Callable[..., Any],
) -> tuple[Mapping[str, CheckSetting], tuple[str, ...]]:
    # Signatures name Spark types that are not imported at runtime: `object` stands in for them.
    spark = dict.fromkeys(("Column", "DataFrame", "StructType"), object)
    signature = inspect.signature(function, eval_str=True, locals=spark)
    parameters = signature.parameters.values()
    injected = tuple(
        parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_ONLY
    )
    settings = {
        parameter.name: CheckSetting.of(parameter)
        for parameter in parameters
        if parameter.name not in injected
    }
    return MappingProxyType(settings), injected


def _every_check(
    *,
    severity: Literal["critical", "warning", "info"],
    on_fail: Literal["fail", "quarantine", "drop", "warn"],
    mostly: Share,
    max_broken: int,
    per: Field | Sequence[Field],
    where: str,
    scope: Literal["batch", "table"],
    description: str,
    name: str,
) -> None:
    """The settings every check takes besides its own."""


EVERY_CHECK: Mapping[str, CheckSetting] = _parameters(_every_check)[0]


def _bad_patterns(value: str | Collection[str]) -> list[str]:
    patterns = [value] if isinstance(value, str) else value
    reasons = ((pattern, why_not(pattern)) for pattern in patterns)
    return [
        f"has the pattern {_shown(pattern)}, which does not compile: {reason}"
        for pattern, reason in reasons
        if reason is not None
    ]


def _shown(value: object) -> str:
    text = f"'{value}'" if isinstance(value, str | int | float) else type(value).__name__
    return text if len(text) <= 80 else f"{text[:79]}…"


CHECKS = Registry("check", package="goldsmith.checks.library", kind=Check)
