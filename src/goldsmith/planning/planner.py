"""Rows into a plan: which stages, in which order, and why each will or will not run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.rows import key_text
from goldsmith.catalog.snapshot import without_collector
from goldsmith.errors import GoldsmithError
from goldsmith.planning.definition import reruns, says_changed
from goldsmith.planning.integrity.finding import Finding
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.plan import Fate, News, Plan, PlannedStage
from goldsmith.planning.selection import select
from goldsmith.planning.stops import Stops
from goldsmith.planning.survey import Survey

if TYPE_CHECKING:
    from goldsmith.journal.runs import Expected

#: What is new of a stage's inputs, looked at only for stages that are shown or run.
Look = Callable[[Neighbourhood], tuple[News, ...]]


@dataclass(eq=False, kw_only=True)
class CatalogHasErrors(GoldsmithError):
    """The rows cannot be planned from: integrity has errors in them."""

    findings: tuple[Finding, ...]

    def __str__(self) -> str:
        several = "errors" if len(self.findings) > 1 else "error"
        lines = [
            f"  {finding.sentence} [{finding.code}]\n    {finding.hint}"
            for finding in self.findings[:20]
        ]
        more = len(self.findings) - 20
        rest = [f"  … and {more} more"] if more > 0 else []
        return f"The catalog has {len(self.findings)} {several}:\n" + "\n".join([*lines, *rest])

    @property
    def facts(self) -> Mapping[str, object]:
        return {"findings": [finding.as_plain() for finding in self.findings]}

    @property
    def hint(self) -> str:
        return "`goldsmith catalog check` lists every finding."


def plan(
    survey: Survey,
    selection: Sequence[str],
    *,
    now: datetime,
    environment: str,
    look: Look | None = None,
    expected: Mapping[str, Expected] | None = None,
    changed: Callable[[Neighbourhood], bool] | None = None,
) -> Plan:
    """What would run if this were asked for now; raises where the rows have errors."""
    with without_collector():
        return _plan(survey, selection, now, environment, look, expected, changed)


def _plan(
    survey: Survey,
    selection: Sequence[str],
    now: datetime,
    environment: str,
    look: Look | None,
    expected: Mapping[str, Expected] | None,
    changed: Callable[[Neighbourhood], bool] | None,
) -> Plan:
    chosen = select(survey, selection)
    errors = _errors_about(survey, chosen) if selection else survey.errors
    if errors:
        raise CatalogHasErrors(findings=errors)
    stops = Stops.of(survey.rows.rows(Flag), now)
    stages: dict[str, PlannedStage] = {}
    upstream = survey.upstream
    held: dict[str, Fate] = {}
    for name in chosen:
        near = survey.stages[name]
        after = upstream[name]
        if selection and after:
            after = tuple([earlier for earlier in after if earlier in stages])
        stage = _planned(near, after, held, stops)
        if stage.fate is not Fate.READY:
            held[name] = stage.fate
        if look is not None and stage.fate is Fate.READY:
            stage = _looked_at(stage, stages, look)
            if changed is not None and changed(near):
                stage = _redefined(stage)
        if expected:
            stage = stage._replace(expected=expected.get(name))
        stages[name] = stage
    return Plan(
        revision=survey.rows.revision,
        environment=environment,
        made_at=now,
        selection=tuple(selection),
        stages=tuple(stages.values()),
        findings=survey.findings,
    )


def _errors_about(survey: Survey, chosen: Iterable[str]) -> tuple[Finding, ...]:
    """The errors in rows that the chosen stages have to do with.

    One broken pipeline must not keep a thousand others from running.
    """
    if not survey.errors:
        return ()
    about: set[tuple[str, str]] = set()
    for name in chosen:
        near = survey.stages[name]
        about.add(("stages", key_text(near.stage.key)))
        for table, key in near.depends_on():
            said = key_text(key) if isinstance(key, tuple) else str(key)
            about |= {
                (t, said) for t in (("sources", "targets") if table == "dataset" else (table,))
            }
    return tuple(error for error in survey.errors if (error.table, error.key) in about)


def _planned(
    near: Neighbourhood,
    after: tuple[str, ...],
    held: Mapping[str, Fate],
    stops: Stops,
) -> PlannedStage:
    stopped = stops.on(near)
    if stopped is not None:
        return PlannedStage(near=near, fate=Fate.STOPPED, because=stopped, after=after)
    for earlier in after if held else ():
        if earlier in held:
            why = f"reads what {earlier} writes, and that is {held[earlier]}"
            return PlannedStage(near, Fate.BLOCKED, why, after)
    return PlannedStage(near, Fate.READY, "its inputs have not been looked at", after)


def _looked_at(stage: PlannedStage, stages: Mapping[str, PlannedStage], look: Look) -> PlannedStage:
    news = look(stage.near)
    fed_by = [e for e in stage.after if stages[e].fate in (Fate.RUN, Fate.READY)]
    volatile = stage.near.facts.volatile if stage.near.facts else ()
    fresh = [item for item in news if item.empty is False]
    if fresh:
        because = "; ".join(f"{item.dataset_id}: {item.sentence}" for item in fresh)
        return stage._replace(fate=Fate.RUN, because=because, news=news)
    if fed_by:
        because = f"after {', '.join(fed_by)}, if that publishes anything new"
        return stage._replace(fate=Fate.RUN, because=because, news=news)
    if volatile:
        because = f"its SQL asks for {', '.join(volatile)}, so it always runs"
        return stage._replace(fate=Fate.RUN, because=because, news=news)
    unknown = [item for item in news if item.empty is None]
    if unknown:
        because = "; ".join(f"{item.dataset_id}: {item.sentence}" for item in unknown)
        return stage._replace(fate=Fate.READY, because=because, news=news)
    sentence = "; ".join(f"{item.dataset_id}: {item.sentence}" for item in news)
    return stage._replace(fate=Fate.SKIP, because=f"nothing new ({sentence})", news=news)


def _redefined(stage: PlannedStage) -> PlannedStage:
    """What a changed definition makes of a stage: it runs, or says what it would need."""
    said = says_changed(stage.near)
    if reruns(stage.near):
        return stage._replace(fate=Fate.RUN, because=said)
    return stage._replace(because=f"{stage.because}; {said}")
