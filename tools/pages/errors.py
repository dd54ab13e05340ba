"""docs/reference/errors.md: every error a person can meet."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import goldsmith
from goldsmith.errors import GoldsmithError
from goldsmith.healing.codes import codes
from pages.markdown import code, filled, sentence, table

#: Alembic's own scripts run when they are imported.
_NOT_IMPORTED = "goldsmith.catalog.migrations."


def page() -> str:
    rows = [
        (
            code(kind.__name__),
            sentence(kind.__doc__),
            "yes" if kind.transient else "no",
            str(kind.exit_code),
            code(kind.__module__),
        )
        for kind in known()
    ]
    heads = ["code", "what it means", "may pass", "exit", "where"]
    return filled("errors.md", {"errors": table(heads, rows), "codes": _codes()})


def _codes() -> str:
    rows = [
        (
            code(error_code.name),
            error_code.family,
            error_code.cause,
            "yes" if error_code.may_pass else "no",
            error_code.advice,
        )
        for error_code in codes().values()
    ]
    return table(["code", "family", "cause", "may pass", "what to do"], rows)


def known() -> list[type[GoldsmithError]]:
    """Every error class of the package, by code."""
    for module in walk_packages(goldsmith.__path__, "goldsmith."):
        if not module.name.startswith(_NOT_IMPORTED):
            import_module(module.name)
    return sorted(set(_below(GoldsmithError)), key=lambda kind: kind.__name__)


def _below(kind: type[GoldsmithError]) -> Iterator[type[GoldsmithError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _below(child)
