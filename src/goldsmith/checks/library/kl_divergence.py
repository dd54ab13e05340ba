"""The column's values are distributed as expected: the relative entropy is at most `max`.

`weights` are the expected shares of single `values`, or of the ranges between `bins`; the last
range includes its upper end. `weights` and `tail_weights`, the shares below and above the bins,
add up to 1. `tail_holdout` reserves a share for values not listed or outside the bins,
`internal_holdout` for ranges whose weight is 0. Without them, a value that has no expected share
makes the entropy infinite."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isclose, isinf, log
from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.errors import BadCheck
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Extra, Judge, Judged, Measured
from goldsmith.checks.settings import Share

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(
    says="{column} is distributed otherwise than expected",
    any_of=("values", "bins"),
    cost=Cost.PASS,
)
def kl_divergence(
    column: Plain,
    weights: Sequence[Share],
    max: float | None = None,
    values: Sequence[object] | None = None,
    bins: Sequence[float] | None = None,
    tail_weights: Sequence[Share] | None = None,
    tail_holdout: Share = 0.0,
    internal_holdout: Share = 0.0,
) -> Extra:
    _validate(values, bins, weights, tail_weights, tail_holdout, internal_holdout)
    if values is not None:
        return _of_values(column, values, weights, tail_holdout, max)
    assert bins is not None
    expected = _expected(bins, weights, tail_weights, tail_holdout, internal_holdout)
    return _of_ranges(column, bins, expected, max)


def _of_values(
    column: Plain,
    values: Sequence[object],
    weights: Sequence[float],
    holdout: float,
    max: float | None,
) -> Extra:
    from pyspark.sql import functions as F

    def plan(rows: DataFrame) -> DataFrame:
        index = F.lit(None).cast("int")
        for number, value in reversed(list(enumerate(values))):
            index = F.when(column.value == column.literal(value), number).otherwise(index)
        found = rows.select(column.value.alias("_value"), index.alias("_place"))
        other = F.when(F.col("_place").isNull(), F.col("_value"))
        counted = (
            found.where(F.col("_value").isNotNull())
            .groupBy("_place", other.alias("_other"))
            .agg(F.count(F.lit(1)).alias("_n"))
        )
        listed, n = F.col("_place").isNotNull(), F.col("_n").cast("double")
        entry = F.when(listed, F.struct("_place", "_n"))
        return counted.agg(
            F.map_from_entries(F.array_compact(F.collect_list(entry))).alias("counts"),
            F.count(F.when(~listed, 1)).alias("others"),
            F.coalesce(F.sum(F.when(~listed, n)), F.lit(0.0)).alias("of_others"),
            F.coalesce(F.sum(F.when(~listed, n * F.ln(n))), F.lit(0.0)).alias("logs"),
        )

    def divergence(measured: Measured) -> float | None:
        counts = {int(index): float(n) for index, n in dict(measured["counts"] or {}).items()}
        seen = [counts.get(index, 0.0) for index in range(len(values))]
        others, of_others = int(measured["others"]), float(measured["of_others"])
        total = sum(seen) + of_others
        if not total:
            return None
        withheld = holdout if others else 0.0
        expected = [weight * (1 - withheld) for weight in weights]
        whole = sum(expected) + withheld
        found = _entropy(
            [amount / total for amount in seen], [amount / whole for amount in expected]
        )
        if not others:
            return found
        if not withheld:
            return inf
        share = of_others / total
        own = (float(measured["logs"]) - of_others * log(total)) / total
        return found + own - share * log(withheld / whole / others)

    return Extra(plan=plan, judge=_judged(divergence, max))


def _of_ranges(
    column: Plain, bins: Sequence[float], expected: Sequence[float], max: float | None
) -> Extra:
    from pyspark.sql import functions as F

    def plan(rows: DataFrame) -> DataFrame:
        value = F.col("_value")
        low, high = F.lit(float(bins[0])), F.lit(float(bins[-1]))
        ranges = [] if isinf(bins[0]) else [value < low]
        for number in range(len(bins) - 1):
            is_last = number == len(bins) - 2
            upper = F.lit(float(bins[number + 1]))
            inside = value <= upper if is_last else value < upper
            ranges.append((value >= F.lit(float(bins[number]))) & inside)
        ranges += [] if isinf(bins[-1]) else [value > high]
        return rows.select(column.value.cast("double").alias("_value")).agg(
            *(
                F.count(F.when(condition, 1)).alias(f"range_{n}")
                for n, condition in enumerate(ranges)
            )
        )

    def divergence(measured: Measured) -> float | None:
        seen = [int(measured[f"range_{number}"]) for number in range(len(expected))]
        total, whole = sum(seen), sum(expected)
        if not total:
            return None
        return _entropy(
            [amount / total for amount in seen], [amount / whole for amount in expected]
        )

    return Extra(plan=plan, judge=_judged(divergence, max))


def _judged(divergence: object, max: float | None) -> Judge:
    def judge(measured: Measured) -> Judged:
        assert callable(divergence)
        found = divergence(measured)
        holds = max is None or (found is not None and found <= max)
        observed = None if found is None or isinf(found) else found
        return Judged(
            holds=holds, observed=observed, expected=f"a relative entropy of at most {max}"
        )

    return judge


def _entropy(seen: Sequence[float], expected: Sequence[float]) -> float:
    """The relative entropy, in natural units."""
    pairs = [(p, q) for p, q in zip(seen, expected, strict=True) if p]
    return inf if any(not q for _, q in pairs) else sum(p * log(p / q) for p, q in pairs)


def _expected(
    bins: Sequence[float],
    weights: Sequence[float],
    tail_weights: Sequence[float] | None,
    tail_holdout: float,
    internal_holdout: float,
) -> list[float]:
    """The expected share of each range, including the open ones below and above the bins."""
    shares = [weight * (1 - tail_holdout - internal_holdout) for weight in weights]
    zeros = shares.count(0)
    if internal_holdout and zeros:
        shares = [share or internal_holdout / zeros for share in shares]
    ends = [end for end in (bins[0], bins[-1]) if not isinf(end)]
    below, above = tail_weights or [tail_holdout / len(ends) if ends else 0.0] * 2
    return [
        *([] if isinf(bins[0]) else [below]),
        *shares,
        *([] if isinf(bins[-1]) else [above]),
    ]


def _validate(
    values: Sequence[object] | None,
    bins: Sequence[float] | None,
    weights: Sequence[float],
    tail_weights: Sequence[float] | None,
    tail_holdout: float,
    internal_holdout: float,
) -> None:
    problem = None
    wanted = len(values) if values is not None else len(bins or ()) - 1
    is_open = bins is not None and (isinf(bins[0]) or isinf(bins[-1]))
    if (values is None) == (bins is None):
        problem = "takes values or bins, one of them"
    elif len(weights) != wanted or not weights:
        problem = f"needs {wanted} weights and has {len(weights)}"
    elif not isclose(sum(weights) + sum(tail_weights or ()), 1, abs_tol=1e-6):
        problem = "has weights that do not add up to 1"
    elif bins is not None and list(bins) != sorted(set(bins)):
        problem = "has bins that do not rise"
    elif tail_weights is not None and (values is not None or is_open or len(tail_weights) != 2):
        problem = "takes two tail_weights, of bins with two ends"
    elif internal_holdout and values is not None:
        problem = "takes internal_holdout of bins only"
    elif bins is not None and tail_holdout and isinf(bins[0]) and isinf(bins[-1]):
        problem = "takes tail_holdout only where the bins have an end"
    if problem is not None:
        usage = "column, weights, values or bins, tail_weights, tail_holdout, internal_holdout, max"
        raise BadCheck(check="kl_divergence", problems=(problem,), usage=usage)
