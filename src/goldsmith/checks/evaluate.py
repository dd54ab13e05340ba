"""Evaluate the checks of a stage on rows: what is measured in which pass, and the outcomes.

`Evaluation` has three uses: a write observes its `conditions` and `measures`; after the write
`measure_beside` counts keys and reads other datasets; `measure_all` does both for stored rows.
A check that cannot be evaluated fails, with its error.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from goldsmith.checks import keys, partitions
from goldsmith.checks.arrow.measure import measure_with_arrow
from goldsmith.checks.bitmap import Bitmap
from goldsmith.checks.bound_check import BoundCheck, bind_check
from goldsmith.checks.context import Context
from goldsmith.checks.meanwhile import meanwhile
from goldsmith.checks.measures import Counted, Extra, Judged, Keys, KnownTotals, Total
from goldsmith.checks.outcome import CheckOutcome, outcome_of, raised
from goldsmith.checks.parquet_files import ParquetFiles
from goldsmith.checks.planned_check import PlannedCheck
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: Measured values, by the check's index, then by name.
Measured = dict[int, dict[str, Any]]


class StoredRows(NamedTuple):
    """Measures of stored rows, from the common pass and from extra jobs, and their seconds."""

    measured: dict[str, Any]
    beside: Measured
    pass_seconds: float
    beside_seconds: float


class Evaluation:
    """Checks bound to one schema, evaluated together."""

    def __init__(
        self, schema: StructType, checks: Sequence[PlannedCheck], context: Context
    ) -> None:
        self.checks = tuple(checks)
        self._bound: dict[int, BoundCheck] = {}
        #: Why a check cannot be evaluated, by its index.
        self.errors: dict[int, Exception] = {}
        for planned in checks:
            try:
                self._bound[planned.index] = bind_check(planned, schema, context)
            except Exception as error:  # a check's function, or SQL that does not parse
                self.errors[planned.index] = error

    def broken_rows(self) -> Mapping[int, Column]:
        """The condition of a row that breaks the check, by the check's index; never NULL."""
        return {
            check.index: check.broken
            for check in self._without_errors()
            if check.broken is not None
        }

    def nondeterministic(self) -> set[int]:
        """The indexes of checks whose conditions may differ when evaluated again."""
        return {check.index for check in self._without_errors() if check.by_sql}

    def _without_errors(self) -> list[BoundCheck]:
        """The bound checks without an error so far."""
        return [check for check in self._bound.values() if check.index not in self.errors]

    def keys(self) -> Mapping[int, tuple[Keys, Column | None]]:
        """The keys to count, by the check's index, each with the check's row condition."""
        return {
            check.index: (check.measurement, check.where)
            for check in self._without_errors()
            if isinstance(check.measurement, Keys)
        }

    def conditions(self) -> dict[str, Column]:
        """The row conditions to count, by the name of the count; never NULL."""
        return {
            f"{name}_{check.index}": condition
            for check in self._without_errors()
            for name, condition in _counted(check)
        }

    def measures(self, bits: Bitmap) -> list[Column]:
        """Aggregates to observe on rows marked with the conditions, the number of rows first.

        Conditions in the user's SQL are counted in this pass: evaluated again they may differ, as
        `now()` does. Of the others the pass only observes which hold in any row.
        """
        from pyspark.sql import functions as F

        found = [F.count(F.lit(1)).alias("rows")]
        for check in self._without_errors():
            found += [column.alias(f"{name}_{check.index}") for name, column in _totals(check)]
            if check.by_sql:
                names = [f"{name}_{check.index}" for name, _ in _counted(check)]
                found += [F.count(F.when(bits.has(name), F.lit(1))).alias(name) for name in names]
        return [*found, *bits.measures()]

    def resolve_expressions(self, rows: DataFrame) -> None:
        """Have Spark resolve every expression, without a job; record failures as errors."""

        def resolve(checks: Sequence[BoundCheck]) -> None:
            columns = [column for check in checks for _, column in _aggregates_of(check)]
            if columns:
                rows.agg(*columns).schema  # noqa: B018 - asking for the schema resolves it
            for check in checks:
                if _is_beside(check):
                    _plan(rows, check).schema  # noqa: B018

        self._run_isolated(tuple(self._bound.values()), resolve)

    def measure(
        self, rows: DataFrame, stored: ParquetFiles | None = None, known: Collection[str] = ()
    ) -> dict[str, Any]:
        """Measure the aggregates in a pass of their own: with Arrow where it can, else with Spark.

        Aggregates named in `known` are not measured.
        """
        got: dict[str, Any] = {}
        if stored is not None:
            unknown = {name: item for name, item in self.aggregates().items() if name not in known}
            got = measure_with_arrow(rows, stored, aggregates=unknown).aggregates

        def wanted(check: BoundCheck) -> Iterator[tuple[str, Column]]:
            for name, column in _aggregates_of(check):
                if (full := f"{name}_{check.index}") not in known:
                    yield full, column

        def run(checks: Sequence[BoundCheck]) -> None:
            from pyspark.sql import functions as F

            columns = [column.alias(name) for check in checks for name, column in wanted(check)]
            if columns:
                row = rows.agg(F.count(F.lit(1)).alias("rows"), *columns).collect()[0]
                got.update(row.asDict())

        self._run_isolated(
            [
                item
                for item in self._bound.values()
                if any(name not in got for name, _ in wanted(item))
            ],
            run,
        )
        return got

    def aggregates(self) -> dict[str, Column]:
        """Every aggregate of the common pass, and the number of rows, by name."""
        from pyspark.sql import functions as F

        named = {
            f"{name}_{check.index}": column
            for check in self._without_errors()
            for name, column in _aggregates_of(check)
        }
        return {"rows": F.count(F.lit(1)), **named} if named else {}

    def measure_beside(self, rows: DataFrame, stored: ParquetFiles | None = None) -> Measured:
        """Measure what needs extra jobs: keys, joins, windows, queries."""
        if stored is None:
            return self._beside(rows, dict)
        with meanwhile(rows, lambda: self._count_keys(rows, stored)) as counted:
            return self._beside(rows, counted)

    def _count_keys(self, rows: DataFrame, stored: ParquetFiles) -> dict[int, dict[str, int]]:
        return measure_with_arrow(rows, stored, keys=self.keys()).keys

    def measure_all(
        self, rows: DataFrame, stored: ParquetFiles | None = None, *, few: bool = False
    ) -> StoredRows:
        """Measure everything on stored rows. With `few`, group by real keys instead of hashes."""
        started = time.monotonic()
        if stored is None:
            measured = self.measure(rows)
            riding = time.monotonic() - started
            beside = self._beside(rows, dict, few=few)
        else:
            with meanwhile(rows, lambda: self._count_keys(rows, stored)) as counted:
                measured = self.measure(rows, stored)
                riding = time.monotonic() - started
                beside = self._beside(rows, counted)
        return StoredRows(measured, beside, riding, time.monotonic() - started - riding)

    def _beside(
        self,
        rows: DataFrame,
        known: Callable[[], dict[int, dict[str, int]]],
        *,
        few: bool = False,
    ) -> Measured:
        """Run the extra jobs; `known` returns the key counts that Arrow has computed meanwhile."""
        got: Measured = {}
        # Several rule sets of one table often repeat a check: measure it once.
        alike: dict[Any, list[BoundCheck]] = {}
        for check in self._without_errors():
            if _is_beside(check):
                alike.setdefault(_question(check), []).append(check)
        distinct = [first for first, *_ in alike.values()]
        keyed = {} if few else self.keys()

        def ask(checks: Sequence[BoundCheck]) -> None:
            got.update(keys.collect({check.index: _plan(rows, check) for check in checks}))

        def count(checks: Sequence[BoundCheck]) -> None:
            wanted = {check.index: keyed[check.index] for check in checks}
            got.update(keys.count(rows, wanted, known()))

        self._run_isolated([check for check in distinct if check.index not in keyed], ask)
        self._run_isolated([check for check in distinct if check.index in keyed], count)
        for first, *same in alike.values():
            for other in same:
                if first.index in self.errors:
                    self.errors[other.index] = self.errors[first.index]
                else:
                    got[other.index] = got[first.index]
        return got

    def _run_isolated(
        self, checks: Sequence[BoundCheck], run: Callable[[Sequence[BoundCheck]], None]
    ) -> None:
        """Run the checks together; if that fails run each alone, to record the failing ones."""
        checks = [check for check in checks if check.index not in self.errors]
        try:
            run(checks)
            return
        except Exception as error:
            if len(checks) == 1:
                self.errors[checks[0].index] = error
                return
        for check in checks:
            try:
                run([check])
            except Exception as error:
                self.errors[check.index] = error

    def outcomes(self, measured: Mapping[str, Any], beside: Measured) -> list[CheckOutcome]:
        """The outcome of each check from the measures, in the order of the checks."""
        return [self._outcome(planned, measured, beside) for planned in self.checks]

    def _outcome(
        self, planned: PlannedCheck, measured: Mapping[str, Any], beside: Measured
    ) -> CheckOutcome:
        index = planned.index
        if index in self.errors:
            return raised(planned, self.errors[index])
        check = self._bound[index]
        own = {name: measured.get(f"{name}_{index}") for name, _ in _aggregates_of(check)}
        if check.broken is not None:
            own["of"] = measured["rows"] - own.pop("skipped")
        try:
            return outcome_of(planned, _judged(check, {**own, **beside.get(index, {})}))
        except (GoldsmithError, ArithmeticError, TypeError, ValueError) as error:
            return raised(planned, error)


def evaluate(
    rows: DataFrame,
    checks: Sequence[PlannedCheck],
    context: Context,
    *,
    few: bool = False,
    stored: ParquetFiles | None = None,
) -> list[CheckOutcome]:
    """Evaluate the checks on stored rows: one common pass, and few jobs for the other measures."""
    evaluation = Evaluation(rows.schema, checks, context)
    found = evaluation.measure_all(rows, stored, few=few)
    return evaluation.outcomes(found.measured, found.beside)


def _aggregates_of(check: BoundCheck) -> Iterator[tuple[str, Column]]:
    """The aggregates of a check that any pass over the rows can compute."""
    from pyspark.sql import functions as F

    for name, condition in _counted(check):
        yield name, F.count(F.when(condition, F.lit(1)))
    yield from _totals(check)


def _counted(check: BoundCheck) -> Iterator[tuple[str, Column]]:
    """The row conditions of a check to count; for most rows, often for all, none is true."""
    from pyspark.sql import functions as F

    if check.broken is not None and check.applies is not None:
        yield "broken", check.broken
        yield "skipped", ~check.applies
    elif isinstance(check.measurement, Keys) and check.measurement.nulls != "equal":
        in_scope = check.where if check.where is not None else F.lit(True)
        yield "null_rows", in_scope & keys.any_null(check.measurement)


def _totals(check: BoundCheck) -> Iterator[tuple[str, Column]]:
    if isinstance(check.measurement, Total):
        yield from check.measurement.measures.items()


def _is_beside(check: BoundCheck) -> bool:
    return bool(check.per) or isinstance(check.measurement, Extra | Keys)


def _question(check: BoundCheck) -> Any:
    """The identity of an extra measurement; one with a threshold per partition is never shared."""
    planned = check.planned
    if check.per:
        return check.index
    return planned.check.name, repr(sorted(planned.settings.items())), planned.where


def _plan(rows: DataFrame, check: BoundCheck) -> DataFrame:
    if check.per:
        assert check.broken is not None
        assert check.applies is not None
        return partitions.worst(rows, check.planned, check.per, check.broken, check.applies)
    if isinstance(check.measurement, Keys):
        return keys.exact(rows, check.measurement, check.where)
    assert isinstance(check.measurement, Extra)
    return check.measurement.plan(rows)


def _judged(check: BoundCheck, measured: Mapping[str, Any]) -> Judged | Counted:
    if check.broken is not None:
        parts = {name: measured[name] for name in partitions.MEASURES if name in measured}
        return Counted(broken=measured["broken"], of=measured["of"], **parts)
    if isinstance(check.measurement, KnownTotals):
        return check.measurement.judged
    assert isinstance(check.measurement, Total | Keys | Extra)
    return check.measurement.judge(measured)
