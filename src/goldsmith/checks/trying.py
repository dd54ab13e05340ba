"""Rule sets tried out on rows that are written beside them: unit tests for people's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from goldsmith.checks.context import Context
from goldsmith.checks.errors import NoSuchDataset
from goldsmith.checks.evaluate import evaluate
from goldsmith.checks.outcome import Outcome, plain
from goldsmith.checks.planned import PlannedCheck, plan_one
from goldsmith.checks.rows import BadRows, frame
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Case:
    """Checks, and the rows they are put to."""

    id: Any = None
    says: str | None = None
    schema: str | None = None
    rows: Sequence[Mapping[str, Any]] = ()
    checks: Sequence[Mapping[str, Any]] = ()
    #: Other datasets that checks ask for: each a mapping of schema and rows.
    datasets: Mapping[str, Any] = field(default_factory=dict)
    #: The schema there was before, and how many rows earlier runs wrote, newest first.
    schema_before: str | None = None
    row_counts: Sequence[int] = ()
    now: datetime | str | None = None
    #: What is expected of each check: a mapping of passed, broken, observed, error.
    expect: Sequence[Any] = ()

    @classmethod
    def of(cls, said: Any) -> Case:
        """A case as it is written."""
        known = cls.__dataclass_fields__
        if not isinstance(said, dict):
            raise BadRows(problem="A case is an object with rows and checks.")
        unknown = [name for name in said if name not in known]
        if unknown:
            raise BadRows(problem=f"A case has no '{unknown[0]}'; it has {', '.join(known)}.")
        given = {name: value for name, value in said.items() if value is not None}
        for name in ("rows", "checks"):
            if not isinstance(given.get(name, []), list):
                raise BadRows(problem=f"The {name} of a case are a list.")
        for name in ("schema", "schema_before"):
            if not isinstance(given.get(name, ""), str):
                raise BadRows(problem=f"The {name} of a case is a text, as Spark's DDL has it.")
        datasets = given.get("datasets", {})
        if not isinstance(datasets, dict) or not all(
            isinstance(one, dict) for one in datasets.values()
        ):
            raise BadRows(problem="The datasets of a case are objects by their names.")
        return cls(**given)


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What one check of a case says, or why it cannot be put to the rows."""

    said: Mapping[str, Any]
    outcome: Outcome | None = None
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


def answer(spark: SparkSession, said: Any) -> dict[str, Any]:
    """The machine form: verdicts in the order of the checks, and the first error."""
    name = said.get("id") if isinstance(said, dict) else None
    try:
        tried = put_to_rows(spark, Case.of(said))
    except GoldsmithError as error:
        return no_answer(said, described(error))
    errors = [described(one.error) for one in tried if one.error is not None]
    return {
        "id": name,
        "verdicts": [one.as_plain() for one in tried],
        "error": errors[0] if errors else None,
    }


def no_answer(said: Any, error: str) -> dict[str, Any]:
    """The machine form of a case that cannot be tried: every check of it fails."""
    case = said if isinstance(said, dict) else {}
    checks = case.get("checks")
    count = len(checks) if isinstance(checks, list) else 0
    return {
        "id": case.get("id"),
        "verdicts": [Tried(said={}).as_plain() for _ in range(count)],
        "error": error,
    }


def described(error: GoldsmithError) -> str:
    return f"{error.code}: {error}"


def put_to_rows(spark: SparkSession, case: Case) -> list[Tried]:
    """Every check of the case; one that cannot be put to the rows does not spoil the others."""
    rows = frame(spark, case.schema, case.rows)
    context = _context(spark, case)
    planned: list[PlannedCheck] = []
    errors: dict[int, GoldsmithError] = {}
    for place, said in enumerate(case.checks):
        try:
            planned.append(_planned(said, place, context))
        except GoldsmithError as error:
            errors[place] = error
    outcomes = {one.planned.place: one for one in evaluate(rows, planned, context, few=True)}
    return [
        Tried(said=said, error=errors[place])
        if place in errors
        else Tried(said=said, outcome=outcomes[place], error=outcomes[place].error)
        for place, said in enumerate(case.checks)
    ]


def _planned(said: Any, place: int, context: Context) -> PlannedCheck:
    if not isinstance(said, dict) or not isinstance(said.get("type"), str):
        raise BadRows(problem=f"Check {place + 1} is no object with a type.")
    return plan_one(said, place=place, context=context)


def _context(spark: SparkSession, case: Case) -> Context:
    def dataset(name: str) -> DataFrame:
        if name not in case.datasets:
            raise NoSuchDataset(dataset=name, known=tuple(case.datasets))
        said = case.datasets[name]
        return frame(spark, said.get("schema"), said.get("rows") or ())

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


def surprises(case: Case, tried: Sequence[Tried]) -> Iterator[str]:
    """Where a case expects something else than was found, in words."""
    for place, (one, expected) in enumerate(zip(tried, case.expect, strict=False), start=1):
        code = one.error.code if one.error is not None else None
        found = {**one.as_plain(), "error": code, "message": one.message}
        wanted = {"passed": expected} if isinstance(expected, bool) else dict(expected)
        for name, value in wanted.items():
            if found.get(name) != value:
                yield (
                    f"check {place} ({one.said.get('type')}): expected {name} {value!r},"
                    f" found {found.get(name)!r}"
                )
    if case.expect and len(case.expect) != len(tried):
        yield f"{len(case.expect)} expectations for {len(tried)} checks"
