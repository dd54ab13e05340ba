"""Cursors: the position after the last item of a page, as one opaque text."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Query

from goldsmith.errors import BadRequest

T = TypeVar("T")

Limit = Annotated[int, Query(ge=1, le=1000, description="How many items at most.")]
Cursor = Annotated[
    str | None, Query(max_length=2000, description="`next` of the page before; unset: the first.")
]


def cursor_of(position: Sequence[Any]) -> str:
    """The cursor of a position."""
    text = json.dumps(list(position), ensure_ascii=False, default=str)
    return base64.urlsafe_b64encode(text.encode("utf-8")).decode("ascii")


def position_of(cursor: str | None, *kinds: Callable[[Any], Any]) -> list[Any] | None:
    """The position of a cursor, its parts converted by `kinds`; None for the first page."""
    if cursor is None:
        return None
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")).decode("utf-8"))
        if not isinstance(parts, list) or len(parts) != len(kinds):
            raise ValueError(cursor)
        return [kind(part) for kind, part in zip(kinds, parts, strict=True)]
    except (ValueError, TypeError, OverflowError, binascii.Error, UnicodeError) as error:
        raise BadRequest(
            sentence="The cursor is not one of this list.",
            advice="Take `next` of the page before unchanged, or leave the cursor out.",
        ) from error


def page(
    items: Sequence[T],
    limit: int,
    shown: Callable[[T], Any],
    position: Callable[[T], Sequence[Any]],
) -> dict[str, Any]:
    """A page of items that were read with `limit + 1`: the extra one tells that more follow."""
    more = len(items) > limit
    kept = items[:limit]
    return {
        "items": [shown(item) for item in kept],
        "next": cursor_of(position(kept[-1])) if more else None,
    }


def page_by_key(
    rows: Sequence[dict[str, Any]],
    key: Callable[[dict[str, Any]], str],
    cursor: str | None,
    limit: int,
) -> dict[str, Any]:
    """A page of rows that are all in memory, ordered by a text key."""
    ordered = sorted(rows, key=key)
    if (after := position_of(cursor, str)) is not None:
        ordered = [row for row in ordered if key(row) > after[0]]
    return page(ordered[: limit + 1], limit, lambda row: row, lambda row: [key(row)])
