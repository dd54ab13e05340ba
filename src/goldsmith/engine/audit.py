"""The audit of a stage run: its checks measured in the pass that evaluates the rows, and judged.

Row checks and totals are measured as observed metrics of the write itself where Spark can; a
check that has to shuffle (uniqueness) is measured together with all others in one pass over the
rows, which are then kept and written from there. Shaped rows are evaluated once either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from goldsmith.catalog.rules import RuleSet, Severity
from goldsmith.checks.check import CHECKS, Check
from goldsmith.errors import GoldsmithError
from goldsmith.journal.tables import Verdict

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: Checks whose aggregate Spark cannot observe on the way.
_SHUFFLES = ("unique",)
_ABOUT_SCHEMA = ("schema_evolution", "schema_match")


@dataclass(eq=False, kw_only=True)
class CheckFailed(GoldsmithError):
    """A critical check does not hold, so nothing was published."""

    exit_code = 1

    target: str
    failures: tuple[str, ...]

    def __str__(self) -> str:
        listed = "; ".join(self.failures)
        return f"'{self.target}' was not published: {listed}."

    @property
    def hint(self) -> str:
        return (
            "Mend the input or the rule. `goldsmith runs show RUN` has what was expected and "
            "found; readers still see the rows of the last good run."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedCheck:
    """One check of one stage, with its settings sorted out."""

    place: int
    check: Check
    settings: Mapping[str, Any]
    rule_set_id: str
    severity: str
    on_fail: str
    where: str | None
    mostly: float

    @property
    def says(self) -> str:
        held = dict.fromkeys(self.check.settings) | dict(self.settings)
        held["columns"] = held.get("columns") or held.get("column")
        return self.check.says.format_map(held)


def planned(rules: RuleSet | None) -> tuple[PlannedCheck, ...]:
    """The checks of a rule set, words turned into code."""
    if rules is None:
        return ()
    return tuple(_planned(rules, place, said) for place, said in enumerate(rules.check_def))


def _planned(rules: RuleSet, place: int, said: Mapping[str, Any]) -> PlannedCheck:
    check = CHECKS.get(str(said["type"]))
    own = {name: value for name, value in said.items() if name in check.settings}
    return PlannedCheck(
        place=place,
        check=check,
        settings=own,
        rule_set_id=rules.rule_set_id,
        severity=said.get("severity", rules.severity),
        on_fail=said.get("on_fail", "fail"),
        where=said.get("where"),
        mostly=float(said.get("mostly", 1.0)),
    )


def needs_pass(checks: Sequence[PlannedCheck]) -> bool:
    """Some check cannot be measured on the way to the table."""
    return any(planned.check.name in _SHUFFLES for planned in checks)


def measures(checks: Sequence[PlannedCheck]) -> Iterator[Column]:
    """What to measure of the rows, one or two numbers a check."""
    from pyspark.sql import functions as F

    yield F.count(F.lit(1)).alias("rows")
    for planned in checks:
        if planned.check.name in _ABOUT_SCHEMA:
            continue
        said = planned.check.function(**planned.settings)
        if not planned.check.is_row_check:
            # Over no rows an aggregate is NULL, and nothing is broken by that.
            yield F.coalesce(said, F.lit(False)).alias(f"broken_{planned.place}")
            continue
        applies = F.expr(planned.where) if planned.where else F.lit(True)
        # NULL breaks only the checks that speak of NULL.
        broken = F.coalesce(said, F.lit(False)) & F.coalesce(applies, F.lit(False))
        yield F.count(F.when(broken, F.lit(1))).alias(f"broken_{planned.place}")
        yield F.count(F.when(applies, F.lit(1))).alias(f"of_{planned.place}")


def measure(
    rows: DataFrame, checks: Sequence[PlannedCheck], more: Sequence[Column] = ()
) -> dict[str, Any]:
    """Everything measured in one pass of its own."""
    found = rows.agg(*measures(checks), *more).collect()[0]
    return {str(name): value for name, value in found.asDict().items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Audited:
    """What the checks of a stage run said."""

    verdicts: tuple[Verdict, ...] = ()
    failures: tuple[str, ...] = field(default=())


def judge(
    checks: Sequence[PlannedCheck],
    measured: Mapping[str, Any],
    *,
    before: StructType | None,
    now: StructType,
    marks: Mapping[str, Any],
) -> Audited:
    """A verdict for each check, and the critical ones that do not hold."""
    verdicts: list[Verdict] = []
    failures: list[str] = []
    for planned in checks:
        broken, observed = _broken(planned, measured, before, now)
        verdicts.append(
            Verdict(
                place=planned.place,
                rule_set_id=planned.rule_set_id,
                check_name=planned.check.name,
                settings=dict(planned.settings),
                severity=planned.severity,
                on_fail=planned.on_fail,
                passed=broken is None,
                broken=measured.get(f"broken_{planned.place}")
                if planned.check.is_row_check
                else None,
                observed=observed,
                message=broken or "it holds",
                **marks,
            )
        )
        if (
            broken is not None
            and planned.severity == Severity.CRITICAL
            and planned.on_fail != "warn"
        ):
            failures.append(f"{planned.rule_set_id}: {broken}")
    return Audited(verdicts=tuple(verdicts), failures=tuple(failures))


def _broken(
    planned: PlannedCheck,
    measured: Mapping[str, Any],
    before: StructType | None,
    now: StructType,
) -> tuple[str | None, str | None]:
    """What is wrong in words, if anything, and what was found."""
    if planned.check.name == "schema_match":
        differences = planned.check.function(now, **planned.settings)
        return (f"{planned.says}: {', '.join(differences)}" if differences else None), None
    if planned.check.name == "schema_evolution":
        differences = (
            [] if before is None else planned.check.function(before, now, **planned.settings)
        )
        return (f"{planned.says}: {', '.join(differences)}" if differences else None), None
    found = measured[f"broken_{planned.place}"]
    if not planned.check.is_row_check:
        return (planned.says if found else None), f"{measured['rows']} rows"
    of = measured[f"of_{planned.place}"]
    holds = found == 0 if planned.mostly >= 1 else of == 0 or (of - found) / of >= planned.mostly
    observed = f"{found} of {of} rows broken"
    return (None if holds else f"{planned.says} in {found:,} of {of:,} rows"), observed
