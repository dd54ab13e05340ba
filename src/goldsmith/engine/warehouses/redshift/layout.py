"""Distribution, sort order and encoding of Redshift tables, from the target's options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from goldsmith.engine.names import names
from goldsmith.engine.warehouses.landing import Landing, WarehouseColumn
from goldsmith.errors import GoldsmithError, one_of

_DIST_STYLES = ("auto", "even", "all", "key")
_SORT_STYLES = ("compound", "interleaved")
_ENCODING = re.compile(r"[a-z0-9]+")


@dataclass(eq=False, kw_only=True)
class BadTargetOption(GoldsmithError):
    """A target's option has a value that Redshift does not allow for the table."""

    option: str
    value: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"The target's option {self.option} is '{self.value}'."

    @property
    def hint(self) -> str:
        return f"Known: {one_of(self.known)}."


def layout(landing: Landing, *, sorted_too: bool) -> str:
    """DISTSTYLE, DISTKEY and SORTKEY of a Redshift table, from the target's options."""
    options, parts = landing.options, ""
    distkey = options.get("distkey")
    if style := options.get("diststyle") or ("key" if distkey else None):
        parts += f" DISTSTYLE {_choice('diststyle', style, _DIST_STYLES)}"
    if distkey:
        parts += f" DISTKEY({_option_columns(landing, 'distkey', distkey)})"
    sortkey = options.get("sortkey") if sorted_too else None
    if sortkey is not None:
        style = _choice("sortkey_style", options.get("sortkey_style", "compound"), _SORT_STYLES)
        parts += f" {style} SORTKEY({_option_columns(landing, 'sortkey', sortkey)})"
    return parts


def encoding(landing: Landing, column: WarehouseColumn) -> str:
    """The ENCODE clause of a Redshift column, from the target's options."""
    encodings = landing.options.get("encode")
    if not isinstance(encodings, dict):
        return ""
    declared = {
        landing.names.get(given): encoding_name for given, encoding_name in encodings.items()
    }.get(column.name)
    if declared is None:
        return ""
    if not _ENCODING.fullmatch(str(declared).lower()):
        raise BadTargetOption(option="encode", value=str(declared), known=("az64", "lzo", "zstd"))
    return f" ENCODE {str(declared).lower()}"


def _option_columns(landing: Landing, option: str, value: object) -> str:
    columns = (
        [value]
        if isinstance(value, str)
        else list(value)
        if isinstance(value, list | tuple)
        else []
    )
    if not columns or any(column not in landing.names for column in columns):
        raise BadTargetOption(option=option, value=str(value), known=tuple(landing.names))
    return names([landing.names[column] for column in columns], dialect=landing.dialect.name)


def _choice(option: str, value: object, known: Sequence[str]) -> str:
    choice = str(value).lower()
    if choice not in known:
        raise BadTargetOption(option=option, value=str(value), known=tuple(known))
    return choice.upper()
