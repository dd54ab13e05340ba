"""Make a plan from catalog rows: which stages, in which order, and why each runs or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.rows import key_text
from goldsmith.catalog.snapshot import without_collector
from goldsmith.errors import GoldsmithError
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.integrity.finding import Finding
from goldsmith.planning.integrity.remedies import pairs
from goldsmith.planning.observed import Observed
from goldsmith.planning.plan import Plan, PlannedStage, StageDecision
from goldsmith.planning.reasons import ReasonCode
from goldsmith.planning.run_options import RunOptions
from goldsmith.planning.select_inputs import select_inputs
from goldsmith.planning.selection import select
from goldsmith.planning.stage_context import StageContext
from goldsmith.planning.stopped import Stops

if TYPE_CHECKING:
    from goldsmith.journal.runs import Expected

#: Observes a stage's inputs and target. Called only for stages that are shown or run.
Observe = Callable[[StageContext], Observed]


@dataclass(eq=False, kw_only=True)
class CatalogHasErrors(GoldsmithError):
    """The catalog rows have integrity errors, so no plan can be made from them."""

    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        # A mistake that concerns several rows is a finding of each row: print it once.
        distinct = list(dict.fromkeys((f.sentence, f.code, f.hint) for f in self.findings))
        several = "errors" if len(distinct) > 1 else "error"
        lines = [f"  {sentence} [{code}]\n    {hint}" for sentence, code, hint in distinct[:20]]
        more = len(distinct) - 20
        rest = [f"  … and {more} more"] if more > 0 else []
        return f"The catalog has {len(distinct)} {several}:\n" + "\n".join([*lines, *rest])

    @property
    def facts(self) -> Mapping[str, object]:
        return {"findings": [finding.as_plain() for finding in self.findings]}

    @property
    def hint(self) -> str:
        return "`goldsmith catalog check` lists every finding."


def plan(
    catalog_index: CatalogIndex,
    selection: Sequence[str],
    *,
    now: datetime,
    environment: str,
    observe: Observe | None = None,
    expected: Mapping[str, Expected] | None = None,
    leaves_out: bool = True,
) -> Plan:
    """Plan the selected stages as of `now`; raises where their rows have errors.

    A stage whose row is not enabled is left out of the run. With `leaves_out=False`, as for a
    retry or a repair, the stage counts as stopped.
    """
    with without_collector():
        return _plan(catalog_index, selection, now, environment, observe, expected, leaves_out)


def _plan(
    catalog_index: CatalogIndex,
    selection: Sequence[str],
    now: datetime,
    environment: str,
    observe: Observe | None,
    expected: Mapping[str, Expected] | None,
    leaves_out: bool,
) -> Plan:
    chosen = select(catalog_index, selection)
    errors = _errors_about(catalog_index, chosen) if selection else catalog_index.errors
    if errors:
        raise CatalogHasErrors(findings=errors)
    stops = Stops.of(catalog_index.rows.rows(Flag), now)
    stages: dict[str, PlannedStage] = {}
    upstream = catalog_index.upstream
    held: dict[str, StageDecision] = {}
    for name in chosen:
        context = catalog_index.stages[name]
        after = upstream[name]
        if selection and after:
            after = tuple([earlier for earlier in after if earlier in stages])
        stage = _planned(context, after, held, stops, leaves_out)
        if stage.fate not in (StageDecision.READY, StageDecision.LEFT_OUT):
            held[name] = stage.fate
        if observe is not None and stage.fate is StageDecision.READY:
            stage = _decided(stage, stages, observe)
        if expected:
            stage = stage._replace(expected=expected.get(name))
        stages[name] = stage
    return Plan(
        revision=catalog_index.rows.revision,
        environment=environment,
        made_at=now,
        selection=tuple(selection),
        stages=tuple(stages.values()),
        findings=catalog_index.findings,
        pairs=tuple(pairs(catalog_index.rows)),
    )


def _errors_about(catalog_index: CatalogIndex, chosen: Iterable[str]) -> tuple[Finding, ...]:
    """The errors in rows that the chosen stages depend on.

    One broken pipeline must not keep a thousand others from running.
    """
    if not catalog_index.errors:
        return ()
    about: set[tuple[str, str]] = set()
    for name in chosen:
        context = catalog_index.stages[name]
        about.add(("stages", key_text(context.stage.key)))
        for table, key in context.depends_on():
            id_ = key_text(key) if isinstance(key, tuple) else str(key)
            about |= {
                (t, id_) for t in (("sources", "targets") if table == "dataset" else (table,))
            }
    return tuple(error for error in catalog_index.errors if (error.table, error.key) in about)


def _planned(
    context: StageContext,
    after: tuple[str, ...],
    held: Mapping[str, StageDecision],
    stops: Stops,
    leaves_out: bool,
) -> PlannedStage:
    stopped = stops.on(context)
    if stopped is not None:
        if leaves_out and stops.leaves_out(context):
            return PlannedStage(
                context=context, fate=StageDecision.LEFT_OUT, because=stopped, after=after
            )
        return PlannedStage(
            context=context, fate=StageDecision.STOPPED, because=stopped, after=after
        )
    for earlier in after if held else ():
        if earlier in held:
            why = f"reads what {earlier} writes, and that is {held[earlier]}"
            return PlannedStage(context, StageDecision.BLOCKED, why, after)
    return PlannedStage(context, StageDecision.READY, "its inputs have not been looked at", after)


def _decided(
    stage: PlannedStage, stages: Mapping[str, PlannedStage], observe: Observe
) -> PlannedStage:
    """Decide what the stage reads; raises where its target lost what the stage has loaded."""
    upstream = tuple(
        e for e in stage.after if stages[e].fate in (StageDecision.RUN, StageDecision.READY)
    )
    seen = replace(observe(stage.context), upstream=upstream)
    selection = select_inputs(stage.context, seen, RunOptions())
    if selection.refused is not None and selection.refused is seen.problem:
        raise seen.problem
    codes = {why.code for why in selection.reasons}
    fate = StageDecision.RUN if codes or selection.refused else StageDecision.SKIP
    if codes == {ReasonCode.WAREHOUSE_TABLE} and selection.refused is None:
        fate = StageDecision.READY  # it is not known whether the table has new rows
    return stage._replace(fate=fate, because=selection.because, selection=selection)
