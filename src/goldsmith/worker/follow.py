"""Follow a request that another process runs: show its stages as they begin and end."""

from __future__ import annotations

from goldsmith.engine.run import ExecutionOptions
from goldsmith.journal import runs, workers
from goldsmith.journal.tables import Request, RequestStatus, RunStatus, StageRun
from goldsmith.journal.tables_of_service import WorkerRow
from goldsmith.planning.plan import PlannedStage, StageDecision
from goldsmith.runtime import Runtime


def live_workers(runtime: Runtime) -> list[WorkerRow]:
    """The living workers that take requests in this environment."""
    environment = runtime.settings.environment
    return [row for row in workers.alive(runtime.journal) if row.environment == environment]


class Follower:
    """Reports the progress of a request's stages, from the journal's rows."""

    def __init__(self, runtime: Runtime, execution_options: ExecutionOptions) -> None:
        self._runtime = runtime
        self._tell = execution_options.tell
        self._shown: dict[str, bool] = {}

    def look(self, request: Request) -> None:
        """Report the events since the last call."""
        if request.status == RequestStatus.WAITING:
            return
        journal = self._runtime.journal
        for run in reversed(runs.recent_runs(journal, request_id=request.request_id, most=None)):
            for stage_run in runs.stage_runs_of(journal, run.run_id):
                self._show(stage_run)

    def _show(self, stage_run: StageRun) -> None:
        name = stage_run.stage_run_id
        stage = self._stage(stage_run)
        if stage is None or self._shown.get(name):
            return
        if name not in self._shown and stage_run.status == RunStatus.RUNNING:
            self._tell("started", stage, stage_run)
        if stage_run.ended_at is not None:
            self._tell("ended", stage, stage_run)
        self._shown[name] = stage_run.ended_at is not None

    def _stage(self, stage_run: StageRun) -> PlannedStage | None:
        stages = self._runtime.catalog_indexer.last().stages
        context = stages.get(f"{stage_run.pipeline_id}-{stage_run.stage_order}")
        return None if context is None else PlannedStage(context, StageDecision.RUN, "")
