"""The declarations of remedies: their names, their settings, and what each loosens.

A remedy is one file of `healing/remedies`, a package above this one. The registry imports its
declaration by its name. So a new remedy needs no list here.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_type_hints

from goldsmith.catalog.defaults import remedies_of
from goldsmith.catalog.retries import HealingAction, HealingStep
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.registry import Registry


class RemedyDeclaration:
    """A remedy as rows name it; its settings are the keyword arguments of its function."""

    def __init__(self, function: Callable[..., Any], *, loosens: str | None = None) -> None:
        self.function = function
        self.name = function.__name__
        parameters = inspect.signature(function).parameters
        keywords = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
        #: The remedy calls a script, webhook or function: that takes time and may have effects.
        self.asks_outside = "outside" in keywords
        self.settings = tuple(name for name in keywords if name != "outside")
        #: How it loosens a stage's checks or schema policy, or leaves out data; None: it does not.
        self.loosens = loosens

    def setting_types(self) -> Mapping[str, Any]:
        """The type of each setting that a row may have."""
        hints = get_type_hints(self.function)
        return {name: hints[name] for name in self.settings if name != "action"}


DECLARATIONS: Registry[RemedyDeclaration] = Registry(
    "remedy", package="goldsmith.healing.remedies", kind=RemedyDeclaration
)
#: Remedies that call something outside. The prefix of an action tells which; a script has none.
OUTSIDE = ("lambda_function", "python", "script", "webhook")


@cache
def built_in() -> tuple[str, ...]:
    """The shipped remedies that rows name as they are, sorted."""
    return tuple(name for name in DECLARATIONS.shipped() if name not in OUTSIDE)


@cache
def loosening() -> Mapping[str, str]:
    """The built-in remedies that loosen a stage's checks or leave out data: how each does it."""
    declared = {name: DECLARATIONS.get(name).loosens for name in built_in()}
    return {name: loosens for name, loosens in declared.items() if loosens is not None}


#: With this setting, a remedy acts only on stages whose `options.remedies` names it.
ONLY_WHERE_ALLOWED = "only_where_allowed"
_BEGINS = {"arn:": "lambda_function", "https://": "webhook", "http://": "webhook"}
#: A command without a path or arguments: it could as well be a misspelt remedy.
_BARE = re.compile(r"[A-Za-z]\w*")


def pairs(rows: CatalogRows) -> Iterator[HealingAction | HealingStep]:
    """Every row that names a remedy."""
    every: list[HealingAction | HealingStep] = [*rows.rows(HealingAction), *rows.rows(HealingStep)]
    yield from (row for row in every if row.action_script)


def needs_permission(row: HealingAction | HealingStep) -> bool:
    """The row's remedy acts only on stages that allow it by name.

    Shipped rows set `only_where_allowed`; for shipped rows of older catalogs it is the default.
    """
    action = str(row.action_script)
    if action not in loosening():
        return False
    if ONLY_WHERE_ALLOWED in row.settings:
        return bool(row.settings[ONLY_WHERE_ALLOWED])
    return row.is_default and not row.settings and action in remedies_of(row.error_code)


def allowed_by(options: Mapping[str, Any]) -> Sequence[str]:
    """The loosening remedies that a stage's options allow by name."""
    names = options.get("remedies", ())
    return [str(name) for name in names] if isinstance(names, list | tuple) else ()


def kind_of(action: str) -> str | None:
    """The remedy that runs a row's action; None for a name that no remedy has."""
    if action in built_in():
        return action
    for begins, kind in {**_BEGINS, "python:": "python"}.items():
        if action.startswith(begins):
            return kind
    if _BARE.fullmatch(action) is None:
        return "script"
    return "plugin" if action in DECLARATIONS and action not in OUTSIDE else None


def settings_of(kind: str) -> Mapping[str, Any] | None:
    """The settings of a shipped remedy with their types; None for other packages' remedies."""
    return DECLARATIONS.get(kind).setting_types() if kind in DECLARATIONS.shipped() else None
