"""A finding: what is wrong with a catalog row, its severity, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from goldsmith.catalog.rows import Row, key_text
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.stage_context import StageContext

_LONGEST = 1_000


class FindingSeverity(StrEnum):
    """Errors block an apply and a plan; warnings are only shown."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong with one row."""

    code: str
    gravity: FindingSeverity
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
class FoundProblem:
    """A problem that a rule found in a row: the sentence and the hint."""

    row: Row
    sentence: str
    hint: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """A function that finds problems, with its severity and the tables it reads."""

    name: str
    gravity: FindingSeverity
    look: Callable[..., Iterable[FoundProblem]]
    #: The tables a catalog-wide rule reads; None for a rule about a stage context or the graph.
    reads: tuple[type[Row], ...] | None
    #: The rule checks all stages at once, with their inputs and targets.
    is_graph: bool = False

    @property
    def code(self) -> str:
        """The rule's name in CamelCase, as error codes are spelt."""
        return "".join(part.capitalize() for part in self.name.split("_"))

    def findings(self, *subject: Any) -> list[Finding]:
        return [self.finding(wrong) for wrong in self.look(*subject)]

    def finding(self, wrong: FoundProblem) -> Finding:
        return Finding(
            code=self.code,
            gravity=self.gravity,
            table=wrong.row.table.name,
            key=key_text(wrong.row.key),
            # A name of megabytes, inserted by plain SQL, must not fill the screen.
            sentence=_short(wrong.sentence),
            hint=_short(wrong.hint),
        )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def stage_rule(
    gravity: FindingSeverity,
) -> Callable[[Callable[[StageContext], Iterable[FoundProblem]]], Rule]:
    """Make a rule about one stage context."""

    def make(look: Callable[[StageContext], Iterable[FoundProblem]]) -> Rule:
        return Rule(name=look.__name__, gravity=gravity, look=look, reads=None)

    return make


def catalog_rule(
    gravity: FindingSeverity, *, reads: tuple[type[Row], ...]
) -> Callable[[Callable[[CatalogRows], Iterable[FoundProblem]]], Rule]:
    """Make a rule about whole tables; it runs again only when one of these tables changed."""

    def make(look: Callable[[CatalogRows], Iterable[FoundProblem]]) -> Rule:
        return Rule(name=look.__name__, gravity=gravity, look=look, reads=reads)

    return make


def graph_rule(
    gravity: FindingSeverity,
) -> Callable[[Callable[[CatalogRows, Mapping[str, StageContext]], Iterable[FoundProblem]]], Rule]:
    """Make a rule about the graph of stages; it runs again only when the graph changed."""

    def make(
        look: Callable[[CatalogRows, Mapping[str, StageContext]], Iterable[FoundProblem]],
    ) -> Rule:
        return Rule(name=look.__name__, gravity=gravity, look=look, reads=None, is_graph=True)

    return make
