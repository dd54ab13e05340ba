"""The ids of two targets give the same table name, so the rows of both would be in one table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.resolved_stage import table_part


@catalog_rule(FindingSeverity.ERROR, reads=(Target, Stage))
def ids_meet(rows: CatalogRows) -> Iterator[FoundProblem]:
    by_name: defaultdict[str, list[Target]] = defaultdict(list)
    for target in rows.rows(Target):
        if target.target_id in rows.writers_of:
            by_name[table_part(target.target_id)].append(target)
    for name, targets in by_name.items():
        for target in targets if len(targets) > 1 else ():
            others = ", ".join(f"'{other.target_id}'" for other in targets if other is not target)
            yield FoundProblem(
                target,
                f"Targets '{target.target_id}' and {others} are one table in the lake: a dot in an"
                f" id becomes two underscores, {name}. So are their quarantines.",
                "Give one of them another id; `goldsmith datasets move OLD NEW` takes its rows"
                " along. A table that is there keeps its name.",
            )
