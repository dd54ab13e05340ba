"""A check of a rule set, words turned into code: what is asked, of whom, and how gravely."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from goldsmith.checks.aliases.translate import translated
from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import CHECKS, EVERY_CHECK, Check
from goldsmith.checks.context import Context
from goldsmith.checks.errors import BadCheck, NoSuchParameter

_PARAMETER = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True, kw_only=True)
class PlannedCheck:
    """One check of one stage, with its settings sorted out."""

    place: int
    check: Check
    #: The settings of its own, by our names.
    settings: Mapping[str, Any]
    rule_set_id: str = ""
    severity: str = "critical"
    on_fail: str = "fail"
    where: str | None = None
    mostly: float = 1.0
    #: As many broken rows are let pass; None: `mostly` alone decides.
    max_broken: int | None = None
    #: Columns whose values part the rows; in each part no more may be broken than that.
    per: tuple[str, ...] = ()
    scope: str = "batch"
    name: str | None = None
    #: As the rule set has it: the name and the settings of the tool it was written for.
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def says(self) -> str:
        held = dict.fromkeys(self.check.settings) | dict(self.settings)
        held["columns"] = held.get("columns") or held.get("column")
        held["bounds"] = Bounds(
            min=held.get("min"),
            max=held.get("max"),
            strict_min=bool(held.get("strict_min")),
            strict_max=bool(held.get("strict_max")),
        ).words
        return self.check.says.format_map(held)


def planned(
    entries: Sequence[Mapping[str, Any]],
    *,
    rule_set_id: str = "",
    severity: str = "critical",
    context: Context | None = None,
) -> tuple[PlannedCheck, ...]:
    """The checks of a rule set; raises where one is unknown or its settings are wrong."""
    return tuple(
        plan_one(entry, place=place, rule_set_id=rule_set_id, severity=severity, context=context)
        for place, entry in enumerate(entries)
    )


def plan_one(
    entry: Mapping[str, Any],
    *,
    place: int = 0,
    rule_set_id: str = "",
    severity: str = "critical",
    context: Context | None = None,
) -> PlannedCheck:
    """One entry of a check_def."""
    ours = translated(entry)
    if context is not None:
        ours = dict(_filled(ours, context))
    check = CHECKS.get(str(ours["type"]))
    problems = check.problems(ours)
    if problems:
        raise BadCheck(check=str(entry.get("type")), problems=tuple(problems), usage=check.usage)
    every = {
        name: ours[name]
        for name in EVERY_CHECK
        if ours.get(name) is not None and name not in (*check.settings, "description")
    }
    if "per" in every:
        every["per"] = (every["per"],) if isinstance(every["per"], str) else tuple(every["per"])
    own = {name: value for name, value in ours.items() if name in check.settings}
    return PlannedCheck(
        place=place,
        check=check,
        settings=own,
        rule_set_id=rule_set_id,
        said=dict(entry),
        **{"severity": severity, **every},
    )


def _filled(entry: Mapping[str, Any], context: Context) -> Iterator[tuple[str, Any]]:
    """The entry with the values of its {{ parameters }}."""
    known = {
        "now": context.now.isoformat(sep=" "),
        "run_date": context.now.date().isoformat(),
        **context.parameters,
    }
    for name, value in entry.items():
        yield name, _fill(value, known)


def _fill(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _fill(item, known) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_fill(item, known) for item in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    whole = _PARAMETER.fullmatch(value.strip())
    if whole is not None:  # a number stays a number
        return _plain(_parameter(whole[1], known))
    return _PARAMETER.sub(lambda match: str(_parameter(match[1], known)), value)


def _parameter(name: str, known: Mapping[str, Any]) -> Any:
    if name not in known:
        raise NoSuchParameter(name=name, known=tuple(sorted(known)))
    return known[name]


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date | datetime) else value
