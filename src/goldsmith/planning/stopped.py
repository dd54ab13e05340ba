"""Find what flags and `enabled` stop at one moment, and who stopped it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.stage_context import StageContext


@dataclass(frozen=True, kw_only=True, slots=True)
class Stops:
    """The flags in force at one moment, by what they stop."""

    by_entity: Mapping[tuple[str, str], Flag]

    @classmethod
    def of(cls, flags: Iterable[Flag], now: datetime) -> Stops:
        return cls(
            by_entity={
                (flag.entity_type, flag.entity_id): flag for flag in flags if flag.stops(now)
            }
        )

    def on(self, context: StageContext) -> str | None:
        """Why a stage is stopped, if it is."""
        pipeline, stage = context.pipeline, context.stage
        if not self.by_entity and stage.enabled and (pipeline is None or pipeline.enabled):
            return None  # the usual case, kept fast: a plan calls this for thousands of stages
        return self.by_enabled(pipeline, stage) or self.by_flag(context)

    def leaves_out(self, context: StageContext) -> bool:
        """Only the stage's own row switches it off, so a run goes on without the stage."""
        stopped = self.by_enabled(context.pipeline, None) or self.by_flag(context)
        return not context.stage.enabled and stopped is None

    @staticmethod
    def by_enabled(pipeline: Pipeline | None, stage: Stage | None) -> str | None:
        if pipeline is not None and not pipeline.enabled:
            return f"pipeline '{pipeline.pipeline_id}' is not enabled"
        if stage is not None and not stage.enabled:
            return f"stage '{stage_id(stage)}' is not enabled"
        return None

    def by_flag(self, context: StageContext) -> str | None:
        if not self.by_entity:
            return None
        stage = context.stage
        entities = [
            ("everything", "*"),
            ("pipeline", stage.pipeline_id),
            ("stage", context.stage_id),
            *(("source", dataset.dataset_id) for dataset in context.inputs),
            ("target", stage.target_id or ""),
        ]
        return self.on_entities(entities)

    def on_entities(self, entities: Iterable[tuple[str, str]]) -> str | None:
        """The sentence of the first flag on one of these (type, id) pairs."""
        flag = next((self.by_entity[e] for e in entities if e in self.by_entity), None)
        return None if flag is None else stop_text(flag)


def stop_text(flag: Flag) -> str:
    """A sentence that names what the flag stops, who set it, until when and why."""
    what = (
        "everything"
        if flag.entity_type == "everything"
        else f"{flag.entity_type} '{flag.entity_id}'"
    )
    who = f" by {flag.updated_by}" if flag.updated_by else ""
    why = f" ({flag.reason})" if flag.reason else ""
    until = f" until {flag.ends_at:%Y-%m-%d %H:%M} UTC" if flag.ends_at else ""
    return f"{what} is switched off{who}{until}{why}"


def why_stopped(context: StageContext, rows: CatalogRows, now: datetime) -> str | None:
    """Why a running stage has to stop, by the current rows; None where it may go on.

    A deleted row stops nothing: a stage that began with the row finishes with it.
    """
    flags = Stops.of(rows.rows(Flag), now)
    pipeline = rows.get(Pipeline, context.stage.pipeline_id)
    stage = rows.get(Stage, *context.stage.key)
    return flags.by_enabled(pipeline, stage) or flags.by_flag(context)
