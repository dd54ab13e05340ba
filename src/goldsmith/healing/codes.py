"""Error codes: every way a stage is known to fail, declared once, in `codes.toml`.

A code is what `healing_actions` pairs a remedy with.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from goldsmith.registry import UnknownName

#: The code of an error that no signal fits.
UNCLASSIFIED = "Unclassified"
_FILE = Path(__file__).with_name("codes.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorCode:
    """One way to fail."""

    name: str
    #: Where the error comes from: source, data, sql, resources, lake, warehouse, access, goldsmith.
    family: str
    cause: str
    advice: str
    #: A later attempt may pass without any change.
    may_pass: bool = False

    def as_plain(self) -> dict[str, object]:
        return asdict(self)


@cache
def codes() -> Mapping[str, ErrorCode]:
    """Every code by its name, family by family."""
    declared = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: ErrorCode(name=name, **attributes) for name, attributes in declared.items()}


def code(name: str) -> ErrorCode:
    """One code by its name."""
    known = codes()
    if name not in known:
        raise UnknownName(noun="error code", name=name, known=tuple(known))
    return known[name]
