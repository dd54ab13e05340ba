"""Adjusting: what one attempt at a stage does otherwise, because an earlier one failed.

The rows stay as they are. What healing decided stands in the request, and is laid over the
stage here: over the rows it is planned from, its session, its inputs, its target.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from goldsmith.catalog.rules import RuleSet
from goldsmith.engine.adjust import Adjust
from goldsmith.engine.destinations.destination import Destination
from goldsmith.engine.destinations.lake import LakeDestination
from goldsmith.engine.destinations.warehouse import WarehouseDestination
from goldsmith.engine.inputs import Chosen
from goldsmith.engine.transforms.latest_per_key import latest_per_key
from goldsmith.engine.work import Tools, Work
from goldsmith.journal import events
from goldsmith.planning.words import policy_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from goldsmith.planning.neighbourhood import Dataset, Neighbourhood


def near(near: Neighbourhood, adjust: Adjust) -> Neighbourhood:
    """The rows around a stage as this attempt sees them."""
    if adjust == Adjust():
        return near
    from copy import copy

    seen = copy(near)
    if adjust.schema_policy is not None:
        seen.words = near.words._replace(schema_policy=policy_of(adjust.schema_policy))
    if adjust.quarantine:
        seen.rules = None if near.rules is None else _keeping_aside(near.rules)
        seen.inputs = tuple(_permissive(dataset) for dataset in near.inputs)
    return seen


def _keeping_aside(rules: RuleSet) -> RuleSet:
    """The same checks; rows that break one are kept aside where they stopped the stage."""
    checks = tuple(
        {**said, "on_fail": "quarantine"}
        if isinstance(said, Mapping) and said.get("on_fail", "fail") == "fail"
        else said
        for said in rules.check_def
    )
    return rules.with_(check_def=checks)


def _permissive(dataset: Dataset) -> Dataset:
    """The same files; a record that cannot be parsed is kept aside."""
    source = dataset.source
    if source is None or str(source.options.get("mode", "")).upper() != "FAILFAST":
        return dataset
    options = {name: value for name, value in source.options.items() if name != "mode"}
    return dataset._replace(source=source.with_(options=options))


def fewer(chosen: Chosen, work: Work) -> Chosen:
    """The part of what was chosen that this attempt reads."""
    most = work.adjust.files_at_once
    if most is None or work.asked.full_refresh or work.near.words.read != "new":
        return chosen
    files = {
        dataset: sorted(seen, key=lambda file: (file.modified_at, file.path))[:most]
        for dataset, seen in chosen.consumed.files.items()
    }
    kept = {file.path for seen in files.values() for file in seen}
    return replace(
        chosen,
        consumed=replace(chosen.consumed, files=files),
        rewritten=tuple(path for path in chosen.rewritten if path in kept),
    )


def prepare(spark: SparkSession, destination: Destination, work: Work, tools: Tools) -> None:
    """Make the session and the target ready, with the target's lease held."""
    adjust = work.adjust
    for name, value in adjust.spark.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
    if isinstance(destination, WarehouseDestination):
        destination.lock = adjust.lock
    elif (
        isinstance(destination, LakeDestination)
        and (adjust.rebuild or adjust.roll_back)
        and destination.table.exists()
    ):
        if adjust.rebuild:
            for branch in destination.table.branches():
                destination.table.drop_branch(branch)
        if adjust.roll_back:
            _roll_back(destination, work, tools)


def _roll_back(destination: LakeDestination, work: Work, tools: Tools) -> None:
    before, good = destination.table.roll_back_to_ours()
    if before == good:
        return
    restored = events.DatasetRestored(
        run_id=work.run_id,
        pipeline_id=work.near.stage.pipeline_id,
        dataset_id=str(work.near.stage.target_id),
        to_snapshot=str(good),
        from_snapshot=before,
        because="the newest state was not published by Goldsmith, and is broken",
    )
    tools.journal.record(restored)


def rows(shaped: DataFrame, work: Work) -> DataFrame:
    """The rows this attempt writes."""
    keys = work.adjust.deduplicate
    if not keys:
        return shaped
    return latest_per_key(shaped, keys=list(keys), newest_by=work.near.stage.watermark_column)
