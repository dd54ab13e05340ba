"""Match each stage with its ledger: the record of what the stage has loaded into its target.

A ledger is found by its target and its source. The stage's name and number only tell apart two
ledgers with the same target and source. So a stage that is renumbered, or whose pipeline is
renamed, keeps its ledger. If the match is ambiguous, the stage is refused before it runs, and the
error lists the ways out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

import sqlalchemy as sa

from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.datasets import Target
from goldsmith.catalog.definitions import table_of
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.prepared import Prepared
from goldsmith.catalog.write_modes import Replaces
from goldsmith.errors import GoldsmithError
from goldsmith.journal.definitions import stage_ledgers
from goldsmith.journal.tables_of_ledgers import StageLedger
from goldsmith.planning.definition import definition_of
from goldsmith.planning.ledger_problems import HistoryUnclear, TableMoved, TargetRenamed
from goldsmith.planning.locations import folder, is_same_table, table_name, warehouse_table
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.stage_context import StageContext

_STAGES = table_of(Stage)
_TARGETS = table_of(Target)
_OF_TARGET = Prepared(
    sa.select(stage_ledgers)
    .where(stage_ledgers.c.target_id == sa.bindparam("target"))
    .order_by(stage_ledgers.c.ledger_id)
)
_OF_STAGE = Prepared(
    sa.select(stage_ledgers)
    .where(stage_ledgers.c.pipeline_id == sa.bindparam("pipeline"))
    .where(stage_ledgers.c.stage_order == sa.bindparam("number"))
    .order_by(stage_ledgers.c.ledger_id)
)
_AT_LOCATION = Prepared(
    sa.select(stage_ledgers)
    .where(stage_ledgers.c.location == sa.bindparam("location"))
    .where(stage_ledgers.c.published_by.is_not(None))
)
_BY_ID = Prepared(
    sa.select(stage_ledgers.c.ledger_id).where(stage_ledgers.c.ledger_id == sa.bindparam("ledger"))
)
_WRITERS = Prepared(
    sa.select(
        _STAGES.c.pipeline_id, _STAGES.c.stage_order, _STAGES.c.stage_name, _STAGES.c.source_id
    ).where(_STAGES.c.target_id == sa.bindparam("target"))
)
_DECLARED = Prepared(
    sa.select(_TARGETS.c.target_id).where(_TARGETS.c.target_id == sa.bindparam("target"))
)


class Writer(NamedTuple):
    """The row of a stage that writes a target."""

    pipeline_id: str
    stage_order: int
    stage_name: str | None
    source_id: str | None

    def __str__(self) -> str:
        return f"{self.pipeline_id}-{self.stage_order}"


@dataclass(frozen=True, kw_only=True, slots=True)
class LedgerMatch:
    """The ledger of a stage, or the id of a new one."""

    ledger_id: str
    #: None: the stage has no ledger yet.
    ledger: StageLedger | None = None
    #: Why the stage must not run incrementally.
    problem: GoldsmithError | None = None
    #: With a problem and no ledger: the ledgers that may hold what the stage has loaded.
    former: tuple[str, ...] = ()

    @property
    def is_published(self) -> bool:
        """A run of this ledger was published to the target."""
        return self.ledger is not None and self.ledger.published_by is not None

    def carried_from(self, context: StageContext) -> str | None:
        """The stage id under which the stage was last published, if it differs from the id now."""
        before = None if self.ledger is None else stage_of(self.ledger)
        return before if before not in (None, context.stage_id) else None


def stage_of(ledger: StageLedger) -> str:
    """The id of the stage a ledger belongs to: pipeline_id-stage_order."""
    return f"{ledger.pipeline_id}-{ledger.stage_order}"


def replaces_all(context: StageContext) -> bool:
    """Every run of the stage writes its whole table from all of its input."""
    return context.resolved.replaces is Replaces.EVERYTHING and context.resolved.read == "all"


class Ledgers:
    """Reads the ledgers of a catalog's stages."""

    def __init__(self, catalog: Catalog) -> None:
        self._engine = catalog.engine

    def of_target(self, target_id: str) -> list[StageLedger]:
        """Every ledger of a target."""
        return self._rows(_OF_TARGET, target=target_id)

    def unclaimed(self, target_id: str) -> list[StageLedger]:
        """The published ledgers of a target that match no stage of the catalog."""
        ledgers = self.of_target(target_id)
        claimed = {ledger.ledger_id for _w, ledger in _pairs(self.writers(target_id), ledgers)}
        return [
            ledger for ledger in ledgers if ledger.published_by and ledger.ledger_id not in claimed
        ]

    def of_others(self, context: StageContext) -> frozenset[str]:
        """The ledgers of the other stages that write the stage's target."""
        target_id = str(context.stage.target_id)
        pairs = _pairs(self.writers(target_id), self.of_target(target_id))
        return frozenset(
            ledger.ledger_id for writer, ledger in pairs if str(writer) != context.stage_id
        )

    def writers(self, target_id: str) -> list[Writer]:
        """The stages that write a target, by the current rows."""
        found = _WRITERS.glance(self._engine, {"target": target_id})
        return [Writer(*row) for row in found]

    def match(self, context: StageContext) -> LedgerMatch:
        """The ledger of a stage, or an id for a new ledger where it has none yet."""
        stage, target_id = context.stage, str(context.stage.target_id)
        source_id = context.declared.stage.source_id
        me = Writer(stage.pipeline_id, stage.stage_order, stage.stage_name, source_id)
        others = [w for w in self.writers(target_id) if str(w) != str(me)]
        ledgers = self.of_target(target_id)
        mine = next((ledger for w, ledger in _pairs([me, *others], ledgers) if w is me), None)
        if mine is None:
            problem = self._unclear(context, me, others, ledgers) or self._renamed(context)
            old = problem.old if isinstance(problem, TargetRenamed) else target_id
            former = () if problem is None else tuple(o.ledger_id for o in self.of_target(old))
            new_id = self._new_id(context)
            return LedgerMatch(ledger_id=new_id, problem=problem, former=former)
        problem = _swapped(context, mine, ledgers) or _moved(context, mine)
        return LedgerMatch(ledger_id=mine.ledger_id, ledger=mine, problem=problem)

    def _unclear(
        self,
        context: StageContext,
        me: Writer,
        others: Sequence[Writer],
        ledgers: Sequence[StageLedger],
    ) -> GoldsmithError | None:
        """An error if unmatched ledgers of the same source may belong to this stage."""
        claimed = {ledger.ledger_id for _w, ledger in _pairs([me, *others], ledgers)}
        left = [
            ledger
            for ledger in ledgers
            if ledger.published_by
            and ledger.ledger_id not in claimed
            and ledger.source_id in (None, me.source_id)
        ]
        if not left:
            return None
        before = tuple(stage_of(ledger) for ledger in left)
        return HistoryUnclear(
            stage=context.stage_id, target=str(context.stage.target_id), before=before
        )

    def _renamed(self, context: StageContext) -> GoldsmithError | None:
        """An error if the stage, or its location, has an unmatched ledger of another target."""
        for old in dict.fromkeys(self._former_targets(context)):
            return TargetRenamed(stage=context.stage_id, old=old, new=str(context.stage.target_id))
        return None

    def _former_targets(self, context: StageContext) -> Iterable[str]:
        stage = context.stage
        mine = {"pipeline": stage.pipeline_id, "number": stage.stage_order}
        for ledger in self._rows(_OF_STAGE, **mine):
            if ledger.published_by and ledger.source_id in (None, stage.source_id):
                yield from self._if_unclaimed(context, ledger)
        for ledger in self._rows(_AT_LOCATION, location=location_of(context)):
            if not _DECLARED.glance(self._engine, {"target": ledger.target_id}):
                yield from self._if_unclaimed(context, ledger)

    def _if_unclaimed(self, context: StageContext, ledger: StageLedger) -> Iterable[str]:
        old = str(ledger.target_id)
        if old != context.stage.target_id and any(
            free.ledger_id == ledger.ledger_id for free in self.unclaimed(old)
        ):
            yield old

    def _new_id(self, context: StageContext) -> str:
        """An unused id for a new ledger."""
        first = f"{context.stage_id}:{context.stage.target_id}"
        for wanted in chain((context.stage_id, first), (f"{first}:{n}" for n in count(2))):
            if not _BY_ID.glance(self._engine, {"ledger": wanted}):
                return wanted
        raise AssertionError("unreachable")

    def _rows(self, query: Prepared, **values: object) -> list[StageLedger]:
        return [StageLedger.from_storage(row) for row in query.glance(self._engine, values)]


def _pairs(
    writers: Sequence[Writer], ledgers: Sequence[StageLedger]
) -> list[tuple[Writer, StageLedger]]:
    """Match each writer of a target with its ledger, surest rule first; skip ambiguous matches."""
    found: list[tuple[Writer, StageLedger]] = []
    stages, left = list(writers), list(ledgers)

    def pair(same: Callable[[Writer, StageLedger], bool], among: Iterable[StageLedger]) -> None:
        free = list(among)
        for writer in list(stages):
            fits = [ledger for ledger in free if ledger in left and same(writer, ledger)]
            rivals = [other for other in stages if any(same(other, ledger) for ledger in fits)]
            if len(fits) == 1 and len(rivals) == 1:
                found.append((writer, fits[0]))
                stages.remove(writer)
                left.remove(fits[0])

    def published() -> list[StageLedger]:
        return [ledger for ledger in left if ledger.published_by]

    pair(lambda w, ledger: _named(w, ledger) and _same_source(w, ledger), left)
    pair(lambda w, ledger: _numbered(w, ledger) and _same_source(w, ledger), left)
    pair(
        lambda w, ledger: w.pipeline_id == ledger.pipeline_id and _same_source(w, ledger),
        published(),
    )
    pair(_same_source, published())
    pair(_numbered, left)
    return found


def _same_source(writer: Writer, ledger: StageLedger) -> bool:
    return ledger.source_id is None or ledger.source_id == writer.source_id


def _numbered(writer: Writer, ledger: StageLedger) -> bool:
    return (writer.pipeline_id, writer.stage_order) == (ledger.pipeline_id, ledger.stage_order)


def _named(writer: Writer, ledger: StageLedger) -> bool:
    same = (writer.pipeline_id, writer.stage_name) == (ledger.pipeline_id, ledger.stage_name)
    return same and writer.stage_name is not None


def _swapped(
    context: StageContext, mine: StageLedger, ledgers: Sequence[StageLedger]
) -> GoldsmithError | None:
    """An error if another ledger of the same source has the stage's current definition."""
    now = definition_of(context)
    if mine.definition in (None, now) or mine.stage_name is not None:
        return None
    rivals = [
        ledger
        for ledger in ledgers
        if ledger is not mine
        and ledger.published_by
        and ledger.source_id == mine.source_id
        and ledger.definition == now
    ]
    if not rivals:
        return None
    before = tuple(stage_of(ledger) for ledger in (mine, *rivals))
    return HistoryUnclear(stage=context.stage_id, target=str(mine.target_id), before=before)


def _moved(context: StageContext, mine: StageLedger) -> GoldsmithError | None:
    """An error if the stage would write another table than the one it has loaded."""
    target = context.target.target if context.target is not None else None
    if target is None or mine.published_by is None or mine.table_name is None:
        return None
    now = table_name(target, context.resolved.layer)
    if is_same_table(now, mine.table_name):
        return None
    return TableMoved(stage=context.stage_id, target=target.target_id, old=mine.table_name, new=now)


def location_of(context: StageContext) -> str | None:
    """The location of the stage's target, normalised."""
    target = context.target.target if context.target is not None else None
    if target is None or not target.location:
        return None
    return folder(target.location) if is_lake(target) else warehouse_table(target.location)
