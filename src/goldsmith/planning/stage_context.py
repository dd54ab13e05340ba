"""The stage context: a stage and every catalog row it depends on.

The findings and the plan of a stage are functions of its context and of nothing else. So they are
cached while the context stays the same, and after a row changed only the stages that depend on
the row are computed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import NamedTuple

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows
from goldsmith.planning.query import QueryFacts
from goldsmith.planning.resolved_stage import resolve_stage, stage_id
from goldsmith.planning.sql import SqlReader


class Dataset(NamedTuple):
    """One dataset id with its rows in `sources` and `targets`."""

    dataset_id: str
    source: Source | None
    target: Target | None
    #: The stages that write it.
    writers: tuple[Stage, ...]

    @property
    def exists(self) -> bool:
        return self.source is not None or self.target is not None

    @property
    def location(self) -> str | None:
        """Where the data lives: the target's table if a stage writes it, else the source's path."""
        if self.writers and self.target is not None:
            return self.target.location
        if self.source is not None and self.source.s3_path is not None:
            return self.source.s3_path
        return self.target.location if self.target is not None else None


class Datasets(dict[str, Dataset]):
    """The datasets of one catalog snapshot, each built on first access."""

    def __init__(self, rows: CatalogRows) -> None:
        self._sources, self._targets = rows.table(Source), rows.table(Target)
        self._writers = rows.writers_of

    def __missing__(self, dataset_id: str) -> Dataset:
        key = (dataset_id,)
        writers = self._writers.get(dataset_id, ())
        found = Dataset(dataset_id, self._sources.get(key), self._targets.get(key), writers)
        self[dataset_id] = found
        return found


class StageContext:
    """A stage and every row it depends on."""

    __slots__ = (
        *("stage", "stage_id", "rows", "pipeline", "edge", "resolved", "facts", "target", "inputs"),
        *("rules", "pre_rules", "retry_id", "retry", "route", "own"),
    )

    def __init__(
        self, stage: Stage, rows: CatalogRows, reader: SqlReader, datasets: Datasets
    ) -> None:
        self.stage = stage
        self.stage_id = stage_id(stage)
        #: For hints only: a cached finding may outlive these rows.
        self.rows = rows
        #: The datasets of the way it takes in place of its own source; None: its own source.
        self.route: tuple[str, ...] | None = None
        #: On another way: the stage as its row declares it.
        self.own: StageContext | None = None
        target_id = stage.target_id
        rules = rows.table(RuleSet)
        self.pipeline = pipeline = rows.table(Pipeline).get((stage.pipeline_id,))
        self.edge = edge = rows.table(Edge).get((stage.source_id, target_id))
        self.resolved = resolved = resolve_stage(stage, edge)
        self.facts: QueryFacts | None = (
            None if resolved.sql is None else reader.facts(resolved.sql, resolved.dialect)
        )
        self.target = None if target_id is None else datasets[target_id]
        self.inputs = tuple([datasets[name] for name in self._input_ids()])
        rule_set, rule_set_before = stage.validation_set_id, stage.pre_validation_set_id
        self.rules = None if rule_set is None else rules.get((rule_set,))
        self.pre_rules = None if rule_set_before is None else rules.get((rule_set_before,))
        retry_id = stage.retry_id or (pipeline and pipeline.default_retry_id)
        self.retry_id: str | None = retry_id or None
        self.retry = rows.table(RetryPolicy).get((retry_id,)) if retry_id else None

    def with_route(
        self, datasets: tuple[str, ...], declared: StageContext | None = None
    ) -> StageContext:
        """The same context, on a route over these datasets."""
        routed = copy(self)
        routed.route = datasets
        routed.own = declared or self.own
        return routed

    @property
    def declared(self) -> StageContext:
        """The stage as its row declares it, without another way."""
        return self.own or self

    def _input_ids(self) -> tuple[str, ...]:
        """The dataset of `source_id`, then the datasets the SQL reads."""
        declared = () if self.stage.source_id is None else (self.stage.source_id,)
        reads = self.facts.reads if self.facts is not None else ()
        return (
            declared
            if not reads or reads == declared
            else tuple(dict.fromkeys((*declared, *reads)))
        )

    @property
    def source(self) -> Dataset | None:
        """The dataset of `source_id`."""
        return self.inputs[0] if self.stage.source_id is not None else None

    def depends_on(self) -> Iterator[tuple[str, object]]:
        """Every row in the context, missing rows included, as (table or "dataset", key)."""
        stage = self.stage
        yield "pipelines", stage.pipeline_id
        yield "dataset_lineage", (stage.source_id, stage.target_id)
        for rules in (stage.validation_set_id, stage.pre_validation_set_id):
            if rules is not None:
                yield "validation_rules", rules
        if self.retry_id is not None:
            yield "retry_policies", self.retry_id
        if stage.target_id is not None:
            yield "dataset", stage.target_id
        for dataset in self.inputs:
            yield "dataset", dataset.dataset_id


def dataset_of(dataset_id: str, rows: CatalogRows) -> Dataset:
    """A dataset with its rows and the stages that write it."""
    return Datasets(rows)[dataset_id]
