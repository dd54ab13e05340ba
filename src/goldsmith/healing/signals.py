"""Signals: how to recognise each error code, read from `signals.toml` in the order of matching."""

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
    """How to recognise one error code; one match in any field is enough."""

    code: str
    #: Spark's error conditions; a subclass (`CANNOT_PARSE.X`) counts as its class.
    conditions: tuple[str, ...]
    #: SQLSTATEs or prefixes of them.
    sqlstates: tuple[str, ...]
    classes: frozenset[str]
    answers: frozenset[str]
    errnos: frozenset[str]
    pattern: re.Pattern[str] | None

    def fits(self, seen: Evidence) -> bool:
        return (
            any(c == o or c.startswith(f"{o}.") for c in seen.conditions for o in self.conditions)
            or any(state.startswith(self.sqlstates) for state in seen.sqlstates if self.sqlstates)
            or not self.classes.isdisjoint(seen.classes)
            or not self.answers.isdisjoint(seen.answers)
            or not self.errnos.isdisjoint(seen.errnos)
            or (self.pattern is not None and self.pattern.search(seen.text) is not None)
        )


@cache
def signals() -> tuple[Signal, ...]:
    """Every signal, specific ones before general ones."""
    return tuple(
        _signal(**declared) for declared in tomllib.loads(_FILE.read_text("utf-8"))["signal"]
    )


def _signal(code: str, **declared: list[str]) -> Signal:
    patterns = declared.get("words")
    return Signal(
        code=code,
        conditions=tuple(declared.get("conditions", ())),
        sqlstates=tuple(declared.get("sqlstates", ())),
        classes=frozenset(declared.get("classes", ())),
        answers=frozenset(declared.get("answers", ())),
        errnos=frozenset(declared.get("errnos", ())),
        pattern=re.compile("|".join(patterns), re.IGNORECASE) if patterns else None,
    )
