"""Try rule sets on rows written in a test case: unit tests for rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.checks.context import Context
from goldsmith.checks.errors import NoSuchDataset
from goldsmith.checks.evaluate import evaluate
from goldsmith.checks.outcome import CheckOutcome, plain
from goldsmith.checks.planned_check import PlannedCheck, plan_one
from goldsmith.checks.rows import BadRows, frame
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Case:
    """A test case: checks, and the rows they are evaluated on."""

    id: Any = None
    says: str | None = None
    schema: str | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    checks: Sequence[Mapping[str, Any]] = ()
    #: Other datasets that checks read: each a mapping of schema and rows.
    datasets: Mapping[str, Any] = field(default_factory=dict)
    #: The previous schema, and how many rows earlier runs wrote, newest first.
    schema_before: str | None = None
    row_counts: Sequence[int] = ()
    now: datetime | str | None = None
    #: What is expected of each check: a mapping of passed, broken, observed, error.
    expect: Sequence[Any] = ()

    @classmethod
    def of(cls, data: Any) -> Case:
        """Parse a case from JSON or YAML data."""
        known = cls.__dataclass_fields__
        if not isinstance(data, dict):
            raise BadRows(problem="A case is an object with rows and checks.")
        unknown = [name for name in data if name not in known]
        if unknown:
            raise BadRows(problem=f"A case has no '{unknown[0]}'; it has {', '.join(known)}.")
        given = {name: value for name, value in data.items() if value is not None}
        for name in ("rows", "checks"):
            if not isinstance(given.get(name, []), list):
                raise BadRows(problem=f"The {name} of a case are a list.")
        for name in ("schema", "schema_before"):
            if not isinstance(given.get(name, ""), str):
                raise BadRows(problem=f"The {name} of a case is a text, as Spark's DDL has it.")
        datasets = given.get("datasets", {})
        if not isinstance(datasets, dict) or not all(
            isinstance(dataset, dict) for dataset in datasets.values()
        ):
            raise BadRows(problem="The datasets of a case are objects by their names.")
        return cls(**given)


@dataclass(frozen=True, kw_only=True)
class TriedCase:
    """The outcome of one check of a case, or why it cannot be evaluated."""

    entry: Mapping[str, Any]
    outcome: CheckOutcome | None = None
    error: GoldsmithError | None = None

    @property
    def passed(self) -> bool:
        return self.outcome is not None and self.outcome.passed

    @property
    def message(self) -> str:
        if self.error is not None:
            return str(self.error)
        return self.outcome.message if self.outcome is not None else ""

    def as_plain(self) -> dict[str, Any]:
        if self.outcome is None:
            return {"passed": False, "broken": None, "observed": None}
        return {
            "passed": self.outcome.passed,
            "broken": self.outcome.broken,
            "observed": plain(self.outcome.observed),
        }


def answer(spark: SparkSession, data: Any) -> dict[str, Any]:
    """The result of a case as JSON data: verdicts in the order of the checks, the first error."""
    name = data.get("id") if isinstance(data, dict) else None
    try:
        tried = evaluate_on_rows(spark, Case.of(data))
    except GoldsmithError as error:
        return no_answer(data, described(error))
    errors = [described(result.error) for result in tried if result.error is not None]
    return {
        "id": name,
        "verdicts": [result.as_plain() for result in tried],
        "error": errors[0] if errors else None,
    }


def no_answer(data: Any, error: str) -> dict[str, Any]:
    """The result, as JSON data, of a case that cannot be tried: all its checks fail."""
    case = data if isinstance(data, dict) else {}
    checks = case.get("checks")
    count = len(checks) if isinstance(checks, list) else 0
    return {
        "id": case.get("id"),
        "verdicts": [TriedCase(entry={}).as_plain() for _ in range(count)],
        "error": error,
    }


def described(error: GoldsmithError) -> str:
    return f"{error.code}: {error}"


def evaluate_on_rows(spark: SparkSession, case: Case) -> list[TriedCase]:
    """Evaluate every check of the case; an error in one check does not affect the others."""
    rows = frame(spark, case.schema, case.rows)
    context = _context(spark, case)
    planned: list[PlannedCheck] = []
    errors: dict[int, GoldsmithError] = {}
    for index, entry in enumerate(case.checks):
        try:
            planned.append(_planned(entry, index, context))
        except GoldsmithError as error:
            errors[index] = error
    outcomes = {
        outcome.planned.index: outcome for outcome in evaluate(rows, planned, context, few=True)
    }
    return [
        TriedCase(entry=entry, error=errors[index])
        if index in errors
        else TriedCase(entry=entry, outcome=outcomes[index], error=outcomes[index].error)
        for index, entry in enumerate(case.checks)
    ]


def _planned(entry: Any, index: int, context: Context) -> PlannedCheck:
    if not isinstance(entry, dict) or not isinstance(entry.get("type"), str):
        raise BadRows(problem=f"Check {index + 1} is no object with a type.")
    return plan_one(entry, index=index, context=context)


def _context(spark: SparkSession, case: Case) -> Context:
    def dataset(name: str) -> DataFrame:
        if name not in case.datasets:
            raise NoSuchDataset(dataset=name, known=tuple(case.datasets))
        definition = case.datasets[name]
        return frame(spark, definition.get("schema"), definition.get("rows") or ())

    now = case.now if case.now is not None else datetime.now(UTC)
    if isinstance(now, str):
        try:
            now = datetime.fromisoformat(now)
        except ValueError as error:
            raise BadRows(problem=f"The now of a case is no time: {error}") from error
    before = None
    if case.schema_before is not None:
        before = frame(spark, case.schema_before, ()).schema
    return Context(
        now=now if now.tzinfo is not None else now.replace(tzinfo=UTC),
        dataset=dataset,
        schema_before=before,
        row_counts=lambda: case.row_counts,
    )


def surprises(case: Case, tried: Sequence[TriedCase]) -> Iterator[str]:
    """Describe each difference between what a case expects and what was found."""
    for number, (result, expected) in enumerate(zip(tried, case.expect, strict=False), start=1):
        code = result.error.code if result.error is not None else None
        found = {**result.as_plain(), "error": code, "message": result.message}
        wanted = {"passed": expected} if isinstance(expected, bool) else dict(expected)
        for name, value in wanted.items():
            if found.get(name) != value:
                yield (
                    f"check {number} ({result.entry.get('type')}): expected {name} {value!r},"
                    f" found {found.get(name)!r}"
                )
    if case.expect and len(case.expect) != len(tried):
        yield f"{len(case.expect)} expectations for {len(tried)} checks"
