"""The ids of two targets differ only in case: a lake catalog that ignores case, such as Glue, makes
one table of both."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Target
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.resolved_stage import table_part


@catalog_rule(FindingSeverity.WARNING, reads=(Target, Stage))
def ids_differ_in_case(rows: CatalogRows) -> Iterator[FoundProblem]:
    first: dict[str, Target] = {}
    for target in rows.rows(Target):
        if target.target_id not in rows.writers_of:
            continue
        name = table_part(target.target_id)
        other = first.setdefault(name.lower(), target)
        if table_part(other.target_id) != name:
            yield FoundProblem(
                target,
                f"Targets '{other.target_id}' and '{target.target_id}' differ only in case.",
                "Give one of them another id: the Glue catalog makes one table of both.",
            )
