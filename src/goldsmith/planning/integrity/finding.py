"""A finding: what is wrong with the rows, how bad that is, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.neighbourhood import Neighbourhood

_LONGEST = 1_000


class Gravity(StrEnum):
    """Errors stop an apply and a plan; warnings are shown."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with one row."""

    code: str
    gravity: Gravity
    table: str
    key: str
    sentence: str
    hint: str

    def as_plain(self) -> dict[str, str]:
        return {
            "code": self.code,
            "severity": self.gravity.value,
            "table": self.table,
            "key": self.key,
            "sentence": self.sentence,
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True)
class Wrong:
    """What a finding's function says of a row: the sentence and the hint."""

    row: Row
    sentence: str
    hint: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A finding's function with its gravity and the tables it looks at."""

    name: str
    gravity: Gravity
    look: Callable[..., Iterable[Wrong]]
    #: The kinds of rows a catalog-wide rule reads; None: a stage and its neighbourhood.
    reads: tuple[type[Row], ...] | None
    #: It looks at all stages at once, with what each of them reads and writes.
    is_graph: bool = False

    @property
    def code(self) -> str:
        """The file's name, spelt as our other codes are."""
        return "".join(part.capitalize() for part in self.name.split("_"))

    def findings(self, *subject: Any) -> list[Finding]:
        return [self.finding(wrong) for wrong in self.look(*subject)]

    def finding(self, wrong: Wrong) -> Finding:
        return Finding(
            code=self.code,
            gravity=self.gravity,
            table=wrong.row.table.name,
            key=key_text(wrong.row.key),
            # A name of megabytes, put there by plain SQL, must not fill the screen.
            sentence=_short(wrong.sentence),
            hint=_short(wrong.hint),
        )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def stage_rule(
    gravity: Gravity,
) -> Callable[[Callable[[Neighbourhood], Iterable[Wrong]]], Rule]:
    """A finding about one stage and the rows around it."""

    def make(look: Callable[[Neighbourhood], Iterable[Wrong]]) -> Rule:
        return Rule(name=look.__name__, gravity=gravity, look=look, reads=None)

    return make


def catalog_rule(
    gravity: Gravity, *, reads: tuple[type[Row], ...]
) -> Callable[[Callable[[Snapshot], Iterable[Wrong]]], Rule]:
    """A finding about rows as a whole; looked for again only when one of those tables changed."""

    def make(look: Callable[[Snapshot], Iterable[Wrong]]) -> Rule:
        return Rule(name=look.__name__, gravity=gravity, look=look, reads=reads)

    return make


def graph_rule(
    gravity: Gravity,
) -> Callable[[Callable[[Snapshot, Mapping[str, Neighbourhood]], Iterable[Wrong]]], Rule]:
    """A finding about how stages feed each other; looked for again only when that changed."""

    def make(look: Callable[[Snapshot, Mapping[str, Neighbourhood]], Iterable[Wrong]]) -> Rule:
        return Rule(name=look.__name__, gravity=gravity, look=look, reads=None, is_graph=True)

    return make
