"""Catalog rows from a digest: sources, targets, stages, edges and column lineage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from goldsmith.catalog.conventions import Convention
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import ColumnLineage, Edge
from goldsmith.catalog.pipelines import Pipeline, Stage
from goldsmith.catalog.rows import Row
from goldsmith.catalog.rules import RuleSet
from goldsmith.digest.describe import expression_text
from goldsmith.digest.medallion import LAYERS, LayerGuess, layers_of
from goldsmith.digest.names import is_location
from goldsmith.digest.suggested_rules import rules_of
from goldsmith.digest.values import Digest, StatementDigest
from goldsmith.errors import GoldsmithError

_FORMATS = {
    "jsonl": "jsonl",
    "json": "json",
    "csv": "csv",
    "tsv": "tsv",
    "txt": "text",
    "parquet": "parquet",
    "orc": "orc",
    "avro": "avro",
}
#: Dialects whose SQL Spark runs as it is.
_SPARK = ("", "ansi", "spark", "databricks", "sparksql")
#: The write mode a stage has by its layer when its row sets none.
_DEFAULT_MODES = {"bronze": "append", "silver": "append", "gold": "overwrite"}


@dataclass(eq=False, kw_only=True)
class NoConvention(GoldsmithError):
    """A dataset's layer has no row of conventions, so its location is not known."""

    exit_code = 2

    layer: str
    dataset: str

    def __str__(self) -> str:
        return f"Nothing says where {self.layer} datasets are stored, and '{self.dataset}' is one."

    @property
    def hint(self) -> str:
        return (
            "Apply a row first, for example: digest_conventions: "
            f"[{{layer: {self.layer}, location: 's3://BUCKET/{self.layer}/{{name}}/', type: s3}}]"
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CatalogView:
    """The rows of the catalog that decide what is added."""

    sources: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    pipelines: frozenset[str] = frozenset()
    stages: tuple[Stage, ...] = ()
    edges: tuple[Edge, ...] = ()
    rule_sets: frozenset[str] = frozenset()
    conventions: Mapping[str, Convention] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        return (*sorted(self.sources), *sorted(self.targets))


def rows_of(digest: Digest, view: CatalogView, pipeline: str, dialect: str) -> list[Row]:
    """The rows a digest adds; what the catalog has already stays as it is."""
    layers = layers_of(digest)
    ids = {name: _dataset_id(name) for name in digest.datasets()}
    rows: list[Row] = []
    if pipeline not in view.pipelines:
        rows.append(Pipeline(pipeline_id=pipeline))
    written = dict.fromkeys(down for _, down in digest.edges)
    for name in digest.datasets():
        guess, dataset = layers[name], ids[name]
        if name in written or any(name in s.downstream for s in digest.statements if s.write):
            if dataset not in view.targets:
                rows.append(_target(dataset, guess, view))
        elif dataset not in view.sources and dataset not in view.targets:
            rows.append(_source(name, dataset, guess, view))
    rows += _stages(digest, layers, ids, view, pipeline, dialect)
    rows += _edges(digest, layers, ids, view)
    return rows


def _dataset_id(name: str) -> str:
    """The id of a dataset; a location is known by its layer's folder and its own."""
    if not is_location(name):
        return name
    parts = [part for part in re.split(r"[/\\]+", name.partition("://")[2] or name) if part]
    folders = [part for part in parts if "*" not in part and "." not in part and "=" not in part]
    last = folders[-1] if folders else parts[-1]
    return re.sub(r"\W+", "_", f"raw_{last}" if not last.startswith("raw") else last).lower()


def _convention(guess: LayerGuess, dataset: str, view: CatalogView) -> Convention:
    found = view.conventions.get(guess.layer)
    if found is None or not found.location:
        raise NoConvention(layer=guess.layer, dataset=dataset)
    return found


def _filled(pattern: str | None, dataset: str, layer: str) -> str | None:
    if pattern is None:
        return None
    name = dataset.rpartition(".")[2]
    for prefix in LAYERS:
        name = name.removeprefix(f"{prefix}_")
    return pattern.format(dataset=dataset, name=name, layer=layer)


def _source(name: str, dataset: str, guess: LayerGuess, view: CatalogView) -> Source:
    if is_location(name):
        folder = name if name.endswith("/") else name.rpartition("/")[0] + "/"
        suffix = PurePosixPath(name.removesuffix(".gz")).suffix.lstrip(".").lower()
        return Source(source_id=dataset, s3_path=folder, file_format=_FORMATS.get(suffix))
    convention = _convention(guess, dataset, view)
    return Source(
        source_id=dataset,
        s3_path=_filled(convention.location, dataset, guess.layer),
        file_format=convention.file_format,
        schema_arn=_filled(convention.schema_arn, dataset, guess.layer),
    )


def _target(dataset: str, guess: LayerGuess, view: CatalogView) -> Target:
    convention = _convention(guess, dataset, view)
    return Target(
        target_id=dataset,
        location=_filled(convention.location, dataset, guess.layer),
        type=convention.type,
    )


def _stages(
    digest: Digest,
    layers: Mapping[str, LayerGuess],
    ids: Mapping[str, str],
    view: CatalogView,
    pipeline: str,
    dialect: str,
) -> list[Row]:
    there = {stage.target_id for stage in view.stages if stage.pipeline_id == pipeline}
    taken = {stage.stage_order for stage in view.stages if stage.pipeline_id == pipeline}
    rows: list[Row] = []
    for statement in digest.statements:
        for name in statement.downstream:
            target = ids.get(name)
            if target is None or target in there or not statement.upstream or statement.temporary:
                continue
            if statement.structure_only or not statement.write:
                continue
            there.add(target)
            row = _stage(statement, name, layers[name], ids, view, pipeline, dialect, taken)
            rules = _rule_set(statement, name, target) if row.validation_set_id is None else None
            if rules is not None and rules.rule_set_id not in view.rule_sets:
                rows.append(rules)
            if rules is not None:
                row = replace(row, validation_set_id=rules.rule_set_id)
            taken.add(row.stage_order)
            rows.append(row)
    return rows


def _stage(
    statement: StatementDigest,
    name: str,
    guess: LayerGuess,
    ids: Mapping[str, str],
    view: CatalogView,
    pipeline: str,
    dialect: str,
    taken: set[int],
) -> Stage:
    target = ids[name]
    convention = _convention(guess, target, view)
    order = convention.stage_order or guess.order or 1
    while order in taken:
        order += 1
    inputs = [ids[up] for up in statement.upstream if up in ids and up != name]
    keys = _keys(statement, name)
    sql = sql_of(statement)
    more: dict[str, Any] = {}
    if len(inputs) > 1 and sql:
        more["transform_sql"] = sql
    if sql and dialect.lower() not in _SPARK:
        more["transform_dialect"] = dialect
    mode = {
        "append": "append",
        "overwrite": "overwrite",
        "view": "overwrite",
        "merge": "merge",
    }.get(statement.write or "")
    if mode == "merge" and not keys:
        mode = None
    if (
        mode
        and mode != _DEFAULT_MODES.get(guess.layer)
        and not (mode == "merge" and guess.layer == "silver")
    ):
        more["write_mode"] = mode
    if keys and mode == "merge":
        more["keys"] = tuple(keys)
    return Stage(
        pipeline_id=pipeline,
        stage_order=order,
        stage_name=_filled(convention.stage_name, target, guess.layer),
        source_id=inputs[0] if inputs else None,
        target_id=target,
        validation_set_id=convention.rule_set_id,
        **more,
    )


def _rule_set(statement: StatementDigest, name: str, target: str) -> RuleSet | None:
    """The checks that the SQL implies, where no convention names a rule set.

    They warn: what a query implies of one load need not hold for rows loaded before.
    """
    checks = [dict(rule.check) for rule in rules_of(statement) if rule.dataset == name]
    if not checks:
        return None
    return RuleSet(
        rule_set_id=f"{target}_from_sql",
        description=f"What the SQL of {target} implies",
        check_def=tuple(checks),
        severity="warning",
    )


def _keys(statement: StatementDigest, name: str) -> list[str]:
    for rule in statement.rules:
        if rule.dataset == name and rule.check.get("type") == "unique":
            return list(rule.check["columns"])
    return []


def sql_of(statement: StatementDigest) -> str | None:
    """The SQL a stage can run: a statement with a query, without elided text."""
    if "..." in statement.sql or statement.verb in (
        "COPY",
        "LOAD",
        "MERGE",
        "UPDATE",
        "DELETE",
        "UNLOAD",
    ):
        return None
    return statement.sql.strip() if statement.columns else None


def _edges(
    digest: Digest, layers: Mapping[str, LayerGuess], ids: Mapping[str, str], view: CatalogView
) -> list[Row]:
    rows: dict[tuple[Any, ...], Row] = {}
    there = {edge.key: edge for edge in view.edges}
    for statement in digest.statements:
        for up, down in statement.edges:
            if up == down or up not in ids or down not in ids or statement.temporary:
                continue
            convention = _convention(layers[down], ids[down], view)
            edge = Edge(
                from_dataset_id=ids[up],
                to_dataset_id=ids[down],
                transform_name=_filled(convention.transform_name, ids[down], layers[down].layer),
                transformation_sql=sql_of(statement),
            )
            before = there.get(edge.key)
            if before is not None:
                # Names people gave stay; the SQL is the newest.
                sql = edge.transformation_sql or before.transformation_sql
                edge = replace(before, transformation_sql=sql)
            rows.setdefault((Edge, *edge.key), edge)
    for column in digest.columns:
        if column.table is None or column.table not in ids:
            continue
        for root, kind in column.sources.items():
            if root.table in ids and root.table != column.table:
                lineage = ColumnLineage(
                    from_dataset_id=ids[root.table],
                    from_column=root.column,
                    to_dataset_id=ids[column.table],
                    to_column=column.column,
                    kind=kind.text,
                    expression=expression_text(column),
                )
                rows.setdefault((ColumnLineage, *lineage.key), lineage)
    return list(rows.values())
