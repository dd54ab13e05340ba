"""Exact counts of keys: how many different ones, and how many rows repeat one.

Every key is hashed to 64 bits and all keys of all checks are counted in one shuffle of hashes.
Where no hash occurs twice no key does; one that repeats is a suspect, and only the rows of
suspects are grouped by their real values. Nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from goldsmith.checks.field import Field
from goldsmith.checks.measures import Keys

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Up to so many suspects are sent to where the rows are; more of them meet the rows in a shuffle.
_BROADCAST = 1_000_000
#: Where more of the rows than this are suspects, sorting them out first saves nothing.
_WORTH_SORTING_OUT = 0.3
#: The hashes of each key are in as many buckets as these bits tell apart.
_BUCKET_BITS = 10
_NO_ROWS = {"rows": 0, "distinct": 0, "repeated": 0, "repeated_keys": 0}
_MOST_SHOWN = 20


def any_null(keys: Keys) -> Column:
    """A row has a NULL in the key: in any column, or in all of them."""
    from pyspark.sql import functions as F

    nulls = [field.value.isNull() for field in keys.fields]
    if keys.ignore == "all":
        return ~reduce(or_, [~null for null in nulls])
    return reduce(or_, nulls) if keys.ignore == "any" else F.lit(False)


def takes_part(keys: Keys, where: Column | None) -> Column:
    """The row's key is counted."""
    from pyspark.sql import functions as F

    spoken_of = where if where is not None else F.lit(True)
    return spoken_of if keys.nulls == "equal" else spoken_of & ~any_null(keys)


def hash_of(keys: Keys) -> Column:
    """The key in 64 bits; equal keys have equal hashes."""
    from pyspark.sql import functions as F

    return F.xxhash64(*(_one_zero(field) for field in keys.fields))


def _one_zero(field: Field) -> Column:
    """-0.0 and 0.0 are equal and hash differently."""
    from pyspark.sql import functions as F

    if field.type.typeName() not in ("float", "double"):
        return field.value
    return F.when(field.value == 0, F.lit(0).cast(field.type)).otherwise(field.value)


def exact(rows: DataFrame, keys: Keys, where: Column | None) -> DataFrame:
    """One row of exact counts, by the real values."""
    from pyspark.sql import functions as F

    names = [f"_key_{place}" for place in range(len(keys.fields))]
    values = [field.value.alias(name) for field, name in zip(keys.fields, names, strict=True)]
    if keys.wanted is not None:
        values.append(keys.wanted().alias("_wanted"))
        names.append("_wanted")
    part = rows.where(takes_part(keys, where)).select(*values)
    groups = part.groupBy(*names).agg(F.count(F.lit(1)).alias("_n"))
    measures = [
        F.coalesce(F.sum("_n"), F.lit(0)).alias("rows"),
        F.count(F.lit(1)).alias("distinct"),
        F.coalesce(F.sum(F.when(F.col("_n") > 1, F.col("_n"))), F.lit(0)).alias("repeated"),
        F.count(F.when(F.col("_n") > 1, 1)).alias("repeated_keys"),
    ]
    if keys.wanted is None:
        return groups.agg(*measures)
    # The groups by how often they occur: the last of these are the most frequent keys.
    by_count = groups.groupBy("_n").agg(
        F.count(F.lit(1)).alias("at_top"),
        F.max("_wanted").alias("is_wanted"),
        F.slice(F.sort_array(F.collect_set(F.col(names[0]).cast("string"))), 1, _MOST_SHOWN).alias(
            "most_common"
        ),
    )
    top = F.max_by(F.struct("at_top", "is_wanted", "most_common"), "_n")
    return by_count.agg(
        F.coalesce(top["at_top"], F.lit(0)).alias("at_top"),
        top["is_wanted"].alias("is_wanted"),
        top["most_common"].alias("most_common"),
    )


def is_hashed(keys: Keys) -> bool:
    """Hashes of the key are enough to count it by; else its values are asked for."""
    return keys.wanted is None


def count(
    rows: DataFrame,
    wanted: Mapping[int, tuple[Keys, Column | None]],
    known: Mapping[int, dict[str, int]],
) -> dict[int, dict[str, Any]]:
    """The counts of all keys: one job of hashes, and one of suspects where there are any.

    Of some the hashes may be known by now.
    """
    known = {place: counts for place, counts in known.items() if place in wanted}
    hashed = {place: pair for place, pair in wanted.items() if is_hashed(pair[0])}
    unknown = {place: pair for place, pair in hashed.items() if place not in known}
    found = {**known, **(_by_hash(rows, unknown) if unknown else {})}
    plans = {
        place: exact(rows, keys, where)
        for place, (keys, where) in wanted.items()
        if place not in hashed
    }
    for place, (keys, where) in hashed.items():
        if found[place]["distinct"] < found[place]["rows"]:
            plans[place] = exact(_suspected(rows, keys, where, found[place]), keys, where)
    return {**found, **_completed(found, collect(plans))}


def _by_hash(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]]
) -> dict[int, dict[str, int]]:
    """The rows of each key and how many different hashes they have.

    Hashes are shipped in lists, each of one bucket, and made sets of there: several times quicker
    than a group for each hash. There are so many buckets that Spark sorts by them and holds one
    list at a time.
    """
    from pyspark.sql import functions as F

    bits = (len(wanted) - 1).bit_length()
    bucket = _lowest(F.col("_hash"), bits + _BUCKET_BITS)
    lists = (
        _hashes(rows, list(wanted.values()), bits).groupBy(bucket.alias("_bucket"))
        .agg(F.collect_list("_hash").alias("_list"))
    )  # fmt: skip
    counted = lists.groupBy(_lowest(F.col("_bucket"), bits).alias("_key")).agg(
        F.sum(F.size("_list")).alias("rows"),
        F.sum(F.size(F.array_distinct("_list"))).alias("distinct"),
    )
    got = {row["_key"]: row for row in counted.collect()}
    found = {}
    for number, place in enumerate(wanted):
        row = got.get(number)
        there = {"rows": row["rows"], "distinct": row["distinct"]} if row else _NO_ROWS
        found[place] = {**_NO_ROWS, **there}
    return found


def _hashes(
    rows: DataFrame, wanted: Sequence[tuple[Keys, Column | None]], bits: int = 0
) -> DataFrame:
    """The hashes of all keys; the lowest bits of each say the number of its key."""
    from pyspark.sql import functions as F

    each = [
        F.when(
            takes_part(keys, where),
            F.shiftleft(hash_of(keys), bits).bitwiseOR(F.lit(number).cast("bigint")),
        )
        for number, (keys, where) in enumerate(wanted)
    ]
    return rows.select(F.stack(F.lit(len(each)), *each).alias("_hash")).where("_hash IS NOT NULL")


def _lowest(number: Column, bits: int) -> Column:
    from pyspark.sql import functions as F

    return number.bitwiseAND(F.lit((1 << bits) - 1).cast("bigint"))


def _suspected(
    rows: DataFrame, keys: Keys, where: Column | None, counted: Mapping[str, int]
) -> DataFrame:
    """The rows whose key's hash occurs more than once."""
    from pyspark.sql import functions as F

    again = counted["rows"] - counted["distinct"]
    # A key that occurs n times is n - 1 times too often, so at most twice as many are suspects.
    if 2 * again > _WORTH_SORTING_OUT * counted["rows"]:
        return rows
    groups = _hashes(rows, [(keys, where)]).groupBy("_hash").count()
    hashes = groups.where("count > 1").select(F.col("_hash").alias("_suspect"))
    if again <= _BROADCAST:
        hashes = F.broadcast(hashes)
    hashed = rows.where(takes_part(keys, where)).withColumn("_hash", hash_of(keys))
    return hashed.join(hashes, F.col("_hash") == F.col("_suspect"), "left_semi").drop("_hash")


def _completed(
    found: Mapping[int, Mapping[str, int]], confirmed: Mapping[int, Mapping[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Counts of the suspects' rows, and of the keys that were proved unique beside them."""
    done: dict[int, dict[str, Any]] = {}
    for place, counts in confirmed.items():
        beside = found[place]["rows"] - counts["rows"] if place in found else 0
        done[place] = dict(counts)
        if beside:
            done[place] |= {
                "rows": counts["rows"] + beside,
                "distinct": counts["distinct"] + beside,
            }
    return done


def collect(plans: Mapping[int, DataFrame]) -> dict[int, dict[str, Any]]:
    """The one row of each plan, all in one job."""
    import json

    from pyspark.sql import functions as F

    if not plans:
        return {}
    told = [
        plan.select(
            F.lit(place).alias("place"),
            F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("measured"),
        )
        for place, plan in plans.items()
    ]
    rows = reduce(lambda one, other: one.unionAll(other), told).collect()
    return {row["place"]: json.loads(row["measured"]) for row in rows}
