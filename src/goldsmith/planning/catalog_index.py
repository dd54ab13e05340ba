"""An index of the catalog: every stage with its context, the order of stages, and the findings.

After some rows changed, the next index is built from the last one: only the stages that depend on
those rows are computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.flags import Flag
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.retries import RetryPolicy
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.catalog.snapshot import CatalogRows, Key, without_collector
from goldsmith.planning.integrity import check
from goldsmith.planning.integrity.finding import Finding, FindingSeverity
from goldsmith.planning.resolved_stage import stage_id
from goldsmith.planning.sql import SqlReader
from goldsmith.planning.stage_context import Datasets, StageContext


class CatalogIndex:
    """The index of one catalog snapshot."""

    def __init__(
        self, rows: CatalogRows, reader: SqlReader, *, before: CatalogIndex | None = None
    ) -> None:
        self.rows = rows
        self.reader = reader
        self._stage_findings: dict[str, list[Finding]]
        self._catalog_findings: dict[str, list[Finding]]
        self._datasets = Datasets(rows)
        with without_collector(first=before is None):
            if before is None:
                self._look_at_everything()
            else:
                self._look_again(before)

    def after(self, rows: CatalogRows) -> CatalogIndex:
        """The index of a later snapshot."""
        if rows is self.rows:
            return self
        return CatalogIndex(rows, self.reader.knowing(rows.dataset_ids), before=self)

    def _look_at_everything(self) -> None:
        self.stages: dict[str, StageContext] = {}
        self._stage_findings = {}
        self._catalog_findings = {}
        by_pipeline = self.rows.stages_of
        self._look_at(stage for pipeline in sorted(by_pipeline) for stage in by_pipeline[pipeline])
        for rule in check.rules().catalog:
            self._catalog_findings[rule.code] = rule.findings(self.rows)

    def _look_at(self, stages: Iterable[Stage]) -> None:
        rows, reader, datasets = self.rows, self.reader, self._datasets
        contexts = [StageContext(stage, rows, reader, datasets) for stage in stages]
        self.stages.update((context.stage_id, context) for context in contexts)
        self._stage_findings.update(check.stage_findings(contexts))

    def _look_again(self, before: CatalogIndex) -> None:
        self.stages = dict(before.stages)
        self._stage_findings = dict(before._stage_findings)
        self._catalog_findings = dict(before._catalog_findings)
        changed = list(self.rows.changed_since(before.rows))
        kinds = {kind for kind, _key in changed}
        # A flag stops a stage but does not change its context.
        changed = [(kind, key) for kind, key in changed if kind is not Flag]
        around = set(before.stages_around(changed)) | set(self._new_readers(changed, before))
        around |= {f"{key[0]}-{key[1]}" for kind, key in changed if kind is Stage}
        by_id = {f"{key[0]}-{key[1]}": key for kind, key in changed if kind is Stage}
        still = []
        for name in around:
            self._stage_findings.pop(name, None)
            key = before.stages[name].stage.key if name in before.stages else by_id[name]
            stage = self.rows.get(Stage, *key)
            if stage is None:
                self.stages.pop(name, None)
            else:
                still.append(stage)
        self._look_at(still)
        for rule in check.rules().catalog:
            if kinds.intersection(rule.reads or ()):
                self._catalog_findings[rule.code] = rule.findings(self.rows)
        self._keep_shape(before, around)

    def _keep_shape(self, before: CatalogIndex, around: set[str]) -> None:
        """Reuse the dependencies and the order of the last index, if no edge changed."""
        self._dependents = _repointed(before, self, around)
        if all(_same_shape(before.stages.get(name), self.stages.get(name)) for name in around):
            for name in ("upstream", "order", "_graph_findings"):
                if name in before.__dict__:
                    self.__dict__[name] = before.__dict__[name]

    def _new_readers(
        self, changed: Iterable[tuple[type[Row], Key]], before: CatalogIndex
    ) -> Iterator[str]:
        """The stages whose inputs get other writers because a stage changed."""
        datasets = {
            stage.target_id
            for kind, key in changed
            if kind is Stage
            for stage in (self.rows.get(Stage, *key), before.rows.get(Stage, *key))
            if stage is not None and stage.target_id is not None
        }
        for dataset in datasets:
            yield from before.dependents.get(("dataset", dataset), ())

    def stages_around(self, changed: Iterable[tuple[type[Row], Key]]) -> Iterator[str]:
        """The stages that depend on the changed rows."""
        for kind, key in changed:
            if kind is Stage:
                yield f"{key[0]}-{key[1]}"
            elif kind in (Source, Target):
                yield from self.dependents.get(("dataset", key[0]), ())
            elif kind is Edge:
                yield from self.dependents.get(("dataset_lineage", key), ())
            elif kind in (Pipeline, RuleSet, RetryPolicy):
                yield from self.dependents.get((kind.table.name, key[0]), ())
            elif kind is Flag:
                yield from self._flagged(key)

    def _flagged(self, key: Key) -> Iterable[str]:
        """The stages a flag concerns."""
        scope, entity, _name = key
        match scope:
            case "everything":
                return self.stages
            case "pipeline":
                return self.dependents.get(("pipelines", entity), ())
            case "stage":
                return (entity,)
            case _:
                return self.dependents.get(("dataset", entity), ())

    _dependents: dict[tuple[str, object], list[str]] | None = None

    @property
    def dependents(self) -> Mapping[tuple[str, object], list[str]]:
        """The stages that depend on each row."""
        if self._dependents is None:
            grouped: dict[tuple[str, object], list[str]] = {}
            for name, context in self.stages.items():
                for row in context.depends_on():
                    grouped.setdefault(row, []).append(name)
            self._dependents = grouped
        return self._dependents

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, errors first."""
        found = [f for findings in self._stage_findings.values() for f in findings]
        found += [f for findings in self._catalog_findings.values() for f in findings]
        found += self._graph_findings
        return tuple(sorted(found, key=lambda f: (f.gravity, f.table, f.key, f.code)))

    @cached_property
    def _graph_findings(self) -> list[Finding]:
        """The findings about the graph of stages; they depend on nothing else."""
        return check.graph_findings(self.rows, self.stages)

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(
            finding for finding in self.findings if finding.gravity is FindingSeverity.ERROR
        )

    @cached_property
    def upstream(self) -> Mapping[str, tuple[str, ...]]:
        """The stages whose targets each stage reads."""
        found: dict[str, tuple[str, ...]] = {}
        for name, context in self.stages.items():
            befores: dict[str, None] = {}
            for dataset in context.inputs:
                for writer in dataset.writers:
                    if writer is not context.stage:
                        befores[stage_id(writer)] = None
            found[name] = tuple(befores)
        return found

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Every stage after the ones it reads from and after its pipeline's earlier stages."""
        upstream, placed, order = self.upstream, set[str](), list[str]()
        previous: dict[str, str] = {}
        firsts: list[str] = []
        for pipeline in sorted(self.rows.stages_of):
            names = [stage_id(stage) for stage in self.rows.stages_of[pipeline]]
            firsts += names
            previous.update(zip(names[1:], names, strict=False))
        for first in firsts:
            if first in placed:
                continue
            waiting = [(first, iter(self._before(first, previous, upstream)))]
            placed.add(first)
            while waiting:
                name, needs = waiting[-1]
                unplaced = next((need for need in needs if need not in placed), None)
                if unplaced is None:
                    order.append(name)
                    waiting.pop()
                else:
                    # Mark as placed when first seen, so that a cycle (a finding) does not loop.
                    placed.add(unplaced)
                    waiting.append((unplaced, iter(self._before(unplaced, previous, upstream))))
        return tuple(order)

    @staticmethod
    def _before(
        name: str, previous: Mapping[str, str], upstream: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        earlier = previous.get(name)
        needs = upstream.get(name, ())
        return needs if earlier is None else (earlier, *needs)


def _repointed(
    before: CatalogIndex, now: CatalogIndex, around: set[str]
) -> dict[tuple[str, object], list[str]]:
    """Update the dependents of each row for the stages in `around`."""
    dependents = dict(before.dependents)
    for name in around:
        if name in before.stages:
            for row in before.stages[name].depends_on():
                dependents[row] = [other for other in dependents.get(row, ()) if other != name]
        if name in now.stages:
            for row in now.stages[name].depends_on():
                dependents[row] = [*dependents.get(row, ()), name]
    return dependents


def _same_shape(before: StageContext | None, now: StageContext | None) -> bool:
    """The stage has the same inputs with as many writers, and the same target."""
    if before is None or now is None:
        return False
    return (
        before.stage.key == now.stage.key
        and before.stage.source_id == now.stage.source_id
        and before.stage.target_id == now.stage.target_id
        and [(d.dataset_id, len(d.writers)) for d in before.inputs]
        == [(d.dataset_id, len(d.writers)) for d in now.inputs]
    )
