"""Count keys exactly: how many distinct ones, and how many rows repeat a key.

Every key is hashed to 64 bits, and one shuffle of hashes counts the keys of all checks. Where no
hash repeats, no key does. A hash that repeats is a suspect: only the rows of suspects are grouped
by their real values. Nothing is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from goldsmith.checks.field import Field
from goldsmith.checks.free_names import free_name
from goldsmith.checks.measures import Keys

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Broadcast up to so many suspects to the rows; join more of them in a shuffle.
_BROADCAST = 1_000_000
#: Filter the rows by suspects only if at most this share of the rows can be suspects.
_WORTH_SORTING_OUT = 0.3
#: The hashes of each key are split into 2 to the power of this many buckets.
_BUCKET_BITS = 10
_NO_ROWS = {"rows": 0, "distinct": 0, "repeated": 0, "repeated_keys": 0}
_MOST_SHOWN = 20


def any_null(keys: Keys) -> Column:
    """A row has a NULL in any column of the key, or in all of them, as `ignore` says."""
    from pyspark.sql import functions as F

    nulls = [field.value.isNull() for field in keys.fields]
    if keys.ignore == "all":
        return ~reduce(or_, [~null for null in nulls])
    return reduce(or_, nulls) if keys.ignore == "any" else F.lit(False)


def takes_part(keys: Keys, where: Column | None) -> Column:
    """The row's key is counted."""
    from pyspark.sql import functions as F

    in_scope = where if where is not None else F.lit(True)
    return in_scope if keys.nulls == "equal" else in_scope & ~any_null(keys)


def hash_of(keys: Keys) -> Column:
    """The key hashed to 64 bits; equal keys have equal hashes."""
    from pyspark.sql import functions as F

    return F.xxhash64(*(_one_zero(field) for field in keys.fields))


def _one_zero(field: Field) -> Column:
    """The column with 0.0 for -0.0: they are equal but hash differently."""
    from pyspark.sql import functions as F

    if field.type.typeName() not in ("float", "double"):
        return field.value
    return F.when(field.value == 0, F.lit(0).cast(field.type)).otherwise(field.value)


def exact(rows: DataFrame, keys: Keys, where: Column | None) -> DataFrame:
    """One row of exact counts, grouped by the real values."""
    from pyspark.sql import functions as F

    names = [f"_key_{index}" for index in range(len(keys.fields))]
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
    # Group the keys by how often they occur: the group with the highest count is the top.
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
    """Hashes are enough to count the key; otherwise its real values are needed."""
    return keys.wanted is None


def count(
    rows: DataFrame,
    wanted: Mapping[int, tuple[Keys, Column | None]],
    known: Mapping[int, dict[str, int]],
) -> dict[int, dict[str, Any]]:
    """The counts of all keys: one job for hashes, and one for suspects where there are any.

    `known` has the hash counts of keys that Arrow has counted already.
    """
    known = {index: counts for index, counts in known.items() if index in wanted}
    hashed = {index: pair for index, pair in wanted.items() if is_hashed(pair[0])}
    unknown = {index: pair for index, pair in hashed.items() if index not in known}
    found = {**known, **(_by_hash(rows, unknown) if unknown else {})}
    plans = {
        index: exact(rows, keys, where)
        for index, (keys, where) in wanted.items()
        if index not in hashed
    }
    for index, (keys, where) in hashed.items():
        if found[index]["distinct"] < found[index]["rows"]:
            plans[index] = exact(_suspected(rows, keys, where, found[index]), keys, where)
    return {**found, **_completed(found, collect(plans))}


def _by_hash(
    rows: DataFrame, wanted: Mapping[int, tuple[Keys, Column | None]]
) -> dict[int, dict[str, int]]:
    """The rows of each key and how many distinct hashes they have.

    Hashes are shuffled as one list per bucket and deduplicated there: several times faster than
    a group for each hash. There are so many buckets that Spark sorts by them and holds one list
    at a time.
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
    for number, index in enumerate(wanted):
        row = got.get(number)
        there = {"rows": row["rows"], "distinct": row["distinct"]} if row else _NO_ROWS
        found[index] = {**_NO_ROWS, **there}
    return found


def _hashes(
    rows: DataFrame, wanted: Sequence[tuple[Keys, Column | None]], bits: int = 0
) -> DataFrame:
    """The hashes of all keys; the lowest bits of each hash are the number of its key."""
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
    # A key that occurs n times has n - 1 repeats: at most twice as many rows are suspects.
    if 2 * again > _WORTH_SORTING_OUT * counted["rows"]:
        return rows
    groups = _hashes(rows, [(keys, where)]).groupBy("_hash").count()
    hashes = groups.where("count > 1").select("_hash")
    hash_column = free_name("hash", rows.columns)
    hashed = rows.where(takes_part(keys, where)).withColumn(hash_column, hash_of(keys))
    suspects = hashes.select(F.col("_hash").alias(free_name("suspect", hashed.columns)))
    if again <= _BROADCAST:
        suspects = F.broadcast(suspects)
    same = F.col(hash_column) == F.col(suspects.columns[0])
    return hashed.join(suspects, same, "left_semi").drop(hash_column)


def _completed(
    found: Mapping[int, Mapping[str, int]], confirmed: Mapping[int, Mapping[str, Any]]
) -> dict[int, dict[str, Any]]:
    """Add the rows whose hash did not repeat to the exact counts of the suspects' rows."""
    done: dict[int, dict[str, Any]] = {}
    for index, counts in confirmed.items():
        beside = found[index]["rows"] - counts["rows"] if index in found else 0
        done[index] = dict(counts)
        if beside:
            done[index] |= {
                "rows": counts["rows"] + beside,
                "distinct": counts["distinct"] + beside,
            }
    return done


def collect(plans: Mapping[int, DataFrame]) -> dict[int, dict[str, Any]]:
    """Collect the single row of each plan, all in one job."""
    import json

    from pyspark.sql import functions as F

    if not plans:
        return {}
    frames = [
        plan.select(
            F.lit(index).alias("place"),
            F.to_json(F.struct("*"), {"ignoreNullFields": "false"}).alias("measured"),
        )
        for index, plan in plans.items()
    ]
    rows = reduce(lambda left, right: left.unionAll(right), frames).collect()
    return {row["place"]: json.loads(row["measured"]) for row in rows}
