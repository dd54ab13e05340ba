"""Re-route the plan of a run: probe sources, and read other datasets in place of those down.

Only stages with a declared alternative are probed. The route is planned again for every run, so a
run that was killed leaves nothing to repair. The default is used again when its breaker closes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from goldsmith.engine.attempt import WorkerResources
from goldsmith.errors import GoldsmithError
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.plan import Plan
from goldsmith.planning.rerouting import Unserved, reroute_plan
from goldsmith.planning.stage_context import Dataset
from goldsmith.worker.probes import Probes


@dataclass(eq=False, kw_only=True)
class NoHealthyPath(GoldsmithError):
    """The default source of a stage is down, and so is every other path to its target."""

    transient = True
    exit_code = 1

    stage: str
    target: str
    source: str
    because: str
    others: tuple[str, ...]

    @classmethod
    def of(cls, missing: Unserved) -> NoHealthyPath:
        return cls(
            stage=missing.stage_id,
            target=missing.target,
            source=missing.source,
            because=missing.because,
            others=missing.others,
        )

    def __str__(self) -> str:
        others = "; ".join(self.others)
        return (
            f"Stage {self.stage} waits: {self.source} is down ({self.because}), and no other way "
            f"to {self.target} is healthy" + (f": {others}" if others else "")
        )

    @property
    def hint(self) -> str:
        ways = f"`goldsmith paths {self.target}` lists the ways"
        return f"{ways}; `goldsmith datasets health` shows what the probes found."


def reroute(
    plan: Plan, index: CatalogIndex, resources: WorkerResources
) -> tuple[Plan, tuple[NoHealthyPath, ...]]:
    """Re-route the stages of a plan whose source is down to their cheapest healthy path.

    Returns also the stages that the plan leaves out because every reader takes another path.
    Raises if a stage that something needs has no healthy path.
    """
    now = datetime.now(UTC)
    probes = Probes.of(resources)
    seen: dict[str, str | None] = {}

    def is_down(dataset: Dataset) -> str | None:
        if dataset.dataset_id not in seen:
            seen[dataset.dataset_id] = probes.why_down(dataset)
        return seen[dataset.dataset_id]

    found = reroute_plan(plan, index, is_down, now, cut=probes.cut_off())
    for missing in found.unserved:
        if not missing.bypassed:
            raise NoHealthyPath.of(missing)
    return found.plan, tuple(NoHealthyPath.of(missing) for missing in found.unserved)
