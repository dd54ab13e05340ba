"""A recovery path names a dataset that does not exist, or does not end at its own dataset."""

from __future__ import annotations

from collections.abc import Iterator

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import RecoveryPath
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.integrity.finding import FindingSeverity, FoundProblem, catalog_rule
from goldsmith.planning.integrity.known import did_you_mean


@catalog_rule(FindingSeverity.WARNING, reads=(RecoveryPath, Source, Target))
def recovery_path_broken(rows: CatalogRows) -> Iterator[FoundProblem]:
    known = rows.dataset_ids
    for path in rows.rows(RecoveryPath):
        steps = [step.strip() for step in (path.path_sequence or "").split(",")]
        whose = f"Path {path.path_order} to '{path.dataset_id}'"
        if steps[-1] != path.dataset_id:
            problem = f"ends at '{steps[-1]}'" if steps[-1] else "is empty"
            yield FoundProblem(
                path,
                f"{whose} {problem}.",
                "Write path_sequence as a comma list that ends with the dataset itself.",
            )
        for step in dict.fromkeys(steps):
            if step and step not in known:
                yield FoundProblem(
                    path,
                    f"{whose} goes through '{step}', which has no row in sources or targets.",
                    f"{did_you_mean(step, known)}Correct path_sequence, or remove the path.",
                )
