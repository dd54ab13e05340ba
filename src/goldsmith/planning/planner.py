"""Make a plan from catalog rows: which stages, in which order, and why each runs or does not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.rows import key_text
from goldsmith.catalog.snapshot import without_collector
from goldsmith.errors import GoldsmithError
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.definition import changed_definition_text, reruns
from goldsmith.planning.integrity.finding import Finding
from goldsmith.planning.integrity.remedies import pairs
from goldsmith.planning.plan import InputNews, Plan, PlannedStage, StageDecision
from goldsmith.planning.selection import select
from goldsmith.planning.stage_context import StageContext
from goldsmith.planning.stopped import Stops

if TYPE_CHECKING:
    from goldsmith.journal.runs import Expected
    from goldsmith.planning.history import HistoryCheck

#: Finds what is new in a stage's inputs. Called only for stages that are shown or run.
Look = Callable[[StageContext], tuple[InputNews, ...]]


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
    look: Look | None = None,
    expected: Mapping[str, Expected] | None = None,
    changed: Callable[[StageContext], bool] | None = None,
    leaves_out: bool = True,
    history: HistoryCheck | None = None,
) -> Plan:
    """Plan the selected stages as of `now`; raises where their rows have errors.

    A stage whose row is not enabled is left out of the run. With `leaves_out=False`, as for a
    retry or a repair, the stage counts as stopped.
    """
    with without_collector():
        return _plan(
            catalog_index, selection, now, environment, look, expected, changed, leaves_out, history
        )


def _plan(
    catalog_index: CatalogIndex,
    selection: Sequence[str],
    now: datetime,
    environment: str,
    look: Look | None,
    expected: Mapping[str, Expected] | None,
    changed: Callable[[StageContext], bool] | None,
    leaves_out: bool,
    history: HistoryCheck | None,
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
        if look is not None and stage.fate is StageDecision.READY:
            stage = _looked_at(stage, stages, look)
            if changed is not None and changed(context):
                stage = _redefined(stage)
        if history is not None and stage.fate in (
            StageDecision.READY,
            StageDecision.RUN,
            StageDecision.SKIP,
        ):
            stage = _with_history(stage, history)
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


def _looked_at(stage: PlannedStage, stages: Mapping[str, PlannedStage], look: Look) -> PlannedStage:
    news = look(stage.context)
    fed_by = [e for e in stage.after if stages[e].fate in (StageDecision.RUN, StageDecision.READY)]
    volatile = stage.context.facts.volatile if stage.context.facts else ()
    fresh = [item for item in news if item.empty is False]
    if fresh:
        because = "; ".join(f"{item.dataset_id}: {item.sentence}" for item in fresh)
        return stage._replace(fate=StageDecision.RUN, because=because, news=news)
    if fed_by:
        because = f"after {', '.join(fed_by)}, if that publishes anything new"
        return stage._replace(fate=StageDecision.RUN, because=because, news=news)
    if volatile:
        because = f"its SQL asks for {', '.join(volatile)}, so it always runs"
        return stage._replace(fate=StageDecision.RUN, because=because, news=news)
    unknown = [item for item in news if item.empty is None]
    if unknown:
        because = "; ".join(f"{item.dataset_id}: {item.sentence}" for item in unknown)
        return stage._replace(fate=StageDecision.READY, because=because, news=news)
    sentence = "; ".join(f"{item.dataset_id}: {item.sentence}" for item in news)
    return stage._replace(fate=StageDecision.SKIP, because=f"nothing new ({sentence})", news=news)


def _redefined(stage: PlannedStage) -> PlannedStage:
    """Decide for a stage whose definition changed: run it, or mention the full refresh."""
    reason = changed_definition_text(stage.context)
    if reruns(stage.context):
        return stage._replace(fate=StageDecision.RUN, because=reason)
    return stage._replace(because=f"{stage.because}; {reason}")


def _with_history(stage: PlannedStage, history: HistoryCheck) -> PlannedStage:
    """Compare the target with what the stage loaded; raises where the stage must not run."""
    again, note = history.again(stage.context), history.note(stage.context)
    if again is not None:
        stage = stage._replace(fate=StageDecision.RUN, because=again)
    return stage if note is None else stage._replace(because=f"{stage.because}; {note}")
