"""Every value of the column, or the columns together, occurs in another dataset.

`to` is the other dataset, `field` or `fields` its columns, by default those of the same name. Rows
with a NULL in one of the columns are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.errors import BadCheck
from goldsmith.checks.field import Field, fields_of, find
from goldsmith.checks.measures import Counted, Extra, Rows
from goldsmith.checks.sizes import is_broadcast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataset_check(
    says="{columns} refer to nothing in {to}", any_of=("column", "columns"), cost=Cost.LOOKUP
)
def referential(
    rows: Rows,
    context: Context,
    /,
    to: str,
    column: Field | None = None,
    columns: Sequence[Field] | None = None,
    field: str | None = None,
    fields: Sequence[str] | None = None,
) -> Extra:
    from pyspark.sql import functions as F

    ours = fields_of("referential", column, columns)
    theirs = list(fields or ([field] if field is not None else [key.name for key in ours]))
    if len(ours) != len(theirs):
        problem = f"compares {len(ours)} columns with {len(theirs)}"
        raise BadCheck(check="referential", problems=(problem,), usage="columns, to, fields")
    names = [f"_key_{index}" for index in range(len(ours))]

    def plan(all_rows: DataFrame) -> DataFrame:
        keys = rows.of(all_rows).select(
            *(key.value.alias(name) for key, name in zip(ours, names, strict=True))
        )
        other = context.dataset(to)
        known = other.select(
            *(
                F.col(find(other.schema, key, check="referential")[0]).alias(name)
                for key, name in zip(theirs, names, strict=True)
            )
        )
        # With a broadcast join, grouping equal keys first saves nothing.
        counted = keys.dropna().withColumn("_n", F.lit(1))
        if not is_broadcast(known):
            counted = counted.groupBy(*names).agg(F.sum("_n").alias("_n"))
        found = known.distinct().withColumn("_found", F.lit(1))
        looked_up = counted.join(found, names, "left")
        lost = F.when(F.col("_found").isNull(), F.col("_n"))
        return looked_up.agg(
            F.coalesce(F.sum(lost), F.lit(0)).alias("broken"),
            F.coalesce(F.sum("_n"), F.lit(0)).alias("of"),
        )

    return Extra(plan=plan, judge=lambda measured: Counted(**measured))
