"""The checks of a stage put to rows: what is measured in which pass, and what it means.

`Evaluation` is used in three ways that share all of it: its `conditions` and `measures` ride on
a write, `measure_beside` counts keys and reads other datasets afterwards; and `at_rest` does both
for rows at rest. A check that cannot be put to the rows is a failed one with its cause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from goldsmith.checks import keys, partitions
from goldsmith.checks.bitmap import Bitmap
from goldsmith.checks.context import Context
from goldsmith.checks.measures import Counted, Extra, Judged, Keys, Known, Total
from goldsmith.checks.native import jobs as native
from goldsmith.checks.native.counting import count_keys
from goldsmith.checks.native.jobs import meanwhile
from goldsmith.checks.native.stored import Stored
from goldsmith.checks.outcome import Outcome, outcome_of, raised
from goldsmith.checks.planned import PlannedCheck
from goldsmith.checks.putting import Put, put
from goldsmith.errors import GoldsmithError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: What was measured of each check: by its place, then by name.
Measured = dict[int, dict[str, Any]]


class AtRest(NamedTuple):
    """What was measured of rows at rest: in the pass, and beside it, with the seconds of each."""

    measured: dict[str, Any]
    beside: Measured
    pass_seconds: float
    beside_seconds: float


class Evaluation:
    """Checks put to rows of one schema."""

    def __init__(
        self, schema: StructType, checks: Sequence[PlannedCheck], context: Context
    ) -> None:
        self.checks = tuple(checks)
        self._put: dict[int, Put] = {}
        #: Why a check cannot be put to such rows, by its place.
        self.errors: dict[int, Exception] = {}
        for planned in checks:
            try:
                self._put[planned.place] = put(planned, schema, context)
            except Exception as error:  # a check's function, or SQL that does not parse
                self.errors[planned.place] = error

    def broken_rows(self) -> Mapping[int, Column]:
        """The condition of a row that breaks the check at that place; true or false, never NULL."""
        return {one.place: one.broken for one in self._sound() if one.broken is not None}

    def asked_once(self) -> set[int]:
        """The checks whose conditions may be other ones when they are asked again."""
        return {one.place for one in self._sound() if one.by_sql}

    def _sound(self) -> list[Put]:
        """What can be put to the rows, as far as is known."""
        return [one for one in self._put.values() if one.place not in self.errors]

    def keys(self) -> Mapping[int, tuple[Keys, Column | None]]:
        """The keys that checks of keys look at, each with the check's row condition."""
        return {
            one.place: (one.asked, one.where)
            for one in self._sound()
            if isinstance(one.asked, Keys)
        }

    def conditions(self) -> dict[str, Column]:
        """What single rows are counted for, by the name of the count; true or false, never NULL."""
        return {
            f"{name}_{one.place}": condition
            for one in self._sound()
            for name, condition in _counted(one)
        }

    def measures(self, bits: Bitmap) -> list[Column]:
        """Aggregates to observe of rows marked with the conditions, the number of rows first.

        A condition in somebody's SQL is counted here and now: asked again it may answer otherwise,
        as `now()` does. Of the others it is enough to know which hold in any row at all.
        """
        from pyspark.sql import functions as F

        found = [F.count(F.lit(1)).alias("rows")]
        for one in self._sound():
            found += [column.alias(f"{name}_{one.place}") for name, column in _totals(one)]
            if one.by_sql:
                names = [f"{name}_{one.place}" for name, _ in _counted(one)]
                found += [F.count(F.when(bits.has(name), F.lit(1))).alias(name) for name in names]
        return [*found, *bits.measures()]

    def prove(self, rows: DataFrame) -> None:
        """Have Spark resolve every expression; those it cannot are noted as errors. No job."""

        def resolve(chosen: Sequence[Put]) -> None:
            columns = [column for one in chosen for _, column in _riding(one)]
            if columns:
                rows.agg(*columns).schema  # noqa: B018 - asking for the schema resolves it
            for one in chosen:
                if _is_beside(one):
                    _plan(rows, one).schema  # noqa: B018

        self._apart(tuple(self._put.values()), resolve)

    def measure(
        self, rows: DataFrame, stored: Stored | None = None, known: Collection[str] = ()
    ) -> dict[str, Any]:
        """The riding measures in a pass of their own; over files, as far as it goes, by Arrow.

        Those that are known already are not measured.
        """
        got: dict[str, Any] = {}
        if stored is not None:
            asked = {name: one for name, one in self.all_riding().items() if name not in known}
            got = native.measure(rows, asked, stored)

        def wanted(one: Put) -> Iterator[tuple[str, Column]]:
            for name, column in _riding(one):
                if (full := f"{name}_{one.place}") not in known:
                    yield full, column

        def run(chosen: Sequence[Put]) -> None:
            from pyspark.sql import functions as F

            columns = [column.alias(name) for one in chosen for name, column in wanted(one)]
            if columns:
                row = rows.agg(F.count(F.lit(1)).alias("rows"), *columns).collect()[0]
                got.update(row.asDict())

        self._apart(
            [one for one in self._put.values() if any(name not in got for name, _ in wanted(one))],
            run,
        )
        return got

    def all_riding(self) -> dict[str, Column]:
        """Every aggregate that rides, and the number of rows, by their names."""
        from pyspark.sql import functions as F

        named = {
            f"{name}_{one.place}": column for one in self._sound() for name, column in _riding(one)
        }
        return {"rows": F.count(F.lit(1)), **named} if named else {}

    def measure_beside(self, rows: DataFrame, stored: Stored | None = None) -> Measured:
        """What cannot ride: keys, joins, windows, queries."""
        if stored is None:
            return self._beside(rows, dict)
        with meanwhile(rows, lambda: count_keys(rows, self.keys(), stored)) as counted:
            return self._beside(rows, counted)

    def at_rest(
        self, rows: DataFrame, stored: Stored | None = None, *, few: bool = False
    ) -> AtRest:
        """All of it, of rows that lie somewhere. `few` rows are grouped by their keys at once."""
        started = time.monotonic()
        if stored is None:
            measured = self.measure(rows)
            riding = time.monotonic() - started
            beside = self._beside(rows, dict, few=few)
        else:
            with meanwhile(rows, lambda: count_keys(rows, self.keys(), stored)) as counted:
                measured = self.measure(rows, stored)
                riding = time.monotonic() - started
                beside = self._beside(rows, counted)
        return AtRest(measured, beside, riding, time.monotonic() - started - riding)

    def _beside(
        self,
        rows: DataFrame,
        known: Callable[[], dict[int, dict[str, int]]],
        *,
        few: bool = False,
    ) -> Measured:
        """What is asked beside the pass; the counts of some keys will be known by then."""
        got: Measured = {}
        # Several rule sets of one table often ask the same, and no answer is sought twice.
        alike: dict[Any, list[Put]] = {}
        for one in self._sound():
            if _is_beside(one):
                alike.setdefault(_question(one), []).append(one)
        asked = [first for first, *_ in alike.values()]
        keyed = {} if few else self.keys()

        def ask(chosen: Sequence[Put]) -> None:
            got.update(keys.collect({one.place: _plan(rows, one) for one in chosen}))

        def count(chosen: Sequence[Put]) -> None:
            wanted = {one.place: keyed[one.place] for one in chosen}
            got.update(keys.count(rows, wanted, known()))

        self._apart([one for one in asked if one.place not in keyed], ask)
        self._apart([one for one in asked if one.place in keyed], count)
        for first, *same in alike.values():
            for other in same:
                if first.place in self.errors:
                    self.errors[other.place] = self.errors[first.place]
                else:
                    got[other.place] = got[first.place]
        return got

    def _apart(self, chosen: Sequence[Put], run: Callable[[Sequence[Put]], None]) -> None:
        """Run all together; where that fails one by one, so that one does not spoil the others."""
        chosen = [one for one in chosen if one.place not in self.errors]
        try:
            run(chosen)
            return
        except Exception as error:
            if len(chosen) == 1:
                self.errors[chosen[0].place] = error
                return
        for one in chosen:
            try:
                run([one])
            except Exception as error:
                self.errors[one.place] = error

    def outcomes(self, measured: Mapping[str, Any], beside: Measured) -> list[Outcome]:
        """What each check says of what was measured, in their order."""
        return [self._outcome(planned, measured, beside) for planned in self.checks]

    def _outcome(
        self, planned: PlannedCheck, measured: Mapping[str, Any], beside: Measured
    ) -> Outcome:
        place = planned.place
        if place in self.errors:
            return raised(planned, self.errors[place])
        one = self._put[place]
        own = {name: measured.get(f"{name}_{place}") for name, _ in _riding(one)}
        if one.broken is not None:
            own["of"] = measured["rows"] - own.pop("skipped")
        try:
            return outcome_of(planned, _judged(one, {**own, **beside.get(place, {})}))
        except (GoldsmithError, ArithmeticError, TypeError, ValueError) as error:
            return raised(planned, error)


def evaluate(
    rows: DataFrame,
    checks: Sequence[PlannedCheck],
    context: Context,
    *,
    few: bool = False,
    stored: Stored | None = None,
) -> list[Outcome]:
    """Put the checks to rows at rest: one pass for all that ride, few jobs for the others."""
    evaluation = Evaluation(rows.schema, checks, context)
    found = evaluation.at_rest(rows, stored, few=few)
    return evaluation.outcomes(found.measured, found.beside)


def _riding(one: Put) -> Iterator[tuple[str, Column]]:
    """The measures of a check that any pass over the rows can take along."""
    from pyspark.sql import functions as F

    for name, condition in _counted(one):
        yield name, F.count(F.when(condition, F.lit(1)))
    yield from _totals(one)


def _counted(one: Put) -> Iterator[tuple[str, Column]]:
    """Conditions of single rows; of most rows, and often of all, none is true."""
    from pyspark.sql import functions as F

    if one.broken is not None and one.applies is not None:
        yield "broken", one.broken
        yield "skipped", ~one.applies
    elif isinstance(one.asked, Keys) and one.asked.nulls != "equal":
        spoken_of = one.where if one.where is not None else F.lit(True)
        yield "null_rows", spoken_of & keys.any_null(one.asked)


def _totals(one: Put) -> Iterator[tuple[str, Column]]:
    if isinstance(one.asked, Total):
        yield from one.asked.measures.items()


def _is_beside(one: Put) -> bool:
    return bool(one.per) or isinstance(one.asked, Extra | Keys)


def _question(one: Put) -> Any:
    """What is asked beside the pass; a threshold by partition is part of its question."""
    planned = one.planned
    if one.per:
        return one.place
    return planned.check.name, repr(sorted(planned.settings.items())), planned.where


def _plan(rows: DataFrame, one: Put) -> DataFrame:
    if one.per:
        assert one.broken is not None
        assert one.applies is not None
        return partitions.worst(rows, one.planned, one.per, one.broken, one.applies)
    if isinstance(one.asked, Keys):
        return keys.exact(rows, one.asked, one.where)
    assert isinstance(one.asked, Extra)
    return one.asked.plan(rows)


def _judged(one: Put, measured: Mapping[str, Any]) -> Judged | Counted:
    if one.broken is not None:
        parts = {name: measured[name] for name in partitions.MEASURES if name in measured}
        return Counted(broken=measured["broken"], of=measured["of"], **parts)
    if isinstance(one.asked, Known):
        return one.asked.judged
    assert isinstance(one.asked, Total | Keys | Extra)
    return one.asked.judge(measured)
