"""Tables to ask about: columns, rows and the expectations put to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Expectation = dict[str, Any]

#: Everything, nothing, and the shares that rows of the tables reach exactly.
SHARES = (0.0, 0.5, 2 / 3, 0.75, 1.0)


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows, and what is asked about them."""

    schema: str
    names: Sequence[str]
    rows: Sequence[Sequence[Any]]
    expected: Sequence[Expectation]

    def case(self, number: int) -> dict[str, Any]:
        """As `checks try --jsonl` has it."""
        objects = [dict(zip(self.names, row, strict=True)) for row in self.rows]
        return {
            "id": number,
            "schema": self.schema,
            "rows": objects,
            "checks": list(self.expected),
        }


def column(type_: str, values: Iterable[Any], expected: Iterable[Expectation]) -> Table:
    """A table of one column, `a`."""
    rows = [[value] for value in values]
    return Table(schema=f"a {type_}", names=["a"], rows=rows, expected=list(expected))


def expect(what: str, **settings: Any) -> Expectation:
    """An expectation by the end of its name."""
    return {"type": f"expect_{what}", **settings}


def of(what: str, **settings: Any) -> Expectation:
    """An expectation of the column `a`."""
    return expect(f"column_{what}", column="a", **settings)
