"""Re-route a plan: stages whose source is down read another healthy dataset.

The runs use it with probes, `goldsmith drill` with datasets that are assumed to be down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.detours import Detour, Detours, IsDown, NoDetour
from goldsmith.planning.plan import Plan, PlannedStage, StageDecision
from goldsmith.planning.stage_context import Dataset, StageContext


@dataclass(frozen=True, kw_only=True, slots=True)
class Unserved:
    """A stage whose source is down, and no other path to its target is healthy."""

    stage_id: str
    target: str
    source: str
    because: str
    #: Each other dataset that leads to the target, and why it cannot be read.
    others: tuple[str, ...] = ()
    #: Every stage of the plan that reads the target takes another path: the plan runs without it.
    bypassed: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ReroutedPlan:
    """A plan with its detours, and the stages it cannot serve."""

    plan: Plan
    #: By stage id.
    detours: dict[str, Detour]
    unserved: tuple[Unserved, ...]


def reroute_plan(
    plan: Plan,
    index: CatalogIndex,
    is_down: IsDown,
    now: datetime,
    *,
    cut: Collection[str] = (),
    every: bool = False,
) -> ReroutedPlan:
    """Give each stage whose source is down its cheapest healthy detour.

    Only stages with another path to their target, or to a dataset made of it, are considered, and
    those that read a dataset of `cut`; with `every`, all stages.
    """
    held = {s.stage_id: s.because for s in plan.stages if s.fate is not StageDecision.READY}
    detours = Detours(index, is_down, now, held)
    ready = [stage for stage in plan.stages if stage.fate is StageDecision.READY]
    with_ways = _with_ways(ready, detours)
    taken: dict[str, Detour] = {}
    unserved: dict[str, Unserved] = {}
    unmade: dict[str, str] = {}
    for stage in ready:
        context = stage.context
        reads = {dataset.dataset_id for dataset in context.inputs}
        if not (every or stage.stage_id in with_ways or reads & set(cut) or reads & set(unmade)):
            continue
        found = _look(context, detours, unmade, cut, every=every)
        if isinstance(found, Detour):
            taken[stage.stage_id] = found
        elif found is not None:
            unserved[stage.stage_id] = found
            root = f"it is made of {found.source}, which is down"
            unmade[found.target] = unmade.get(found.source, root)
    _mark_bypassed(plan, taken, unserved)
    stages = _stages(plan, taken, unserved)
    return ReroutedPlan(
        plan=replace(plan, stages=tuple(stages)), detours=taken, unserved=tuple(unserved.values())
    )


def _look(
    context: StageContext,
    detours: Detours,
    unmade: dict[str, str],
    cut: Collection[str],
    *,
    every: bool,
) -> Detour | Unserved | None:
    """What a stage does: None if its inputs can be read."""

    def problem(dataset: Dataset) -> str | None:
        return unmade.get(dataset.dataset_id) or detours.is_down(dataset)

    source = context.source
    beside = [dataset for dataset in context.inputs if dataset is not source]
    for dataset in beside:
        is_asked = every or dataset.dataset_id in cut or dataset.dataset_id in unmade
        because = problem(dataset) if is_asked else None
        if because is not None:
            return _unserved(context, dataset.dataset_id, because, NoDetour())
    because = None if source is None else problem(source)
    if source is None or because is None:
        return None
    found = detours.find(context, source.dataset_id, because)
    if isinstance(found, Detour):
        return found
    return _unserved(context, source.dataset_id, because, found)


def _unserved(context: StageContext, source: str, because: str, found: NoDetour) -> Unserved:
    return Unserved(
        stage_id=context.stage_id,
        target=str(context.stage.target_id),
        source=source,
        because=because,
        others=found.others,
    )


def _with_ways(ready: Iterable[PlannedStage], detours: Detours) -> set[str]:
    """The stages with another path to their target, or to a target made of it in this plan."""
    found: set[str] = set()
    for stage in reversed(list(ready)):
        if stage.stage_id in found or detours.alternatives(stage.context):
            found.add(stage.stage_id)
            found.update(stage.after)
    return found


def _mark_bypassed(plan: Plan, taken: dict[str, Detour], unserved: dict[str, Unserved]) -> None:
    """Mark unserved stages that every reader in the plan does without."""
    for name in reversed(list(unserved)):
        readers = [stage.stage_id for stage in plan.stages if name in stage.after]
        served = [r for r in readers if r in taken or (r in unserved and unserved[r].bypassed)]
        if readers and len(served) == len(readers):
            unserved[name] = replace(unserved[name], bypassed=True)


def _stages(
    plan: Plan, taken: dict[str, Detour], unserved: dict[str, Unserved]
) -> list[PlannedStage]:
    """The stages of the re-routed plan, with those that a detour runs first."""
    stages = {stage.stage_id: stage for stage in plan.stages}
    for name, missing in unserved.items():
        if missing.bypassed:
            because = (
                f"{missing.source} is down ({missing.because}); what reads it takes other ways"
            )
            stages[name] = stages[name]._replace(fate=StageDecision.LEFT_OUT, because=because)
    for name, detour in taken.items():
        planned = stages[name]
        because = f"{planned.context.stage.source_id} is down: reads {detour.reads} instead"
        stages[name] = planned._replace(context=detour.context, because=because)
        for context in detour.before:
            known = stages.get(context.stage_id)
            if known is None:
                because = f"on the way to {detour.context.stage.target_id}, round a source"
                stages[context.stage_id] = PlannedStage(
                    context=context, fate=StageDecision.READY, because=f"{because} that is down"
                )
            elif context.route is not None and context.stage_id not in taken:
                stages[context.stage_id] = known._replace(context=context)
    if not taken:
        return list(stages.values())
    writers = {str(stage.context.stage.target_id): name for name, stage in stages.items()}
    for name, stage in stages.items():
        if stage.fate is StageDecision.READY:
            reads = [writers.get(dataset.dataset_id) for dataset in stage.context.inputs]
            after = tuple(earlier for earlier in reads if earlier is not None and earlier != name)
            stages[name] = stage._replace(after=tuple(dict.fromkeys(after)))
    return _in_order(stages)


def _in_order(stages: dict[str, PlannedStage]) -> list[PlannedStage]:
    """The stages with those they read from first, otherwise in their order."""
    ordered: dict[str, PlannedStage] = {}
    waiting = list(reversed(stages))
    open_: set[str] = set()
    while waiting:
        name = waiting[-1]
        missing = [e for e in stages[name].after if e not in ordered and e not in open_]
        if name in ordered or not missing:
            ordered.setdefault(name, stages[name])
            open_.discard(name)
            waiting.pop()
        else:
            open_.add(name)
            waiting += reversed(missing)
    return list(ordered.values())
