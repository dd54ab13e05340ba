"""Show a changed value: in one line, or as a line-by-line diff if it is long."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

#: Values up to this length are shown in one line.
_SHORT = 60


def changed_lines(name: str, old: Any, new: Any) -> Iterator[str]:
    """`name: old → new` if both are short, else the lines that differ."""
    before, after = _text(old), _text(new)
    if max(len(before), len(after)) <= _SHORT and "\n" not in before + after:
        yield f"{name}: {before} → {after}"
        return
    yield f"{name}:"
    if before == after:  # only invisible parts differ: line ends, or types
        yield f"  - {old!r}"
        yield f"  + {new!r}"
        return
    compared = difflib.unified_diff(_lines(before), _lines(after), lineterm="", n=2)
    for line in list(compared)[2:]:
        yield "  …" if line.startswith("@@") else f"  {line[0]} {line[1:]}".rstrip()


def _lines(text: str) -> list[str]:
    return text.splitlines()


def _text(value: Any) -> str:
    """A value as text: SQL with its lines, a long mapping or list with one entry a line."""
    if value is None or value == {} or value == () or value == []:
        return "not set"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | list | tuple):
        flat = json.dumps(value, ensure_ascii=False, default=_plain)
        if len(flat) <= _SHORT:
            return flat
        return json.dumps(value, ensure_ascii=False, default=_plain, indent=2)
    return str(value)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
