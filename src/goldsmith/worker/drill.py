"""A live drill: cut a source off in one environment, run the stages that need it, end the cut.

The cut is a row with an end time: if the process of the drill dies, the cut ends by itself.
Only runs are affected; the source itself is not changed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from goldsmith.errors import GoldsmithError
from goldsmith.journal import health, runs
from goldsmith.journal.clock import read_clock
from goldsmith.journal.ids import new_id
from goldsmith.journal.lineage_tables import HealthStatus
from goldsmith.journal.tables import Request, RunStatus
from goldsmith.lineage.breaker import Breaker
from goldsmith.planning.drill import DrillLine, DrillOutcome, Rehearsal, rehearse
from goldsmith.planning.stage_context import dataset_of
from goldsmith.runtime import Runtime
from goldsmith.worker.incidents import freshness
from goldsmith.worker.probes import Probes

_FINE = (RunStatus.SUCCEEDED, RunStatus.SKIPPED)
#: Runs a selection in this process or a service, and returns its request as it is then.
RunSelection = Callable[[Sequence[str]], Request]


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenLoad:
    """The load of one dataset during a drill."""

    dataset_id: str
    stage_id: str
    status: str
    #: The datasets of the path it took; None: its own source.
    route: str | None
    rows_written: int | None
    because: str | None
    #: Seconds from the cut, or from the moment the source was let back, to its end.
    after_sec: float | None

    def agrees(self, line: DrillLine) -> bool:
        """Whether the rehearsal had predicted the same."""
        if line.outcome is DrillOutcome.OTHER_WAY:
            return self.route == line.path_sequence
        is_fine = self.status in _FINE
        return (
            is_fine and self.route is None if line.outcome is DrillOutcome.SERVED else not is_fine
        )

    def as_plain(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, kw_only=True, slots=True)
class DrillReport:
    """A live drill from the cut to the return of the default."""

    drill_id: str
    environment: str
    rehearsal: Rehearsal
    started_at: datetime
    loads: tuple[SeenLoad, ...]
    #: Why the request waited; None: it did not.
    waited: str | None
    #: The loads after the source was let back; empty: that was not watched.
    loads_after: tuple[SeenLoad, ...]

    @property
    def differences(self) -> tuple[str, ...]:
        """Datasets that were not served as rehearsed."""
        seen = {load.stage_id: load for load in self.loads}
        found: list[str] = []
        for line in self.rehearsal.lines:
            load = seen.get(line.stage_id)
            if load is None:
                if line.outcome is not DrillOutcome.NOT_SERVED and self.waited is None:
                    found.append(f"{line.dataset_id}: rehearsed as {line.outcome}, did not run")
            elif not load.agrees(line):
                did = load.route or load.status
                found.append(f"{line.dataset_id}: rehearsed as {line.outcome}, was {did}")
        return tuple(found)

    def as_plain(self) -> dict[str, Any]:
        return {
            **self.rehearsal.as_plain(),
            "drill_id": self.drill_id,
            "environment": self.environment,
            "live": True,
            "started_at": self.started_at.isoformat(),
            "loads": [load.as_plain() for load in self.loads],
            "waited": self.waited,
            "loads_after": [load.as_plain() for load in self.loads_after],
            "differences": list(self.differences),
        }

    def write(self, file: Path) -> None:
        """Write the report as JSON."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(self.as_plain(), indent=2) + "\n", encoding="utf-8")


@dataclass(eq=False, kw_only=True)
class NothingToDrill(GoldsmithError):
    """No stage reads the datasets of a drill, so cutting them off would show nothing."""

    down: tuple[str, ...]

    def __str__(self) -> str:
        return f"No enabled stage reads {', '.join(self.down)}: a live drill would show nothing."

    @property
    def hint(self) -> str:
        return "`goldsmith lineage down DATASET` lists what a dataset feeds."


def rehearse_now(runtime: Runtime, downs: Sequence[str]) -> Rehearsal:
    """Rehearse an outage, with the datasets that are down now down as well; nothing runs."""
    known = {
        row.dataset_id: row.because or "a probe failed"
        for row in health.all_health(runtime.journal)
        if row.status == HealthStatus.DOWN
    }
    ages = {entry.dataset_id: entry.last_update for entry in freshness(runtime)}
    return rehearse(
        runtime.catalog_indexer.catalog_index(),
        tuple(dict.fromkeys(downs)),
        datetime.now(UTC),
        environment=runtime.settings.environment,
        known_down=known,
        last_data=last_data(runtime, ages),
    )


def drill_live(
    runtime: Runtime,
    rehearsal: Rehearsal,
    run: RunSelection,
    actor: str,
    *,
    lasts: timedelta,
    watch_return: bool = True,
) -> DrillReport:
    """Cut the datasets off, run the stages that need them, end the cut, run again."""
    if not rehearsal.lines:
        raise NothingToDrill(down=rehearsal.down)
    journal, environment = runtime.journal, runtime.settings.environment
    drill_id = new_id("drill")
    selection = [f"stage:{line.stage_id}" for line in rehearsal.lines]
    with journal.reading() as connection:
        started = read_clock(connection)
    with _cut(runtime, rehearsal.down, drill_id, actor, lasts):
        request = run(selection)
    loads = tuple(_loads(runtime, request, started))
    waited = request.because if request.ended_at is None else None
    after: tuple[SeenLoad, ...] = ()
    if watch_return:
        with journal.reading() as connection:
            back_at = read_clock(connection)
        _wait_until_well(runtime, rehearsal.down)
        after = tuple(_loads(runtime, run(selection), back_at))
    return DrillReport(
        drill_id=drill_id,
        environment=environment,
        rehearsal=rehearsal,
        started_at=started,
        loads=loads,
        waited=waited,
        loads_after=after,
    )


@contextmanager
def _cut(
    runtime: Runtime, down: Sequence[str], drill_id: str, actor: str, lasts: timedelta
) -> Iterator[None]:
    journal, environment = runtime.journal, runtime.settings.environment
    try:
        for dataset_id in down:
            health.cut(journal, dataset_id, environment, drill_id, actor, lasts)
        yield
    finally:
        for dataset_id in down:
            health.let_back(journal, dataset_id, environment, drill_id, actor)


def _loads(runtime: Runtime, request: Request, since: datetime) -> Iterator[SeenLoad]:
    """The newest stage run of each stage of a request that started after a given time."""
    found: dict[str, SeenLoad] = {}
    for run in runs.recent_runs(runtime.journal, request_id=request.request_id, most=None)[::-1]:
        for stage_run in runs.stage_runs_of(runtime.journal, run.run_id):
            if stage_run.started_at is not None and stage_run.started_at < since:
                continue
            ended = stage_run.ended_at
            name = f"{stage_run.pipeline_id}-{stage_run.stage_order}"
            found[name] = SeenLoad(
                dataset_id=str(stage_run.target_id),
                stage_id=name,
                status=str(stage_run.status),
                route=stage_run.facts.get("route"),
                rows_written=stage_run.rows_written,
                because=stage_run.because or stage_run.error_message,
                after_sec=None if ended is None else round((ended - since).total_seconds(), 1),
            )
    yield from found.values()


def _wait_until_well(runtime: Runtime, down: Sequence[str]) -> None:
    """Probe until every dataset counts as healthy again, or was not well for long enough."""
    probes, rows = Probes.of_service(runtime), runtime.catalog.snapshot()
    breaker = Breaker.of(runtime.settings.health)
    end = time.monotonic() + breaker.well_for.total_seconds() + _PATIENCE_SECONDS
    waiting = list(down)
    while waiting and time.monotonic() < end:
        for dataset_id in list(waiting):
            known = health.health_of(runtime.journal, dataset_id)
            if known is not None and known.status == HealthStatus.DOWN:
                known = probes.probe_again(known, dataset_of(dataset_id, rows))
            if known is None or known.status != HealthStatus.DOWN:
                waiting.remove(dataset_id)
        if waiting:
            time.sleep(min(1.0, breaker.well_for.total_seconds() / 2 or 0.1))


#: How much longer than the breaker asks for a drill waits for a source to be well again.
_PATIENCE_SECONDS = 30.0


def last_data(runtime: Runtime, ages: Mapping[str, datetime | None]) -> Callable[[str], Any]:
    """When data of a dataset arrived last: its newest file, or the last load that wrote it."""
    from goldsmith.planning.explain import dataset_kind
    from goldsmith.planning.increments import Increments

    rows = runtime.catalog.snapshot()
    increments = Increments(runtime.catalog, runtime.storage)

    def newest(dataset_id: str) -> datetime | None:
        dataset = dataset_of(dataset_id, rows)
        if dataset_kind(dataset) != "files":
            return ages.get(dataset_id)
        try:
            files = increments.files(dataset)
        except GoldsmithError:
            return None
        return max((file.modified_at for file in files), default=None)

    return newest
