"""Check before a run that each target still holds what its stages have loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.prepared import Prepared
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import restores, stage_runs
from goldsmith.journal.tables import RunStatus
from goldsmith.planning.increments import Increments
from goldsmith.planning.ledgers import replaces_all
from goldsmith.planning.lost_tables import WarehouseLookup, lost
from goldsmith.planning.observed import Observed
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage.storage import Storage

#: A plan looks at the tables of at most this many stages; each is checked again before its write.
MOST_CHECKED = 60
_UNFINISHED = Prepared(
    sa.select(restores.c.restore_id).where(
        restores.c.dataset_id == sa.bindparam("dataset"), restores.c.ended_at.is_(None)
    )
)

_UNSETTLED = Prepared(
    sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.status == RunStatus.RUNNING.value,
        stage_runs.c.target_id == sa.bindparam("target"),
        stage_runs.c.ended_at.is_(None),
    )
)


@dataclass(eq=False, kw_only=True)
class WritersLeftOut(GoldsmithError):
    """A stage would replace all rows of its target, also those that other stages loaded."""

    stage: str
    target: str
    others: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"Stage {self.stage} would replace all rows of '{self.target}', also those that"
            f" {', '.join(self.others)} loaded."
        )

    @property
    def hint(self) -> str:
        return (
            f"Refresh all of them: `goldsmith run dataset:{self.target} --full-refresh`. A stage"
            " that is not enabled has to be enabled for that, or its row removed: its rows go then."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryCheck:
    """Compares ledgers with inputs and tables before a run."""

    catalog: Catalog
    increments: Increments
    storage: Storage
    #: None: tables are not looked at.
    warehouse: Callable[[str], WarehouseLookup] | None

    def observe(self, context: StageContext) -> Observed:
        """Observe what the decision on a stage depends on, for a plan; nothing is leased."""
        return Observed(
            inputs=self.increments.observe(context),
            definition_changed=self.increments.definition_changed(context),
            renumbered_from=self.increments.ledger(context).carried_from(context),
            problem=self.problem(context),
        )

    def refuse_lost(self, context: StageContext) -> None:
        """Raise if the target lost rows that the stage does not write again in every run."""
        problem = self.problem(context)
        if problem is not None and not replaces_all(context):
            raise problem

    def problem(self, context: StageContext) -> GoldsmithError | None:
        """Why the target does not hold what the ledger counts as loaded; None if it does."""
        if _UNSETTLED.glance(self.catalog.engine, {"target": context.stage.target_id}):
            return None  # a stage run is running or died: the next write settles it first
        return self.increments.ledger(context).problem or self._lost(context)

    def _lost(self, context: StageContext) -> GoldsmithError | None:
        target = {"dataset": context.stage.target_id}
        if self.warehouse is None or _UNFINISHED.glance(self.catalog.engine, target):
            return None
        match = self.increments.ledger(context)
        try:
            return lost(context, match, self.storage, self.warehouse)
        except GoldsmithError as error:
            if not error.transient:
                raise
            return None  # the table is checked again before it is written


def refuse_partial_refresh(contexts: Iterable[StageContext]) -> None:
    """Raises where a full refresh covers some of a target's writers and not the others."""
    chosen = {context.stage_id: context for context in contexts if context.stage.enabled}
    for context in chosen.values():
        refuse_alone(context, set(chosen))


def refuse_alone(context: StageContext, chosen: Collection[str]) -> None:
    """Raises where a stage replaces all rows and other writers of the target are not chosen."""
    writers = context.target.writers if context.target is not None else ()
    others = {stage_id(writer) for writer in writers} - {context.stage_id, *chosen}
    if others:
        target = str(context.stage.target_id)
        raise WritersLeftOut(stage=context.stage_id, target=target, others=tuple(sorted(others)))
