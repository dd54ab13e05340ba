"""Cases for the oracle: every expectation with a counterpart, on rows that are easily got wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from oracles.expectations import numbers, several, texts, times

#: Of all that could be asked of a table a part is, by turns: so each is asked of several tables.
_TURNS = 3


def cases() -> Iterator[dict[str, Any]]:
    """A table and what is asked of it, in the form of `checks try --jsonl`."""
    every = chain(numbers.tables(), texts.tables(), times.tables(), several.tables())
    for index, table in enumerate(every):
        yield replace(table, expected=table.expected[index % _TURNS :: _TURNS]).case(index)
