"""A check: one function whose signature is its settings, found by the name of its file.

A row check gives the condition of a *broken* row; a dataset check gives what it wants measured
(`measures.py`). A parameter of type `Field` takes a column's name and is handed the column;
positional-only parameters (`rows`, `context`) are handed in and are no settings. Nothing here
needs Spark: the functions import it when they are called.
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
from goldsmith.checks.settings import Setting, Share
from goldsmith.errors import nearest
from goldsmith.registry import Registry


class Cost(StrEnum):
    """What it takes to measure a check."""

    #: Nothing: the schema or the journal has the answer.
    NOTHING = "nothing"
    #: It rides on the pass that evaluates or writes the rows.
    RIDES = "rides on the write"
    #: It takes part in the one job that counts the keys of all such checks.
    KEYS = "the key job"
    #: A pass over the rows of its own.
    PASS = "a pass of its own"
    #: It reads another dataset.
    LOOKUP = "reads another dataset"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check by name: what it says of broken data, and the settings it takes."""

    name: str
    #: What is said of a broken row or dataset, with settings in braces.
    says: str
    is_row_check: bool
    cost: Cost
    function: Callable[..., Any]
    settings: Mapping[str, Setting]
    #: What the function is handed beside its settings: rows, context.
    handed: tuple[str, ...] = ()
    #: At least one of these must be given.
    any_of: tuple[str, ...] = ()

    @cached_property
    def documentation(self) -> str:
        """The docstring of the check's file."""
        return inspect.cleandoc(import_module(self.function.__module__).__doc__ or "")

    @cached_property
    def usage(self) -> str:
        """The settings in words, the ones of every check after them."""
        own = ", ".join(setting.usage for setting in self.settings.values())
        return f"{own}; of every check: {', '.join(EVERY_CHECK)}"

    def problems(self, settings: Mapping[str, Any]) -> list[str]:
        """What is wrong with the settings of a check_def entry, as ends of a sentence."""
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
        if self.any_of and not any(settings.get(name) is not None for name in self.any_of):
            found.append(f"needs the setting {' or '.join(self.any_of)}")
        return found

    def columns(self, settings: Mapping[str, Any]) -> Iterator[str]:
        """The columns of the rows that the settings name."""
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
    """A check of each row by itself: the function gives the condition of a broken one."""
    return _maker(says, any_of, Cost.RIDES, is_row_check=True)


def dataset_check(
    *, says: str, any_of: tuple[str, ...] = (), cost: Cost = Cost.RIDES
) -> Callable[[Callable[..., Any]], Check]:
    """A check of all rows together, or of their schema."""
    return _maker(says, any_of, cost, is_row_check=False)


def _maker(
    says: str, any_of: tuple[str, ...], cost: Cost, *, is_row_check: bool
) -> Callable[[Callable[..., Any]], Check]:
    def make(function: Callable[..., Any]) -> Check:
        settings, handed = _parameters(function)
        return Check(
            name=function.__name__,
            says=says,
            is_row_check=is_row_check,
            cost=cost,
            function=function,
            settings=settings,
            handed=handed,
            any_of=any_of,
        )

    return make


def _parameters(
    function: Callable[..., Any],
) -> tuple[Mapping[str, Setting], tuple[str, ...]]:
    # Names of Spark's types stand in signatures and are not imported: any object will do.
    spark = dict.fromkeys(("Column", "DataFrame", "StructType"), object)
    signature = inspect.signature(function, eval_str=True, locals=spark)
    parameters = signature.parameters.values()
    handed = tuple(one.name for one in parameters if one.kind is one.POSITIONAL_ONLY)
    settings = {one.name: Setting.of(one) for one in parameters if one.name not in handed}
    return MappingProxyType(settings), handed


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
    """The settings every check takes beside its own."""


EVERY_CHECK: Mapping[str, Setting] = _parameters(_every_check)[0]


def _bad_patterns(value: str | Collection[str]) -> list[str]:
    patterns = [value] if isinstance(value, str) else value
    reasons = ((pattern, why_not(pattern)) for pattern in patterns)
    return [
        f"has the pattern {_shown(pattern)}, which does not compile: {reason}"
        for pattern, reason in reasons
        if reason is not None
    ]


def _shown(value: object) -> str:
    said = f"'{value}'" if isinstance(value, str | int | float) else type(value).__name__
    return said if len(said) <= 80 else f"{said[:79]}…"


CHECKS = Registry("check", package="goldsmith.checks.library", kind=Check)
