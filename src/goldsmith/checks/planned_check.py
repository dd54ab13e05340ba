"""Plan the checks of a rule set: resolve each check_def entry to a check with valid settings."""

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
    """A check of a stage with its validated settings."""

    index: int
    check: Check
    #: The check's own settings, by Goldsmith's names.
    settings: Mapping[str, Any]
    rule_set_id: str = ""
    severity: str = "critical"
    on_fail: str = "fail"
    where: str | None = None
    mostly: float = 1.0
    #: The number of broken rows allowed; None: `mostly` alone decides.
    max_broken: int | None = None
    #: Columns that partition the rows; `mostly` or `max_broken` then holds in each partition.
    per: tuple[str, ...] = ()
    scope: str = "batch"
    name: str | None = None
    #: The entry of the rule set, with the names of the tool it was written for.
    entry: Mapping[str, Any] = field(default_factory=dict)

    @property
    def says(self) -> str:
        values = dict.fromkeys(self.check.settings) | dict(self.settings)
        values["columns"] = values.get("columns") or values.get("column")
        values["bounds"] = Bounds(
            min=values.get("min"),
            max=values.get("max"),
            strict_min=bool(values.get("strict_min")),
            strict_max=bool(values.get("strict_max")),
        ).description
        return self.check.says.format_map(values)


def planned(
    entries: Sequence[Mapping[str, Any]],
    *,
    rule_set_id: str = "",
    severity: str = "critical",
    context: Context | None = None,
) -> tuple[PlannedCheck, ...]:
    """Plan the checks of a rule set; raises where a check is unknown or its settings are wrong."""
    return tuple(
        plan_one(entry, index=index, rule_set_id=rule_set_id, severity=severity, context=context)
        for index, entry in enumerate(entries)
    )


def plan_one(
    entry: Mapping[str, Any],
    *,
    index: int = 0,
    rule_set_id: str = "",
    severity: str = "critical",
    context: Context | None = None,
) -> PlannedCheck:
    """Plan one entry of a check_def."""
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
        index=index,
        check=check,
        settings=own,
        rule_set_id=rule_set_id,
        entry=dict(entry),
        **{"severity": severity, **every},
    )


def _filled(entry: Mapping[str, Any], context: Context) -> Iterator[tuple[str, Any]]:
    """The entry with its {{ parameters }} replaced by their values."""
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
