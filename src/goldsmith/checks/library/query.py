"""The SQL gives no rows; in it `{rows}` stands for the rows checked, `{name}` for a dataset.

Every row it gives is a broken one."""

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
        # They stay: Spark Connect looks for them when the query runs. The session is a stage's own.
        names = {name: f"goldsmith_{token_hex(8)}" for name in views}
        for name, view in names.items():
            views[name].createOrReplaceTempView(view)
        found = all_rows.sparkSession.sql(_NAME.sub(lambda match: names[match[1]], sql))
        found.schema  # noqa: B018 - what is wrong with the SQL is said here, of this check alone
        return found.agg(F.count(F.lit(1)).alias("broken"))

    return Extra(
        plan=plan,
        judge=lambda measured: Counted(broken=measured["broken"], of=measured["broken"]),
    )
