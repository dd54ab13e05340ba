"""Convert any text and any number to a value both databases can store.

A failure must never go unrecorded because its message contains a character a database refuses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from goldsmith.catalog.columns import plain

#: Longer texts are cut in the row; the log has them in full.
MOST_CHARACTERS = 10_000


def fit(value: Any) -> Any:
    """A value both databases accept, in a column or inside JSON."""
    kind = type(value)
    if kind is str:
        is_plain = value.isascii() and len(value) <= MOST_CHARACTERS and "\x00" not in value
        return value if is_plain else _text(value)
    if value is None or kind is int or kind is bool:
        return value
    if isinstance(value, Mapping):
        return {fit(str(name)): fit(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [fit(inner) for inner in value]
    value = plain(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [fit(inner) for inner in value]
    if isinstance(value, bool | int):
        return value
    return _text(str(value))


def _text(value: str) -> str:
    fitting = value.replace("\x00", "�")  # PostgreSQL has no NUL in texts
    if not fitting.isascii():
        # Neither database stores half a surrogate pair.
        fitting = fitting.encode("utf-8", "replace").decode("utf-8")
    if len(fitting) <= MOST_CHARACTERS:
        return fitting
    return fitting[: MOST_CHARACTERS - 1] + "…"
