"""A plan as text and as JSON: every default used, and why each stage will or will not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from goldsmith.checks.aliases.translate import find
from goldsmith.checks.check import CHECKS, Cost
from goldsmith.planning.integrity.finding import Gravity
from goldsmith.planning.neighbourhood import Dataset, Neighbourhood
from goldsmith.planning.plan import Fate, News, Plan, PlannedStage
from goldsmith.planning.query import as_spark
from goldsmith.planning.words import defaults_of, is_lake, lake_name

if TYPE_CHECKING:
    from goldsmith.journal.runs import Expected

#: What an address of the catalog is in this environment.
Address = Callable[[str], str]


def as_plain(plan: Plan, address: Address) -> dict[str, Any]:
    """A plan as JSON says it."""
    return {
        "revision": plan.revision,
        "environment": plan.environment,
        "made_at": plan.made_at.isoformat(),
        "selection": list(plan.selection),
        "stages": [_stage(stage, address) for stage in plan.stages],
        "findings": [finding.as_plain() for finding in plan.findings],
    }


def _stage(planned: PlannedStage, address: Address) -> dict[str, Any]:
    near = planned.near
    words = near.words
    return {
        "stage_id": near.stage_id,
        "pipeline_id": near.stage.pipeline_id,
        "stage_order": near.stage.stage_order,
        "stage_name": near.stage.stage_name,
        "fate": planned.fate.value,
        "because": planned.because,
        "after": list(planned.after),
        "layer": words.layer,
        "inputs": _inputs(planned, address),
        "target": _target(near, address),
        "sql": words.sql,
        "sql_as_run": _sql_as_run(near),
        "write_mode": words.write_mode,
        "keys": list(near.stage.keys),
        "partition_by": list(near.stage.partition_by),
        "watermark_column": near.stage.watermark_column,
        "schema_policy": dict(words.schema_policy),
        "checks": list(checks_of(near)),
        "retry": _retry(near),
        "timeout_sec": near.stage.timeout_sec,
        "defaults": {
            name: {"value": value, "because": why}
            for name, (value, why) in defaults_of(near.stage, words).items()
        },
        "expected": _expected(planned.expected),
    }


def _inputs(planned: PlannedStage, address: Address) -> list[dict[str, Any]]:
    if planned.news:
        return [_news(item) for item in planned.news]
    near = planned.near
    return [
        {
            "dataset_id": dataset.dataset_id,
            "read": read_of(near, place),
            "location": dataset.location,
            "address": _address(dataset.location, address),
        }
        for place, dataset in enumerate(near.inputs)
    ]


def _news(item: News) -> dict[str, Any]:
    return {
        "dataset_id": item.dataset_id,
        "kind": item.kind,
        "read": item.read,
        "location": item.location,
        "address": item.address,
        "files": item.files,
        "bytes": item.bytes,
        "since": item.since,
        "until": item.until,
        "empty": item.empty,
        "says": item.sentence,
    }


def read_of(near: Neighbourhood, place: int) -> str:
    """`new` rows of the dataset the row names, `all` of the look-ups its SQL joins."""
    return near.words.read if place == 0 else "all"


def _target(near: Neighbourhood, address: Address) -> dict[str, Any] | None:
    if near.target is None or near.target.target is None:
        return None
    target = near.target.target
    said: dict[str, Any] = {
        "dataset_id": target.target_id,
        "type": target.type,
        "location": target.location,
        "address": _address(target.location, address),
    }
    if is_lake(target):
        said["table"] = lake_name(target.target_id, near.words.layer)
    return said


def _address(location: str | None, address: Address) -> str | None:
    if location is None or not location.startswith("s3://"):
        return location
    return address(location)


def _sql_as_run(near: Neighbourhood) -> str | None:
    if near.words.sql is None or near.facts is None or near.facts.error is not None:
        return None
    return as_spark(near.words.sql, near.words.dialect)


def _retry(near: Neighbourhood) -> dict[str, Any] | None:
    if near.retry is None:
        return None
    return {"retry_id": near.retry.retry_id, "max_retries": near.retry.max_retries}


def _expected(expected: Expected | None) -> dict[str, Any] | None:
    if expected is None:
        return None
    return {
        "rows": expected.rows,
        "bytes": expected.bytes,
        "seconds": expected.seconds,
        "from_runs": expected.from_runs,
    }


def checks_of(near: Neighbourhood) -> Iterator[Mapping[str, Any]]:
    """The checks of a stage, before and after shaping, with their defaults."""
    for when, rules in (("before", near.pre_rules), ("after", near.rules)):
        if rules is None:
            continue
        for check in rules.check_def:
            yield {
                "when": when,
                "rule_set_id": rules.rule_set_id,
                "severity": rules.severity,
                "on_fail": "fail",
                "cost": Cost.PASS if check.get("per") else cost_of(str(check.get("type"))),
                **check,
            }


@cache
def cost_of(check: str) -> str | None:
    """What it takes to measure a check, by its name here or in another tool."""
    alias = find(check)
    name = check if alias is None else alias.to
    return CHECKS.get(name).cost.value if name in CHECKS else None


def as_lines(plan: Plan, *, verbose: bool, most: int) -> Iterator[str]:
    """A plan in words."""
    for finding in plan.findings:
        if finding.gravity is Gravity.WARNING:
            yield f"warning: {finding.sentence} [{finding.code}]"
    for planned in plan.stages[:most]:
        yield from _lines(planned, verbose=verbose)
    if len(plan.stages) > most:
        yield f"… and {len(plan.stages) - most:,} more stages; select some, or use --json."
    counts = {fate: len(plan.of(fate)) for fate in Fate}
    said = ", ".join(_said(number, *_FATES[fate]) for fate, number in counts.items() if number)
    pipelines = len({planned.near.stage.pipeline_id for planned in plan.stages})
    yield (
        f"{_said(len(plan.stages), 'stage', 'stages')} of "
        f"{_said(pipelines, 'pipeline', 'pipelines')}: {said or 'nothing to do'}. "
        f"Environment {plan.environment}, catalog revision {plan.revision}."
    )


def _said(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"


_FATES = {
    Fate.RUN: ("will run", "will run"),
    Fate.READY: ("may run", "may run"),
    Fate.SKIP: ("has nothing new", "have nothing new"),
    Fate.STOPPED: ("is stopped", "are stopped"),
    Fate.BLOCKED: ("is blocked", "are blocked"),
}
_MARKS = {
    Fate.RUN: "▶",
    Fate.READY: "?",
    Fate.SKIP: "·",
    Fate.STOPPED: "■",
    Fate.BLOCKED: "▪",
}


def _lines(planned: PlannedStage, *, verbose: bool) -> Iterator[str]:
    near, words = planned.near, planned.near.words
    inputs = " + ".join(dataset.dataset_id for dataset in near.inputs) or "nothing"
    name = f" {near.stage.stage_name}" if near.stage.stage_name else ""
    yield (
        f"{_MARKS[planned.fate]} {near.stage_id}{name} ({words.layer}, {words.write_mode}): "
        f"{inputs} → {near.stage.target_id}"
    )
    yield f"    {planned.fate}: {planned.because}"
    if not verbose:
        return
    for item in planned.news:
        yield f"    reads {item.read} of {item.dataset_id} ({item.kind}) at {item.address}"
    for line in (_sql_as_run(near) or "all columns, unchanged").splitlines():
        yield f"    | {line}"
    for check in checks_of(near):
        settings = {k: v for k, v in check.items() if k not in ("when", "rule_set_id", "type")}
        said = ", ".join(f"{key}: {value}" for key, value in settings.items())
        yield f"    checks {check.get('type')} {check['when']} shaping ({said})"
    for key, (value, why) in defaults_of(near.stage, words).items():
        yield f"    default {key}: {value}, because {why}"
    if planned.expected is not None and planned.expected.from_runs:
        yield f"    expects {_in_words(planned.expected)}"


def _in_words(expected: Expected) -> str:
    parts = [
        f"{expected.rows:,.0f} rows" if expected.rows is not None else "",
        f"{expected.bytes / 1e6:,.1f} MB" if expected.bytes is not None else "",
        f"{expected.seconds:,.1f} s" if expected.seconds is not None else "",
    ]
    said = ", ".join(part for part in parts if part)
    return f"{said or 'nothing known'} (median of {expected.from_runs} runs)"


def dataset_kind(dataset: Dataset) -> str:
    """How a dataset is read: its `files`, its lake `table`, or a `warehouse` table."""
    if dataset.source is not None and not dataset.writers:
        return "files"
    return "table" if is_lake(dataset.target) else "warehouse"
