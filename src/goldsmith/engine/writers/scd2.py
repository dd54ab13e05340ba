"""Keep every version of each key with the time it was valid; late and repeated changes are right.

The versions of the keys that came are computed anew from the ones there are and the ones that
came, in the order of the watermark. A change that says what the one before it said is no new
version. It is kept with an empty validity all the same: a change that arrives late may fall
between the two, and then it is one (docs/decisions/0007-scd2-repeats.md).
"""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from goldsmith.engine.names import name
from goldsmith.engine.transforms.held import held
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.writers.writer import Writing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FROM, TO, CURRENT = "_valid_from", "_valid_to", "_is_current"
_VIEW = "goldsmith_versions"


def with_validity(rows: DataFrame, watermark: str) -> DataFrame:
    """The rows with the columns that say when each was valid."""
    from pyspark.sql import functions as F

    return rows.withColumns(
        {
            FROM: F.col(name(watermark)).cast("timestamp"),
            TO: F.lit(None).cast("timestamp"),
            CURRENT: F.lit(True),
        }
    )


def scd2(writing: Writing) -> None:
    came = latest_per_key(writing.rows, keys=(*writing.keys, FROM))
    if writing.is_empty:
        versions = _versions(came, writing).where("NOT _gone").drop("_gone")
        writing.table.append(versions, writing.branch, writing.stage_run_id)
        return
    # Kept first: Spark cannot plan a MERGE whose source is windows over its own target.
    _versions(came, writing).localCheckpoint(eager=True).createOrReplaceTempView(_VIEW)
    same = " AND ".join(f"t.{name(key)} <=> s.{name(key)}" for key in (*writing.keys, FROM))
    columns = [name(column) for column in came.columns]
    updates = ", ".join(f"t.{column} = s.{column}" for column in columns)
    writing.table.merge(
        f"MERGE INTO {writing.table.branch_name(writing.branch)} t USING {_VIEW} s ON {same}"
        " WHEN MATCHED AND s._gone THEN DELETE"
        f" WHEN MATCHED THEN UPDATE SET {updates}"
        f" WHEN NOT MATCHED AND NOT s._gone THEN INSERT ({', '.join(columns)})"
        f" VALUES ({', '.join(f's.{column}' for column in columns)})",
        writing.stage_run_id,
    )


def _versions(came: DataFrame, writing: Writing) -> DataFrame:
    """All versions of the keys that came, and the ones that are no versions any more."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    by_key = [F.col(name(key)) for key in writing.keys]
    single = came
    if not writing.is_empty:
        existing = _existing(came, writing).withColumn("_came", F.lit(0))
        both = existing.unionByName(came.withColumn("_came", F.lit(1)), allowMissingColumns=True)
        one_moment = Window.partitionBy(*by_key, FROM).orderBy(F.col("_came").desc())
        # What came at the same moment corrects what was there.
        single = both.withColumn("_n", F.row_number().over(one_moment)).where("_n = 1").drop("_n")
    says = held(came, but=(*writing.keys, writing.watermark or ""))
    in_order = Window.partitionBy(*by_key).orderBy(F.col(FROM).asc_nulls_first())
    before = F.lag(F.struct(*says, F.lit(1))).over(in_order)
    marked = single.withColumn("_repeats", before.eqNullSafe(F.struct(*says, F.lit(1))))
    # The next version, repeats left out; asked for in this order it needs no other sort.
    listed = ", ".join(name(key) for key in writing.keys)
    next_from = F.expr(
        f"lead(CASE WHEN NOT _repeats THEN {FROM} END) IGNORE NULLS OVER "
        f"(PARTITION BY {listed} ORDER BY {FROM} ASC NULLS FIRST)"
    )
    # Without a watermark the moment is that of the run, and nothing can arrive late.
    gone = F.lit(False) if writing.watermark is not None else F.col("_repeats")
    return marked.withColumns(
        {
            TO: F.when(F.col("_repeats"), F.col(FROM)).otherwise(next_from),
            CURRENT: next_from.isNull() & ~F.col("_repeats"),
            "_gone": gone,
        }
    ).select(*(F.col(name(c)) for c in came.columns), "_gone")


def _existing(came: DataFrame, writing: Writing) -> DataFrame:
    """The versions there are of the keys that came."""
    from pyspark.sql import functions as F

    there = writing.table.spark.table(writing.table.branch_name(writing.branch))
    keys = [F.col(f"k.{name(key)}").eqNullSafe(F.col(f"t.{name(key)}")) for key in writing.keys]
    touched = came.select(*(F.col(name(key)) for key in writing.keys)).distinct()
    return there.alias("t").join(touched.alias("k"), reduce(and_, keys), "left_semi")
