"""How Redshift lays a table out: distribution, order and encoding, as the target's options say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from goldsmith.engine.names import names
from goldsmith.engine.warehouses.landing import Column, Landing
from goldsmith.errors import GoldsmithError, one_of
from goldsmith.settings.sections import WarehouseKind

_DIST_STYLES = ("auto", "even", "all", "key")
_SORT_STYLES = ("compound", "interleaved")
_ENCODING = re.compile(r"[a-z0-9]+")


@dataclass(eq=False, kw_only=True)
class BadTargetOption(GoldsmithError):
    """A target's option says something that no table can be."""

    option: str
    said: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"The target's option {self.option} is '{self.said}'."

    @property
    def hint(self) -> str:
        return f"Known: {one_of(self.known)}."


def layout(landing: Landing, *, sorted_too: bool) -> str:
    """DISTSTYLE, DISTKEY and SORTKEY of a Redshift table, as the target's options say."""
    if landing.kind is not WarehouseKind.REDSHIFT:
        return ""
    said, parts = landing.options, ""
    distkey = said.get("distkey")
    if style := said.get("diststyle") or ("key" if distkey else None):
        parts += f" DISTSTYLE {_word('diststyle', style, _DIST_STYLES)}"
    if distkey:
        parts += f" DISTKEY({_option_columns(landing, 'distkey', distkey)})"
    sortkey = said.get("sortkey") if sorted_too else None
    if sortkey is not None:
        style = _word("sortkey_style", said.get("sortkey_style", "compound"), _SORT_STYLES)
        parts += f" {style} SORTKEY({_option_columns(landing, 'sortkey', sortkey)})"
    return parts


def encoding(landing: Landing, column: Column) -> str:
    """How Redshift is to keep a column, as the target's options say."""
    said = landing.options.get("encode")
    if landing.kind is not WarehouseKind.REDSHIFT or not isinstance(said, dict):
        return ""
    chosen = {landing.names.get(given): word for given, word in said.items()}.get(column.name)
    if chosen is None:
        return ""
    if not _ENCODING.fullmatch(str(chosen).lower()):
        raise BadTargetOption(option="encode", said=str(chosen), known=("az64", "lzo", "zstd"))
    return f" ENCODE {str(chosen).lower()}"


def _option_columns(landing: Landing, option: str, said: object) -> str:
    asked = (
        [said] if isinstance(said, str) else list(said) if isinstance(said, list | tuple) else []
    )
    if not asked or any(one not in landing.names for one in asked):
        raise BadTargetOption(option=option, said=str(said), known=tuple(landing.names))
    return names([landing.names[one] for one in asked], dialect=landing.kind)


def _word(option: str, said: object, known: Sequence[str]) -> str:
    word = str(said).lower()
    if word not in known:
        raise BadTargetOption(option=option, said=str(said), known=tuple(known))
    return word.upper()
