"""What is stopped at one moment, by flags and by `enabled`, and who says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.snapshot import Snapshot
from goldsmith.planning.neighbourhood import Neighbourhood
from goldsmith.planning.words import stage_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Stops:
    """Which things flags stop at one moment."""

    by_entity: Mapping[tuple[str, str], Flag]

    @classmethod
    def of(cls, flags: Iterable[Flag], now: datetime) -> Stops:
        return cls(
            by_entity={
                (flag.entity_type, flag.entity_id): flag for flag in flags if flag.stops(now)
            }
        )

    def on(self, near: Neighbourhood) -> str | None:
        """Why a stage is stopped, if it is."""
        pipeline, stage = near.pipeline, near.stage
        if not self.by_entity and stage.enabled and (pipeline is None or pipeline.enabled):
            return None  # as nearly always: a plan asks for thousands
        return self.by_enabled(pipeline, stage) or self.by_flag(near)

    @staticmethod
    def by_enabled(pipeline: Pipeline | None, stage: Stage | None) -> str | None:
        if pipeline is not None and not pipeline.enabled:
            return f"pipeline '{pipeline.pipeline_id}' is not enabled"
        if stage is not None and not stage.enabled:
            return f"stage '{stage_id(stage)}' is not enabled"
        return None

    def by_flag(self, near: Neighbourhood) -> str | None:
        if not self.by_entity:
            return None
        stage = near.stage
        entities = [
            ("everything", "*"),
            ("pipeline", stage.pipeline_id),
            ("stage", near.stage_id),
            *(("source", dataset.dataset_id) for dataset in near.inputs),
            ("target", stage.target_id or ""),
        ]
        flag = next((self.by_entity[e] for e in entities if e in self.by_entity), None)
        return None if flag is None else said(flag)


def said(flag: Flag) -> str:
    """A flag in words."""
    what = (
        "everything"
        if flag.entity_type == "everything"
        else f"{flag.entity_type} '{flag.entity_id}'"
    )
    who = f" by {flag.updated_by}" if flag.updated_by else ""
    why = f" ({flag.reason})" if flag.reason else ""
    until = f" until {flag.ends_at:%Y-%m-%d %H:%M} UTC" if flag.ends_at else ""
    return f"{what} is switched off{who}{until}{why}"


def why_stopped(near: Neighbourhood, rows: Snapshot, now: datetime) -> str | None:
    """Why a stage that runs has to stop, by the rows as they are now; None where it does not.

    A row that is gone stops nothing: what was begun under it is finished under it.
    """
    flags = Stops.of(rows.rows(Flag), now)
    pipeline = rows.get(Pipeline, near.stage.pipeline_id)
    stage = rows.get(Stage, *near.stage.key)
    return flags.by_enabled(pipeline, stage) or flags.by_flag(near)
