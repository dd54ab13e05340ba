"""The SQL query returns no rows; `{rows}` in it is the checked rows, `{name}` another dataset.

Every row the query returns is a broken row."""

from __future__ import annotations

import re
from secrets import token_hex
from typing import TYPE_CHECKING

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.context import Context
from goldsmith.checks.measures import Counted, Extra, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NAME = re.compile(r"\{([A-Za-z_][\w.\-]*)\}")


@dataset_check(says="the query gives rows", cost=Cost.PASS)
def query(rows: Rows, context: Context, /, sql: str) -> Extra:
    from pyspark.sql import functions as F

    def plan(all_rows: DataFrame) -> DataFrame:
        views = {"rows": rows.of(all_rows)}
        for name in _NAME.findall(sql):
            if name not in views:
                views[name] = context.dataset(name)
        # Do not drop the views: Spark Connect resolves them later. The session is the stage's own.
        names = {name: f"goldsmith_{token_hex(8)}" for name in views}
        for name, view in names.items():
            views[name].createOrReplaceTempView(view)
        found = all_rows.sparkSession.sql(_NAME.sub(lambda match: names[match[1]], sql))
        found.schema  # noqa: B018 - raises errors in the SQL here, for this check alone
        return found.agg(F.count(F.lit(1)).alias("broken"))

    return Extra(
        plan=plan,
        judge=lambda measured: Counted(broken=measured["broken"], of=measured["broken"]),
    )
