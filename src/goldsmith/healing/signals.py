"""Signals: what each error code looks like, as `signals.toml` says, in the order they are asked."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from goldsmith.healing.evidence import Evidence

_FILE = Path(__file__).with_name("signals.toml")


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """What one code looks like; any one of these is enough."""

    code: str
    #: Spark's error conditions; a subclass (`CANNOT_PARSE.X`) counts as its class.
    conditions: tuple[str, ...]
    #: SQLSTATEs, or how they begin.
    sqlstates: tuple[str, ...]
    classes: frozenset[str]
    answers: frozenset[str]
    errnos: frozenset[str]
    words: re.Pattern[str] | None

    def fits(self, seen: Evidence) -> bool:
        return (
            any(c == o or c.startswith(f"{o}.") for c in seen.conditions for o in self.conditions)
            or any(state.startswith(self.sqlstates) for state in seen.sqlstates if self.sqlstates)
            or not self.classes.isdisjoint(seen.classes)
            or not self.answers.isdisjoint(seen.answers)
            or not self.errnos.isdisjoint(seen.errnos)
            or (self.words is not None and self.words.search(seen.text) is not None)
        )


@cache
def signals() -> tuple[Signal, ...]:
    """Every signal, the specific before the general."""
    return tuple(_signal(**said) for said in tomllib.loads(_FILE.read_text("utf-8"))["signal"])


def _signal(code: str, **said: list[str]) -> Signal:
    words = said.get("words")
    return Signal(
        code=code,
        conditions=tuple(said.get("conditions", ())),
        sqlstates=tuple(said.get("sqlstates", ())),
        classes=frozenset(said.get("classes", ())),
        answers=frozenset(said.get("answers", ())),
        errnos=frozenset(said.get("errnos", ())),
        words=re.compile("|".join(words), re.IGNORECASE) if words else None,
    )
