"""Open incidents for failures that did not heal and stale datasets; close them on success."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa

from goldsmith.catalog.definitions import TABLES
from goldsmith.catalog.incidents import NotificationRoute, SeverityLevel
from goldsmith.catalog.pipelines import Pipeline
from goldsmith.healing.codes import codes
from goldsmith.healing.failure import DecisionKind, Failure
from goldsmith.healing.heal import Healed
from goldsmith.healing.severity import may_age, severity_of
from goldsmith.journal import incidents, outbox, row_storage
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import healing_uses, stage_runs
from goldsmith.journal.healing_tables import HealingUse, Incident, Message
from goldsmith.journal.ids import new_id
from goldsmith.journal.tables import LEFT_OUT, Request, RunStatus, StageRun
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.runtime import Runtime

STALE = "DatasetStale"
_FINE = (RunStatus.SUCCEEDED, RunStatus.SKIPPED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Freshness:
    """How old a dataset is."""

    dataset_id: str
    pipeline_id: str
    last_update: datetime | None
    #: Since the last update; where there was none, since the pipeline was declared.
    hours_stale: float | None
    #: The allowed age in hours; None: no limit.
    may_be_hours: float | None
    severity: str | None

    @property
    def is_stale(self) -> bool:
        return (
            self.hours_stale is not None
            and self.may_be_hours is not None
            and self.hours_stale > self.may_be_hours
        )


def after_request(
    runtime: Runtime,
    request: Request,
    attempts: Sequence[StageRun],
    healed: Sequence[tuple[Failure, Healed]],
    connection: sa.Connection,
) -> None:
    """Open an incident for each held failure, and close those of stages that succeeded.

    A replay opens and closes nothing: it does not read the pipeline's input. A trial run
    (`--limit`) opens and closes nothing: it publishes nothing.
    """
    if "replay" in request.options or "limit" in request.options:
        return
    passed = [o for o in attempts if o.status in _FINE and not o.facts.get(LEFT_OUT)]
    fine = [f"stage:{o.pipeline_id}-{o.stage_order}" for o in passed]
    fine += [f"dataset:{o.target_id}" for o in attempts if o.status == RunStatus.SUCCEEDED]
    for over in incidents.open_about(fine, connection=connection):
        because = f"{over.about} passed in request {request.request_id}"
        incidents.close(
            runtime.journal, over.incident_id, "goldsmith", because, connection=connection
        )
    held_failures = [
        (failure, result) for failure, result in healed if result.decision.do is DecisionKind.HOLD
    ]
    if held_failures:
        catalog_index = runtime.catalog_indexer.catalog_index()
        ages = _last_updates(connection)
        for failure, result in held_failures:
            found = _of_failure(catalog_index, failure, result, ages, connection)
            _report(runtime, catalog_index, found, connection)


def update_incidents(runtime: Runtime) -> list[Incident]:
    """Open incidents for stale datasets, and raise the severity of open ones as data ages."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    stale = {entry.dataset_id: entry for entry in freshness(runtime) if entry.is_stale}
    waiting = {entry.dataset_id: entry for entry in incidents.listed(runtime.journal)}
    changed = []
    with runtime.journal.writing() as connection:
        for dataset, fresh in stale.items():
            open_incident = waiting.get(dataset)
            found = (
                _of_stale(catalog_index, fresh)
                if open_incident is None
                else _aged(open_incident, fresh)
            )
            if open_incident is None or str(found.severity) < str(open_incident.severity):
                changed.append(_report(runtime, catalog_index, found, connection))
    return changed


def freshness(runtime: Runtime) -> list[Freshness]:
    """The freshness of every dataset that stages write, the stalest first."""
    catalog_index = runtime.catalog_indexer.catalog_index()
    levels = list(catalog_index.rows.rows(SeverityLevel))
    with runtime.journal.reading() as connection:
        ages, now = _last_updates(connection), read_clock(connection)
    found = {
        str(context.stage.target_id): _fresh(
            str(context.stage.target_id),
            context.pipeline,
            ages.get(str(context.stage.target_id)),
            now,
            levels,
        )
        for context in catalog_index.stages.values()
        if context.stage.target_id is not None and context.pipeline is not None
    }
    return sorted(found.values(), key=lambda dataset: -(dataset.hours_stale or 0.0))


def _fresh(
    dataset: str,
    pipeline: Pipeline,
    last: datetime | None,
    now: datetime,
    levels: Sequence[SeverityLevel],
) -> Freshness:
    since = last or pipeline.created_at
    hours = None if since is None else (now - since.astimezone(UTC)).total_seconds() / 3600
    may_be = None
    if pipeline.sla_minutes is not None:
        may_be = pipeline.sla_minutes / 60
    elif pipeline.schedule and pipeline.enabled:
        may_be = may_age(levels, pipeline.impact)
    severity = severity_of(levels, hours, pipeline.impact)
    return Freshness(
        dataset_id=dataset,
        pipeline_id=pipeline.pipeline_id,
        last_update=last,
        hours_stale=hours,
        may_be_hours=may_be,
        severity=severity if may_be is not None and (hours or 0) > may_be else None,
    )


def _last_updates(connection: sa.Connection) -> dict[str, datetime]:
    # A skipped stage counts: it found nothing new, so its dataset is up to date.
    # Take the newest end of each status: that uses an index, a maximum would read all history.
    newest = [_newest_end(status) for status in _FINE]
    targets = TABLES["targets"]
    read = StageRun.table.by_name["ended_at"].from_storage
    ages = {}
    for target, *ends in connection.execute(sa.select(targets.c.target_id, *newest)):
        if end_times := [read(at) for at in ends if at is not None]:
            ages[str(target)] = max(end_times)
    return ages


def _newest_end(status: RunStatus) -> sa.ScalarSelect[datetime | None]:
    return (
        sa.select(stage_runs.c.ended_at)
        .where(
            stage_runs.c.target_id == TABLES["targets"].c.target_id,
            stage_runs.c.status == status.value,
            stage_runs.c.ended_at.is_not(None),
            # A stage run that was left out, or had --limit, updates nothing.
            sa.or_(stage_runs.c.facts.is_(None), sa.not_(_says(LEFT_OUT))),
        )
        .order_by(stage_runs.c.ended_at.desc())
        .limit(1)
        .scalar_subquery()
    )


def _says(fact: str) -> sa.ColumnElement[bool]:
    return sa.cast(stage_runs.c.facts, sa.Text).contains(f'"{fact}"', autoescape=True)


def _of_failure(
    catalog_index: CatalogIndex,
    failure: Failure,
    healed: Healed,
    ages: dict[str, datetime],
    connection: sa.Connection,
) -> Incident:
    context = catalog_index.stages.get(failure.stage_id)
    pipeline = None if context is None else context.pipeline
    last = ages.get(str(failure.target_id))
    hours = None
    if last is not None:
        hours = (read_clock(connection) - last).total_seconds() / 3600
    levels = catalog_index.rows.rows(SeverityLevel)
    code = codes().get(failure.code)
    return Incident(
        incident_id=new_id("incident"),
        severity=severity_of(levels, hours, pipeline.impact if pipeline else "none"),
        about=f"stage:{failure.stage_id}",
        pipeline_id=failure.pipeline_id,
        stage_order=failure.stage_order,
        dataset_id=failure.target_id,
        error_code=failure.code,
        cause=f"{failure.message or failure.code} ({healed.decision.because})",
        runbook=None if code is None else f"{code.cause} {code.advice}",
        tried=tuple(_tried(failure, connection)),
        affected=tuple(downstream(catalog_index, str(failure.target_id))),
        owner=None if pipeline is None else pipeline.owner,
        request_id=failure.request_id,
        run_id=failure.run_id,
    )


def _tried(failure: Failure, connection: sa.Connection) -> Iterator[str]:
    query = (
        sa.select(healing_uses)
        .where(
            healing_uses.c.request_id == failure.request_id,
            healing_uses.c.pipeline_id == failure.pipeline_id,
            healing_uses.c.stage_order == failure.stage_order,
        )
        .order_by(healing_uses.c.at)
    )
    for use in row_storage.select(connection, HealingUse, query):
        yield f"{use.remedy} for {use.error_code}: {use.because} ({use.outcome})"


def downstream(catalog_index: CatalogIndex, dataset: str) -> list[str]:
    """Every dataset fed by this one, nearest first."""
    found: dict[str, None] = {}
    edge = [dataset]
    while edge:
        reads = set(edge)
        edge = []
        for context in catalog_index.stages.values():
            target = context.stage.target_id
            fed = any(dataset_input.dataset_id in reads for dataset_input in context.inputs)
            if fed and target is not None and target != dataset and target not in found:
                found[target] = None
                edge.append(target)
    return list(found)


def _of_stale(catalog_index: CatalogIndex, fresh: Freshness) -> Incident:
    pipeline = catalog_index.rows.table(Pipeline).get((fresh.pipeline_id,))
    return Incident(
        incident_id=new_id("incident"),
        severity=fresh.severity,
        about=f"dataset:{fresh.dataset_id}",
        pipeline_id=fresh.pipeline_id,
        dataset_id=fresh.dataset_id,
        error_code=STALE,
        cause=_stale_says(fresh),
        runbook="See `goldsmith why` of the dataset: what should have written it did not run.",
        affected=tuple(downstream(catalog_index, fresh.dataset_id)),
        owner=None if pipeline is None else pipeline.owner,
    )


def _aged(incident: Incident, fresh: Freshness) -> Incident:
    cause = incident.cause
    if incident.error_code == STALE:
        cause = _stale_says(fresh)
    return incident.with_(severity=fresh.severity, cause=cause)


def _stale_says(fresh: Freshness) -> str:
    if fresh.last_update is None:
        return (
            f"{fresh.dataset_id} was never written, {fresh.hours_stale:.1f} h after it was declared"
        )
    limit = f"the limit is {fresh.may_be_hours:g} h"
    return f"{fresh.dataset_id} is {fresh.hours_stale:.1f} h old, and {limit}"


def _report(
    runtime: Runtime, catalog_index: CatalogIndex, incident: Incident, connection: sa.Connection
) -> Incident:
    """Open or update an incident and queue its notifications, in one transaction."""
    stored, is_news = incidents.report(runtime.journal, incident, connection=connection)
    if is_news:
        for message in messages(stored, catalog_index.rows.rows(NotificationRoute)):
            outbox.put(message, connection=connection)
    return stored


def messages(incident: Incident, routes: Iterable[NotificationRoute]) -> Iterator[Message]:
    """The notifications of an incident: one message for each route and severity."""
    for route in routes:
        if not route.enabled or str(incident.severity) > route.least_severity:
            continue
        if route.pipelines and incident.pipeline_id not in route.pipelines:
            continue
        body = {"text": _text(incident)} if route.kind == "slack" else incident.as_plain()
        yield Message(
            message_id=f"{route.route_id}:{incident.incident_id}:{incident.severity}",
            route_id=route.route_id,
            incident_id=incident.incident_id,
            body=body,
        )


def _text(incident: Incident) -> str:
    owner = f" Owner: {incident.owner}." if incident.owner else ""
    more = f" {len(incident.affected)} datasets depend on it." if incident.affected else ""
    return (
        f"[{incident.severity}] {incident.error_code} in {incident.pipeline_id}: {incident.cause}."
        f"{more}{owner} {incident.runbook or ''} ({incident.incident_id})"
    )
