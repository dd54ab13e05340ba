"""Export pipelines with every row they depend on, ready to apply to an empty catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge, RecoveryPath
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.profiles import PipelineProfile, Profile, ProfileSetting
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.schema import DECLARED
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.catalog.throttles import Throttle
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.schedules import BadSchedule, parse
from goldsmith.registry import UnknownName


def with_needed(catalog_index: CatalogIndex, pipelines: Iterable[str]) -> CatalogRows:
    """The rows of these pipelines and of their upstream pipelines, and every row those name."""
    rows = catalog_index.rows
    known = [pipeline for (pipeline,) in rows.table(Pipeline)]
    for name in pipelines:
        if name not in known:
            raise UnknownName(noun="pipeline", name=name, known=tuple(known))
    chosen = _upstream(catalog_index, pipelines)
    needed = _Needed(catalog_index, chosen)
    tables = {
        kind.table.name: {key: row for key, row in rows.table(kind).items() if needed.has(row)}
        for kind in DECLARED
    }
    return CatalogRows(rows.revision, tables)


def _upstream(catalog_index: CatalogIndex, pipelines: Iterable[str]) -> set[str]:
    """These pipelines, those that write their inputs, and those they are scheduled after."""
    rows, found, waiting = catalog_index.rows, set[str](), list(pipelines)
    while waiting:
        name = waiting.pop()
        row = rows.table(Pipeline).get((name,))
        if name in found or row is None:
            continue
        found.add(name)
        waiting += [*filter(None, [_runs_after(row)])]
        for stage in rows.stages_of.get(name, ()):
            for dataset in catalog_index.stages[stage_id(stage)].inputs:
                waiting += [writer.pipeline_id for writer in dataset.writers]
    return found


def _runs_after(pipeline: Pipeline) -> str | None:
    if pipeline.schedule is None:
        return None
    try:
        return parse(pipeline.schedule).after
    except BadSchedule:
        return None


class _Needed:
    """The ids of all rows that some pipelines depend on."""

    def __init__(self, catalog_index: CatalogIndex, pipelines: set[str]) -> None:
        rows = catalog_index.rows
        stages = [stage for name in pipelines for stage in rows.stages_of.get(name, ())]
        around = [catalog_index.stages[stage_id(stage)] for stage in stages]
        self.pipelines = pipelines
        self.stages = {context.stage_id for context in around}
        self.rule_sets = {
            rules
            for stage in stages
            for rules in (stage.validation_set_id, stage.pre_validation_set_id)
        }
        self.datasets = {
            dataset.dataset_id
            for context in around
            for dataset in (*context.inputs, *filter(None, [context.target]))
        }
        # A check may compare with another dataset, named by its id in the check's settings.
        for (name,), rules in rows.table(RuleSet).items():
            if name in self.rule_sets:
                self.datasets |= rows.dataset_ids & set(_texts(rules.check_def))
        self.retries = {context.retry_id for context in around}
        self.retries |= {
            row.default_retry_id
            for (name,), row in rows.table(Pipeline).items()
            if name in pipelines
        }
        self.profiles = {
            row.profile_id
            for (name,), row in rows.table(PipelineProfile).items()
            if name in pipelines
        }

    def has(self, row: Row) -> bool:
        match row:
            case Pipeline() | Stage() | PipelineProfile():
                return row.pipeline_id in self.pipelines
            case Source():
                return row.source_id in self.datasets
            case Target():
                return row.target_id in self.datasets
            case RuleSet():
                return row.rule_set_id in self.rule_sets
            case RetryPolicy():
                return row.retry_id in self.retries
            case Profile() | ProfileSetting():
                return row.profile_id in self.profiles
            case Throttle():
                return row.entity_id in self.datasets
            case Edge():
                return {row.from_dataset_id, row.to_dataset_id} <= self.datasets
            case RecoveryPath():
                named = {name.strip() for name in (row.path_sequence or "").split(",")}
                return row.dataset_id in self.datasets and named <= self.datasets
            case Flag():
                return row.entity_id in self._named(row.entity_type)
        return False

    def _named(self, kind: str) -> set[str]:
        return {
            "pipeline": self.pipelines,
            "stage": self.stages,
            "source": self.datasets,
            "target": self.datasets,
        }.get(kind, set())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
